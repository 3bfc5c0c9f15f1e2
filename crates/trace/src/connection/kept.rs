//! What is kept of a packet that may be wanted whole again.

use core::net::{IpAddr, Ipv4Addr};

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::{Notes, Record, Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

use super::bytes::{Reader, Writer};
use super::doubled::LastSyn;

const UNSPECIFIED: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// A packet, less what its connection knows anyway and its SACK blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kept {
    /// When it came by.
    pub at: Time,
    /// Its sequence number.
    pub seq: SeqNum,
    /// The options of a SYN; without meaning for other packets.
    pub options: SynOptions,
    ack: SeqNum,
    payload_len: u32,
    stamps: (u32, u32),
    ip_id: u16,
    window: u16,
    pub flags: Flags,
    ttl: u8,
    ecn: u8,
    notes: Notes,
    /// Which of the fields mean something.
    there: There,
}

/// Which fields of a [`Kept`] mean something, in one byte: there may be a million of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct There(u8);

impl There {
    const OPTIONS: u8 = 1;
    const STAMPS: u8 = 2;
    const IP_ID: u8 = 4;
    const DONT_FRAGMENT: u8 = 8;

    fn of(headers: &Headers) -> Self {
        let bit = |there: bool, bit| if there { bit } else { 0 };
        There(
            bit(headers.syn.is_some(), There::OPTIONS)
                | bit(headers.timestamps.is_some(), There::STAMPS)
                | bit(headers.ip_id.is_some(), There::IP_ID)
                | bit(headers.dont_fragment, There::DONT_FRAGMENT),
        )
    }

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

impl Kept {
    /// What is kept of a packet.
    pub fn of(at: Time, headers: &Headers) -> Self {
        Kept {
            at,
            seq: headers.seq,
            options: headers.syn.unwrap_or_default(),
            ack: headers.ack,
            payload_len: headers.payload_len,
            stamps: headers
                .timestamps
                .map_or((0, 0), |stamps| (stamps.value, stamps.echo)),
            ip_id: headers.ip_id.unwrap_or(0),
            window: headers.window,
            flags: headers.flags,
            ttl: headers.ttl,
            ecn: headers.ecn,
            notes: headers.notes,
            there: There::of(headers),
        }
    }

    /// What it has in common with SYNs of other connections.
    pub fn like(&self) -> Self {
        Kept {
            at: Time::ZERO,
            seq: SeqNum::default(),
            ack: SeqNum::default(),
            stamps: (0, 0),
            ip_id: 0,
            ..*self
        }
    }

    /// Writes what it has of its own.
    pub(super) fn write(&self, start: Time, out: &mut Writer) {
        let own = (self.seq, self.ack, self.stamps, self.ip_id);
        out.value(&(self.at.since(start), own));
    }

    /// The one of which that was [written](Kept::write), and which is [like](Kept::like) this.
    pub(super) fn read(&self, start: Time, bytes: &mut Reader<'_>) -> Self {
        let (later, (seq, ack, stamps, ip_id)): (Duration, _) = bytes.value();
        Kept {
            at: start + later,
            seq,
            ack,
            stamps,
            ip_id,
            ..*self
        }
    }

    /// As it was the last SYN of its side, which came once.
    pub(super) fn last(&self) -> LastSyn {
        let headers = self.headers(FlowKey {
            src: UNSPECIFIED,
            dst: UNSPECIFIED,
            src_port: 0,
            dst_port: 0,
        });
        LastSyn::of(self.at, &headers)
    }

    /// As [`Kept::of`]; none unless the packet is a SYN or SYN-ACK.
    pub fn syn(at: Time, headers: &Headers) -> Option<Self> {
        Some(Kept::of(at, headers)).filter(Kept::is_syn)
    }

    /// Whether it is a SYN or SYN-ACK.
    pub const fn is_syn(&self) -> bool {
        self.there.has(There::OPTIONS)
    }

    /// Whether a SYN-ACK answers this repetition of a SYN rather than the `first`.
    pub fn is_answered_by(&self, first: &Kept, answer: &Kept) -> bool {
        let (mine, theirs) = (&self.options, &answer.options);
        if answer.there.has(There::STAMPS) {
            // RFC 7323 §3.2: it echoes the stamp of what it answers.
            let (_, echo) = answer.stamps;
            let is_of = |syn: &Kept| syn.there.has(There::STAMPS) && syn.stamps.0 == echo;
            if is_of(first) != is_of(self) {
                return is_of(self);
            }
        }
        // An answer has no option that was not asked for (RFC 7323 §2.2, §3.2).
        let asked = |theirs: bool, mine: bool| mine || !theirs;
        asked(theirs.timestamps, mine.timestamps)
            && asked(theirs.window_scale.is_some(), mine.window_scale.is_some())
            && asked(theirs.sack_permitted, mine.sack_permitted)
    }

    /// The packet's headers again, without its SACK blocks.
    pub fn headers(&self, flow: FlowKey) -> Headers {
        let (value, echo) = self.stamps;
        Headers {
            flow,
            seq: self.seq,
            ack: self.ack,
            payload_len: self.payload_len,
            window: self.window,
            flags: self.flags,
            ttl: self.ttl,
            ip_id: self.there.has(There::IP_ID).then_some(self.ip_id),
            dont_fragment: self.there.has(There::DONT_FRAGMENT),
            ecn: self.ecn,
            record: Record::None,
            notes: self.notes,
            timestamps: self
                .there
                .has(There::STAMPS)
                .then_some(Timestamps { value, echo }),
            sack: Sack::default(),
            syn: self.is_syn().then_some(self.options),
        }
    }
}
