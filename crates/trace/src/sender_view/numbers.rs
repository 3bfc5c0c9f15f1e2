//! What the numbers of packets (IP identification) tell of the sender and of its peer.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::ids::Ids;
use super::own_count::OwnCount;
use super::pieces::Copy;
use super::steps::after_syn;
use crate::event::Event;

/// The packets of both hosts, by their numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    pub own: Ids,
    pub peer: Ids,
    /// Whether the sender's count is this connection's own.
    pub proof: OwnCount,
    /// The packet with the newest number.
    pub newest: Option<Event>,
    /// Packets lost before the monitor whose numbers are to come, and when that was.
    pub owed: u32,
    pub owed_at: Option<Copy>,
    /// Number and payload of the peer's last packet.
    last_answer: Option<(Option<u16>, u32)>,
    /// The peer's SYN that nothing has followed yet: the number after it, and when it came by.
    peer_syn: Option<(SeqNum, Time)>,
}

impl Numbers {
    /// Of hosts that count, or do not, the packets of this connection apart.
    pub fn new((own, peer): (bool, bool), proof: OwnCount) -> Self {
        Numbers {
            own: Ids::new(own && !proof.is_refuted()).sorted(),
            proof,
            peer: Ids::new(peer),
            newest: None,
            owed: 0,
            owed_at: None,
            last_answer: None,
            peer_syn: None,
        }
    }

    /// Whether the sender counts this connection apart, as other packets show; its own may have refuted it.
    pub fn set_own(&mut self, own: bool) {
        self.own.set_own(own && !self.proof.is_refuted());
    }

    /// The sender's packet came by; it stands for `packets`.
    pub fn learn_own(&mut self, event: &Event, packets: u32) {
        self.own.learn(event.ip_id, event.seq, packets);
        self.proof.sent(event);
        if self.proof.is_refuted() {
            self.own.set_own(false);
        }
    }

    /// The peer's SYN came by.
    pub fn note_peer_syn(&mut self, event: &Event) {
        self.last_answer = Some((event.ip_id, 0));
        self.peer_syn = Some((event.range().end, event.at));
    }

    /// Whether the receiver had nothing left but a time-wait entry, from which Linux answers without counting
    /// (tcp_v4_timewait_ack, identification 0).
    pub fn is_over(&self, event: &Event) -> bool {
        event.ip_id == Some(0) && self.peer.count_own() && !event.flags.syn() && !event.flags.fin()
    }

    /// Packets of the receiver that were missed between the last one and this one, of which a full one bears `mss`.
    pub fn hidden(&mut self, event: &Event, mss: u32) -> u32 {
        let last = self.last_answer.replace((event.ip_id, event.payload_len));
        let missed = last.map_or(0, |(id, len)| {
            let packets = len.div_ceil(mss).max(1);
            self.peer.between(id, event.ip_id, packets)
        });
        match self.peer_syn.take() {
            Some((next, at)) => after_syn(missed, next, at, event),
            None => missed,
        }
    }

    /// How many packets with data left between two and did not come by, at least: what the later one acknowledges besides
    /// may have been acknowledged by packets without data, one for each segment.
    pub fn missing(&self, last: &Event, next: &Event, mss: u32) -> u32 {
        let packets = last.payload_len.div_ceil(mss).max(1);
        let missing = self.own.between(last.ip_id, next.ip_id, packets);
        let answered = if last.flags.ack() && next.flags.ack() {
            next.ack.offset_from(last.ack).max(0).unsigned_abs()
        } else {
            0
        };
        missing.saturating_sub(answered.div_ceil(mss))
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::Flags;

    use rexmit_wire::headers::Record;

    use super::*;
    use crate::event::Direction;

    const MSS: u32 = 1_000;

    fn packet(id: u16, ack: u32, payload_len: u32) -> Event {
        Event {
            at: Time::ZERO,
            direction: Direction::Forward,
            seq: SeqNum::new(u32::from(id) * MSS),
            ack: SeqNum::new(ack),
            payload_len,
            flags: Flags::ACK,
            window: 65_535,
            record: Record::None,
            ip_id: Some(id),
            timestamps: None,
            sacks: (0, 0),
        }
    }

    /// Hosts that count the packets of the connection, as some of them have shown.
    fn counting() -> Numbers {
        let mut numbers = Numbers::new((true, true), OwnCount::new(MSS, false));
        for id in 1..6 {
            let seq = SeqNum::new(u32::from(id));
            numbers.own.learn(Some(id), seq, 1);
            numbers.peer.learn(Some(id), seq, 1);
        }
        numbers
    }

    #[test]
    fn missing_packets_are_those_that_answered_nothing() {
        let numbers = counting();
        let (last, next) = (packet(10, 0, MSS), packet(14, 0, MSS));
        assert_eq!(numbers.missing(&last, &next, MSS), 3);
        // Two of them may have acknowledged two segments of the peer's.
        let next = packet(14, 2 * MSS, MSS);
        assert_eq!(numbers.missing(&last, &next, MSS), 1);
        // One that the network card cut stands for several.
        let last = packet(10, 0, 3 * MSS);
        assert_eq!(numbers.missing(&last, &packet(14, 0, MSS), MSS), 1);
    }

    #[test]
    fn the_receivers_missed_packets_show_from_its_second_on() {
        let mut numbers = counting();
        assert_eq!(numbers.hidden(&packet(20, 0, 0), MSS), 0);
        assert_eq!(numbers.hidden(&packet(23, 0, 0), MSS), 2);
        assert!(!numbers.is_over(&packet(24, 0, 0)));
        assert!(numbers.is_over(&packet(0, 0, 0)));
    }
}
