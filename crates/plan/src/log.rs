//! The log of every packet of both hosts, over all subflows.

use std::collections::BTreeMap;

use rexmit_loss::Carried;
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::mptcp::{self, MptcpOption, Numbers};
use rexmit_wire::{FlowKey, SeqNum, TcpPacket};

use crate::packets::{Carries, Direction, LoggedPacket};

/// The packets of one transfer or connection.
#[derive(Debug, Default)]
pub struct PacketLog {
    packets: Vec<LoggedPacket>,
    subflows: BTreeMap<FlowKey, Isns>,
    /// Data sequence numbers of server and client, where the connection is one of Multipath TCP.
    numbers: [Option<Numbers>; 2],
}

/// Initial sequence numbers of one subflow.
#[derive(Clone, Copy, Debug, Default)]
struct Isns {
    server: Option<SeqNum>,
    client: Option<SeqNum>,
}

impl PacketLog {
    /// Adds a packet, sent at `time`, on `path` where the rule minds paths. `carried` is what that told of it, `mechanism`
    /// what made its sender send it again.
    pub fn push(
        &mut self,
        packet: &TcpPacket<'_>,
        direction: Direction,
        path: Option<u32>,
        time: Time,
        carried: Option<&Carried>,
        (dropped, mechanism): (bool, Option<Mechanism>),
    ) {
        let key = match direction {
            Direction::Data => packet.flow(),
            Direction::Ack => packet.flow().reversed(),
        };
        let isns = self.subflows.entry(key).or_default();
        if packet.flags().syn() {
            match direction {
                Direction::Data => isns.server = Some(packet.seq()),
                Direction::Ack => isns.client = Some(packet.seq()),
            }
        }
        let Some(server) = isns.server.or(isns.client) else {
            return;
        };
        let client = isns.client.unwrap_or(server);
        let isns = match direction {
            Direction::Data => (server, client),
            Direction::Ack => (client, server),
        };
        let mut logged = LoggedPacket::new(packet, direction, time, Time::from_nanos(0), isns);
        logged.dropped = dropped;
        logged.mechanism = mechanism;
        logged.carries = path.map(|path| {
            let (data_seq, data_ack) = self.data(packet, direction);
            Carries {
                path,
                data_seq: carried.map(|one| one.data.start + 1).or(data_seq),
                data_ack,
            }
        });
        self.packets.push(logged);
    }

    /// What the packet's options say of data: of what it carries, if its own mapping begins there, and of what arrived.
    fn data(&mut self, packet: &TcpPacket<'_>, direction: Direction) -> (Option<u64>, Option<u64>) {
        let own = direction as usize;
        let (mut data_seq, mut data_ack) = (None, None);
        for option in mptcp::options(packet) {
            match option {
                MptcpOption::Capable(capable) => {
                    for (side, numbers) in [own, 1 - own].into_iter().zip(capable.numbers()) {
                        self.numbers[side] = self.numbers[side].or(numbers);
                    }
                }
                MptcpOption::Dss(dss) => {
                    if let Some((mapping, numbers)) = dss.mapping.zip(self.numbers[own].as_mut()) {
                        let place = numbers.place(mapping.data_seq);
                        let has_data = packet.payload_len() > 0;
                        data_seq = u64::try_from(place.saturating_add(1))
                            .ok()
                            .filter(|_| has_data);
                    }
                    if let Some((ack, numbers)) = dss.data_ack.zip(self.numbers[1 - own].as_mut()) {
                        data_ack = u64::try_from(numbers.place(ack).saturating_add(1)).ok();
                    }
                }
                _ => {}
            }
        }
        (data_seq, data_ack)
    }

    /// What was logged, times since zero; forgets it and the connection.
    pub fn take(&mut self) -> Vec<LoggedPacket> {
        std::mem::take(self).packets
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Mapping, Version};

    use super::*;

    /// A packet of 10.0.0.1 to 10.0.0.2, or back.
    fn packet(back: bool, seq: u32, flags: u8, option: &MptcpOption<'_>, len: usize) -> Vec<u8> {
        let mut options = Vec::new();
        option.write(&mut options);
        options.resize(options.len().next_multiple_of(4), 1);
        let header = 20 + options.len();
        let total = (20 + header + len) as u16;
        let [high, low] = total.to_be_bytes();
        let (src, dst) = if back { (2, 1) } else { (1, 2) };
        let mut bytes = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0];
        bytes.extend([10, 0, 0, src, 10, 0, 0, dst, 0, src, 0, dst]);
        bytes.extend(seq.to_be_bytes());
        bytes.extend([0, 0, 0, 0, (header as u8 / 4) << 4, flags, 1, 0, 0, 0, 0, 0]);
        bytes.extend(options);
        bytes.resize(usize::from(total), 0);
        bytes
    }

    #[test]
    fn numbers_of_data_count_from_the_first_byte_of_each_side() {
        const SERVER: u64 = 7;
        const CLIENT: u64 = 8;
        let first = |key| Identity::of(key, Version::V1).idsn.wrapping_add(1);
        let capable = |sender_key, receiver_key| {
            MptcpOption::Capable(Capable {
                version: 1,
                sender_key: Some(sender_key),
                receiver_key,
                ..Capable::default()
            })
        };
        let dss = |ack: u64, map: Option<u64>| {
            MptcpOption::Dss(Dss {
                fin: false,
                data_ack: Some(DataNumber::Low(ack as u32)),
                mapping: map.map(|number| Mapping {
                    data_seq: DataNumber::Full(number),
                    subflow_seq: 1,
                    len: 5,
                    checksum: None,
                }),
            })
        };
        let server = first(SERVER);
        let mut log = PacketLog::default();
        for (back, seq, flags, option, len) in [
            (true, 50, 0x02, capable(CLIENT, None), 0),
            (false, 100, 0x12, capable(SERVER, None), 0),
            (true, 51, 0x10, capable(CLIENT, Some(SERVER)), 0),
            (false, 101, 0x10, dss(first(CLIENT), Some(server)), 5),
            (true, 51, 0x10, dss(server.wrapping_add(5), None), 0),
            (
                false,
                106,
                0x10,
                dss(first(CLIENT), Some(server.wrapping_add(9))),
                5,
            ),
        ] {
            let bytes = packet(back, seq, flags, &option, len);
            let direction = if back {
                Direction::Ack
            } else {
                Direction::Data
            };
            let packet = TcpPacket::parse(&bytes).unwrap();
            log.push(
                &packet,
                direction,
                Some(2),
                Time::from_nanos(9),
                None,
                (false, None),
            );
        }
        let logged = log.take();
        let said: Vec<_> = logged
            .iter()
            .map(|p| (p.seq, p.carries.unwrap()))
            .map(|(seq, carries)| (seq, carries.data_seq, carries.data_ack))
            .collect();
        assert_eq!(
            said,
            [
                (0, None, None),
                (0, None, None),
                (1, None, None),
                (1, Some(1), Some(1)),
                (1, None, Some(6)),
                (6, Some(10), Some(1)),
            ]
        );
        assert!(logged
            .iter()
            .all(|p| p.carries.unwrap().path == 2 && p.at_ns == 9));
        assert!(log.take().is_empty());
    }
}
