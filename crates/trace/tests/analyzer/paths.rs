//! Packets of scripted Multipath TCP connections, as a capture of raw IP packets.

use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Join, Mapping, MptcpOption, Version};
use rexmit_wire::Flags;

use crate::script::{FIN_ACK, SYN_ACK};

/// Bytes of a full packet.
pub const FULL: u32 = 1_000;

/// One subflow: the client's address and port are its own.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub client: [u8; 4],
    pub port: u16,
    /// What the server has sent, from its initial number on.
    pub sent: u32,
    pub isn: u32,
    /// From the monitor to the server and back, and to the client and back, ms.
    pub ways: (i64, i64),
}

/// A connection with what its sides have come to.
#[derive(Clone, Debug)]
pub struct Paths {
    pub now: Time,
    pub client_key: u64,
    pub server_key: u64,
    pub version: Version,
    pub subflows: Vec<Subflow>,
    pub packets: Vec<(Time, Vec<u8>, u32)>,
    /// Data that the client has.
    pub data_ack: u64,
}

const SERVER: [u8; 4] = [10, 0, 0, 1];
const CLIENT_ISN: u32 = 7;

impl Paths {
    pub fn new(number: u64) -> Self {
        Paths {
            now: Time::ZERO + Duration::from_secs(1_000),
            client_key: 0x1111_0000 + number,
            server_key: 0x2222_0000 + number,
            version: Version::V1,
            subflows: Vec::new(),
            packets: Vec::new(),
            data_ack: 0,
        }
    }

    pub fn wait(&mut self, ms: i64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    /// A subflow of a client's port; its numbers cross the wrap.
    pub fn subflow(&mut self, port: u16) -> usize {
        let number = self.subflows.len() as u8;
        self.subflows.push(Subflow {
            client: [10, 0, 1 + number, 2],
            port,
            sent: 0,
            isn: u32::MAX - 1_500 - u32::from(number),
            ways: (0, 40),
        });
        self.subflows.len() - 1
    }

    /// A packet of a subflow as it stands on the wire.
    pub fn put(
        &mut self,
        subflow: usize,
        from_client: bool,
        (seq, ack): (u32, u32),
        flags: Flags,
        payload: u32,
        options: &[MptcpOption<'_>],
    ) -> &mut Self {
        let mut written = Vec::new();
        options.iter().for_each(|option| option.write(&mut written));
        if flags.syn() {
            // SACK, and windows scaled by 7.
            written.extend([4, 2, 3, 3, 7]);
        }
        while written.len() % 4 != 0 {
            written.push(1);
        }
        let one = &self.subflows[subflow];
        let (client, server) = ((one.client, one.port), (SERVER, 80));
        let (from, to) = if from_client {
            (client, server)
        } else {
            (server, client)
        };
        let header = 20 + written.len() as u32;
        let mut bytes = vec![0x45, 0];
        bytes.extend(((20 + header + payload) as u16).to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend(from.0);
        bytes.extend(to.0);
        bytes.extend(from.1.to_be_bytes());
        bytes.extend(to.1.to_be_bytes());
        bytes.extend(seq.to_be_bytes());
        bytes.extend(ack.to_be_bytes());
        bytes.extend([(header as u8 / 4) << 4, flags.0]);
        bytes.extend(60_000_u16.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(written);
        let length = bytes.len() as u32 + payload;
        self.packets.push((self.now, bytes, length));
        self
    }

    fn capable(&self, sender: Option<u64>, receiver: Option<u64>) -> MptcpOption<'static> {
        MptcpOption::Capable(Capable {
            version: u8::from(self.version == Version::V1),
            flags: 1,
            sender_key: sender,
            receiver_key: receiver,
            data_len: None,
            checksum: None,
        })
    }

    /// The three packets that open a subflow: the first with MP_CAPABLE, others with MP_JOIN.
    pub fn open(&mut self, port: u16) -> usize {
        let subflow = self.subflow(port);
        let (client, server) = (Some(self.client_key), Some(self.server_key));
        let first = if self.version == Version::V1 {
            None
        } else {
            client
        };
        let options = if subflow == 0 {
            [
                self.capable(first, None),
                self.capable(server, None),
                self.capable(client, server),
            ]
        } else {
            self.joins()
        };
        self.shake(subflow, &options);
        subflow
    }

    /// The options of a handshake that joins.
    pub fn joins(&self) -> [MptcpOption<'static>; 3] {
        let (backup, nonce) = (false, 99);
        let token = Identity::of(self.server_key, self.version).token;
        [
            MptcpOption::Join(Join::Syn {
                backup,
                address_id: 2,
                token,
                nonce,
            }),
            MptcpOption::Join(Join::SynAck {
                backup,
                address_id: 0,
                hmac: 5,
                nonce,
            }),
            MptcpOption::Join(Join::Ack { hmac: [6; 20] }),
        ]
    }

    pub fn shake(&mut self, subflow: usize, options: &[MptcpOption<'_>; 3]) {
        let Subflow { isn, ways, .. } = self.subflows[subflow];
        let after = (CLIENT_ISN + 1, isn.wrapping_add(1));
        self.put(subflow, true, (CLIENT_ISN, 0), Flags::SYN, 0, &options[..1])
            .wait(ways.0)
            .put(
                subflow,
                false,
                (isn, CLIENT_ISN + 1),
                SYN_ACK,
                0,
                &options[1..2],
            )
            .wait(ways.1)
            .put(subflow, true, after, Flags::ACK, 0, &options[2..]);
        self.subflows[subflow].sent = 1;
    }

    /// The DSS of `len` bytes of data at `place`, at `seq` of the subflow.
    pub fn mapping(&self, place: u64, seq: u32, len: u32) -> Dss {
        let first = Identity::of(self.server_key, self.version)
            .idsn
            .wrapping_add(1);
        Dss {
            fin: false,
            data_ack: None,
            mapping: Some(Mapping {
                data_seq: DataNumber::Full(first.wrapping_add(place)),
                subflow_seq: seq,
                len: len as u16,
                checksum: None,
            }),
        }
    }

    /// The server sends a full packet of data at `place`, next on a subflow. Its number on the subflow.
    pub fn send(&mut self, subflow: usize, place: u64) -> u32 {
        let seq = self.subflows[subflow].sent;
        self.subflows[subflow].sent += FULL;
        self.retransmission(subflow, seq, place);
        seq
    }

    /// A packet that is at `seq` of a subflow.
    pub fn retransmission(&mut self, subflow: usize, seq: u32, place: u64) -> &mut Self {
        let options = [MptcpOption::Dss(self.mapping(place, seq, FULL))];
        let on_wire = self.subflows[subflow].isn.wrapping_add(seq);
        let numbers = (on_wire, CLIENT_ISN + 1);
        self.put(subflow, false, numbers, Flags::ACK, FULL, &options)
    }

    /// The client acknowledges up to `seq` of a subflow, and data up to `self.data_ack`.
    pub fn ack(&mut self, subflow: usize, seq: u32) -> &mut Self {
        let first = Identity::of(self.server_key, self.version)
            .idsn
            .wrapping_add(1);
        let data_ack = first.wrapping_add(self.data_ack) as u32;
        let dss = MptcpOption::Dss(Dss {
            data_ack: Some(DataNumber::Low(data_ack)),
            ..Dss::default()
        });
        let numbers = (CLIENT_ISN + 1, self.subflows[subflow].isn.wrapping_add(seq));
        self.put(subflow, true, numbers, Flags::ACK, 0, &[dss])
    }

    /// Both sides close a subflow.
    pub fn close(&mut self, subflow: usize) -> &mut Self {
        let Subflow { isn, sent, .. } = self.subflows[subflow];
        let (server, client) = (isn.wrapping_add(sent), CLIENT_ISN + 1);
        self.put(subflow, false, (server, client), FIN_ACK, 0, &[])
            .wait(40)
            .put(
                subflow,
                true,
                (client, server.wrapping_add(1)),
                FIN_ACK,
                0,
                &[],
            )
            .put(
                subflow,
                false,
                (server.wrapping_add(1), client + 1),
                Flags::ACK,
                0,
                &[],
            )
    }

    /// The capture, of each packet no more than `snap` bytes.
    pub fn pcap(&self, snap: usize) -> Vec<u8> {
        pcap(&self.packets, snap)
    }
}

/// A capture with time stamps in nanoseconds and raw IP packets.
pub fn pcap(packets: &[(Time, Vec<u8>, u32)], snap: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (at, bytes, length) in packets {
        let nanos = at.as_nanos();
        let bytes = &bytes[..bytes.len().min(snap)];
        let words = [
            (nanos / 1_000_000_000) as u32,
            (nanos % 1_000_000_000) as u32,
            bytes.len() as u32,
            *length,
        ];
        words
            .iter()
            .for_each(|word| file.extend(word.to_le_bytes()));
        file.extend(bytes);
    }
    file
}
