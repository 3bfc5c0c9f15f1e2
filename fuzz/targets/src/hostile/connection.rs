//! One connection as the grammar has it: what its sides would send next if they were as they should be.

use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Join, Mapping, MptcpOption, Version};
use rexmit_wire::Flags;

use super::choices::Choices;
use super::numbers::{Jumps, MSS};
use super::packet::Fields;

const ACK: u8 = Flags::ACK.0;
const SYN: u8 = Flags::SYN.0;
const FIN: u8 = Flags::FIN.0;
const RST: u8 = Flags::RST.0;

/// What a side of a connection sends.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Data,
    Ack,
    /// What it sent before.
    Again,
    Syn,
    Fin,
    Rst,
    /// A byte below the next, or none.
    Probe,
    /// Anything.
    Odd,
}

/// One side.
#[derive(Clone, Debug, Default)]
struct End {
    isn: u32,
    next: u32,
    /// What the other has acknowledged.
    una: u32,
    stamp: u32,
    ip_id: u16,
    key: u64,
    data_next: u64,
    /// Numbers and lengths sent before.
    sent: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
pub(super) struct Connection {
    port: u16,
    ends: [End; 2],
    stamps: bool,
    multipath: bool,
    /// It joins the connection that has this key.
    joins: Option<u64>,
    /// Its SYNs that are still to come, if it begins with a handshake.
    opening: u8,
    counts: bool,
}

impl Connection {
    pub fn new(number: u16, keys: [u64; 2], choices: &mut Choices<'_>) -> Self {
        let end = |key: u64, choices: &mut Choices<'_>| {
            let isn = choices.of(&[
                1_000,
                u32::MAX - 2_000,
                (1 << 30) - 2_000,
                (1 << 31) - 2_000,
                (3 << 30) - 2_000,
            ]);
            End {
                isn,
                next: isn.wrapping_add(1),
                una: isn.wrapping_add(1),
                stamp: choices.of(&[5_000, u32::MAX - 50, (1 << 31) - 50]),
                ip_id: choices.of(&[1, 65_500, 32_700]),
                key,
                data_next: Identity::of(key, Version::V1).idsn.wrapping_add(1),
                sent: Vec::new(),
            }
        };
        let multipath = choices.below(3) == 1;
        let joins = (multipath && number > 0 && choices.below(3) > 0).then_some(keys[1]);
        Connection {
            port: 40_000 + number,
            ends: [end(keys[0], choices), end(keys[1], choices)],
            stamps: choices.below(2) == 0,
            multipath,
            joins,
            opening: if choices.below(3) == 0 { 0 } else { 2 },
            counts: choices.below(2) == 0,
        }
    }

    /// What comes next of it.
    pub fn send(&mut self, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        if self.opening > 0 {
            let from_client = self.opening == 2;
            self.opening -= 1;
            return self.syn(usize::from(!from_client), jumps, choices);
        }
        let me = choices.weighted(&[(3, 0), (2, 1)]);
        let kinds = [
            (8, Kind::Data),
            (6, Kind::Ack),
            (4, Kind::Again),
            (1, Kind::Syn),
            (1, Kind::Fin),
            (1, Kind::Rst),
            (1, Kind::Probe),
            (1, Kind::Odd),
        ];
        match choices.weighted(&kinds) {
            Kind::Data => self.data(me, jumps, choices),
            Kind::Ack => self.ack(me, jumps, choices),
            Kind::Again => self.again(me, jumps, choices),
            Kind::Syn => self.syn(me, jumps, choices),
            Kind::Fin => {
                let mut fields = self.plain(me, ACK | FIN, jumps, choices);
                fields.len = choices.of(&[0, MSS]);
                self.follow(me, &fields, fields.len + 1, choices);
                fields
            }
            Kind::Rst => {
                let mut fields = self.plain(me, RST, jumps, choices);
                fields.flags = Flags(RST | choices.of(&[0, ACK]));
                fields
            }
            Kind::Probe => {
                let mut fields = self.plain(me, ACK, jumps, choices);
                fields.seq = fields.seq.wrapping_sub(1);
                fields.len = choices.of(&[0, 1]);
                fields
            }
            Kind::Odd => {
                let flags = choices.below(256) as u8;
                let mut fields = self.plain(me, flags, jumps, choices);
                fields.len = choices.any_u32() >> choices.below(32);
                fields
            }
        }
    }

    /// A packet of a side that bears its next number and acknowledges what it has.
    fn plain(&mut self, me: usize, flags: u8, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        let peer = &mut self.ends[1 - me];
        if choices.below(3) == 0 {
            // It acknowledges some more.
            let ahead = peer.next.wrapping_sub(peer.una);
            let some = choices.of(&[ahead, MSS, 2 * MSS, 0]);
            peer.una = peer.una.wrapping_add(some);
        }
        let (ack, echo) = (peer.una, peer.stamp);
        let counts = self.counts;
        let end = &mut self.ends[me];
        end.stamp = end.stamp.wrapping_add(choices.below(4) * 5);
        end.ip_id = end
            .ip_id
            .wrapping_add(choices.weighted(&[(6, 1), (1, 2), (1, 5)]));
        let stamps = self.stamps.then(|| {
            let value = jumps.from(end.stamp, choices);
            (value, jumps.from(echo, choices))
        });
        Fields {
            from_client: me == 0,
            port: self.port,
            seq: jumps.from(end.next, choices),
            ack: jumps.from(ack, choices),
            flags: Flags(flags),
            window: choices.weighted(&[(10, 60_000), (1, 0), (1, 1), (1, 65_535), (1, 200)]),
            ip_id: if counts { end.ip_id } else { 0 },
            ttl: choices.weighted(&[(20, 64), (1, 63), (1, 128)]),
            stamps,
            ..Fields::default()
        }
    }

    /// The side goes on behind what it sent, mostly, wherever that was.
    fn follow(&mut self, me: usize, fields: &Fields, len: u32, choices: &mut Choices<'_>) {
        let end = &mut self.ends[me];
        if choices.below(4) < 3 {
            end.next = fields.seq.wrapping_add(len);
        }
        end.sent.push((fields.seq, len));
    }

    fn data(&mut self, me: usize, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        let mut fields = self.plain(me, ACK, jumps, choices);
        fields.len = choices.weighted(&[(8, MSS), (2, 3 * MSS), (1, 1), (1, 500), (1, 65_000)]);
        if choices.once_in(16) {
            fields.flags = Flags(choices.of(&[0, ACK | Flags::PSH.0, ACK | 0x20]));
        }
        self.map(me, &mut fields, jumps, choices);
        self.follow(me, &fields, fields.len, choices);
        fields
    }

    fn ack(&mut self, me: usize, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        let mut fields = self.plain(me, ACK, jumps, choices);
        let una = self.ends[1 - me].una;
        for _ in 0..choices.weighted(&[(3, 0), (3, 1), (1, 2), (1, 3)]) {
            // Below what was acknowledged is a duplicate that came.
            let segments = choices.below(9).wrapping_sub(2);
            let start = jumps.from(una.wrapping_add(segments.wrapping_mul(MSS)), choices);
            let len = (1 + choices.below(3)) * MSS;
            fields
                .sack
                .push((start, jumps.from(start.wrapping_add(len), choices)));
        }
        self.map(me, &mut fields, jumps, choices);
        fields
    }

    fn again(&mut self, me: usize, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        let mut fields = self.plain(me, ACK, jumps, choices);
        let end = &self.ends[me];
        // The latest are those that are sent again, mostly.
        let back = choices.weighted(&[(3, 1), (3, 2), (2, 3), (1, 5), (1, 9)]);
        if let Some(&(seq, len)) = end
            .sent
            .len()
            .checked_sub(back)
            .and_then(|at| end.sent.get(at))
        {
            (fields.seq, fields.len) = (jumps.from(seq, choices), len);
            if choices.once_in(8) {
                fields.len = choices.of(&[len / 2, len.saturating_mul(2), 1]);
            }
        }
        self.map(me, &mut fields, jumps, choices);
        fields
    }

    fn syn(&mut self, me: usize, jumps: Jumps, choices: &mut Choices<'_>) -> Fields {
        let flags = if me == 0 { SYN } else { SYN | ACK };
        let mut fields = self.plain(me, flags, jumps, choices);
        fields.seq = jumps.from(self.ends[me].isn, choices);
        if me == 0 {
            fields.ack = 0;
        }
        fields.offer = Some((choices.of(&[1_460, 536, 0]), choices.of(&[7, 0, 14, 255])));
        if self.multipath {
            let key = self.ends[me].key;
            let option = match (self.joins, me) {
                (None, _) => MptcpOption::Capable(Capable {
                    version: 1,
                    flags: 1,
                    sender_key: (me == 1).then_some(key),
                    ..Capable::default()
                }),
                (Some(key), 0) => MptcpOption::Join(Join::Syn {
                    backup: false,
                    address_id: 1,
                    token: jumps.from(Identity::of(key, Version::V1).token, choices),
                    nonce: 1,
                }),
                (Some(_), _) => MptcpOption::Join(Join::SynAck {
                    backup: false,
                    address_id: 1,
                    hmac: 1,
                    nonce: 1,
                }),
            };
            fields.offer = None;
            fields.signal(&option);
        }
        self.ends[me].next = fields.seq.wrapping_add(1);
        fields
    }

    /// Says which data of the Multipath TCP connection a packet carries and acknowledges.
    fn map(&mut self, me: usize, fields: &mut Fields, jumps: Jumps, choices: &mut Choices<'_>) {
        if !self.multipath || choices.once_in(4) {
            return;
        }
        let whole = choices.below(2) == 0;
        let number = |full: u64| {
            if whole {
                DataNumber::Full(full)
            } else {
                DataNumber::Low(full as u32)
            }
        };
        let keys = [self.ends[me].key, self.ends[1 - me].key];
        if choices.once_in(8) {
            fields.signal(&MptcpOption::Capable(Capable {
                version: choices.weighted(&[(6, 1), (1, 0)]),
                flags: 1,
                sender_key: Some(keys[0]),
                receiver_key: Some(keys[1]),
                data_len: (fields.len > 0).then_some(fields.len as u16),
                ..Capable::default()
            }));
            return;
        }
        if choices.once_in(32) {
            let data_seq = jumps.jump_long(self.ends[me].data_next, choices);
            fields.signal(&MptcpOption::Fail { data_seq });
            return;
        }
        let ack = jumps.jump_long(self.ends[1 - me].data_next, choices);
        let end = &mut self.ends[me];
        let back = choices.weighted(&[(6, 0), (2, u64::from(MSS)), (1, 3 * u64::from(MSS))]);
        let first = jumps.jump_long(end.data_next.wrapping_sub(back), choices);
        let mapping = (fields.len > 0).then(|| Mapping {
            data_seq: number(first),
            subflow_seq: jumps.from(fields.seq.wrapping_sub(end.isn), choices),
            len: choices.weighted(&[(8, fields.len as u16), (1, 0), (1, 65_535)]),
            checksum: None,
        });
        if mapping.is_some() && choices.below(4) < 3 {
            end.data_next = first.wrapping_add(u64::from(fields.len));
        }
        fields.signal(&MptcpOption::Dss(Dss {
            fin: choices.once_in(16),
            data_ack: Some(number(ack)),
            mapping,
        }));
    }

    /// The keys of its sides.
    pub fn keys(&self) -> [u64; 2] {
        [self.ends[0].key, self.ends[1].key]
    }

    /// It has the data of another connection: they are subflows of one.
    pub fn share(&mut self, other: &Connection) {
        for (end, of) in self.ends.iter_mut().zip(&other.ends) {
            end.data_next = of.data_next;
        }
    }
}
