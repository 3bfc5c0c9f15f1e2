//! A receiver as a subflow's: what comes in order goes on to the connection at once, and the window is that of the memory
//! which all subflows share.

use super::window::ReceiveWindow;
use super::{Buffer, Receiver};

/// Bytes of TCP options that a header has room for.
const OPTIONS: u32 = 40;

/// What window the memory of a connection's subflows makes (`mptcp_space`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// That of what is free, bytes.
    pub space: i64,
    /// That of all of it.
    pub full: i64,
}

/// What a receiver has to know as a subflow's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubflowSide {
    pool: Pool,
    /// Bytes of options on every acknowledgement.
    options: u32,
    /// Bytes of options on the segment at hand.
    theirs: u32,
    handed_over: u64,
}

/// A packet that came in order on a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Where its bytes stand in the subflow's stream, from 0.
    pub at: u64,
    /// Bytes that were not there before.
    pub len: u32,
    /// Others were, before them in the packet.
    pub cut: bool,
    /// Its memory.
    pub buffer: Buffer,
}

impl Receiver {
    /// Acknowledgements carry `options` bytes of Multipath TCP.
    pub(crate) fn be_subflow(&mut self, options: u32) {
        if self.queues.is_tidy() {
            self.queues.keep_apart();
        }
        self.subflow = Some(SubflowSide {
            pool: self.window.pool(0),
            options,
            theirs: 0,
            handed_over: 0,
        });
    }

    /// The next packet in order goes on (`__mptcp_move_skbs_from_subflow`).
    pub(crate) fn hand_over(&mut self) -> Option<Arrived> {
        let packet = *self.queues.first()?;
        let part = self.subflow.as_mut()?;
        self.queues.drop_first();
        let end = packet.range.end - u32::from(packet.fin);
        let arrived = Arrived {
            at: part.handed_over,
            len: end.offset_from(self.copied).max(0) as u32,
            cut: packet.range.start.is_before(self.copied),
            buffer: packet.buffer,
        };
        part.handed_over += u64::from(arrived.len);
        self.copied = packet.range.end;
        Some(arrived)
    }

    /// The segment that comes next has `options` bytes of Multipath TCP.
    pub(crate) fn expect_options(&mut self, options: u32) {
        if let Some(part) = &mut self.subflow {
            part.theirs = options;
        }
    }

    pub(super) fn subflow_options(&self) -> u32 {
        self.subflow.map_or(0, |part| part.theirs)
    }

    /// More than a full segment that waits for an acknowledgement makes one leave only if the window grows by it: the
    /// connection's reader will send it otherwise (`mptcp_sockopt_sync_locked` sets `sk_rcvlowat` to 0).
    pub(super) fn leaves_to_reader(&self) -> bool {
        self.subflow.is_some() && self.settings.multipath.mptcp_reader_acknowledges
    }

    /// The subflow brought data that the connection's reader cannot have yet: no reader will acknowledge them
    /// (`subflow_data_ready`).
    pub(crate) fn acknowledge_unreadable(&mut self) {
        if self.leaves_to_reader() && self.unacknowledged() > self.peer_mss {
            self.delay.pending.now = true;
        }
    }

    /// The memory that the subflow shares with the others of its connection.
    pub(crate) fn set_pool(&mut self, pool: Pool) {
        if let Some(part) = &mut self.subflow {
            part.pool = pool;
        }
    }

    /// The memory that the window is made of.
    pub(super) fn pool(&self) -> Pool {
        self.subflow
            .map_or_else(|| self.window.pool(self.queues.cost()), |part| part.pool)
    }

    /// SACK blocks for which a header has room (`tcp_established_options`).
    pub(super) fn most_sacks(&self) -> usize {
        match self.subflow {
            None if self.timestamps => 3,
            None => 4,
            Some(part) => {
                let timestamps = if self.timestamps {
                    super::TIMESTAMPS
                } else {
                    0
                };
                (OPTIONS.saturating_sub(part.options + timestamps + 4) / 8) as usize
            }
        }
    }

    /// Offers a window; gives the window field (`mptcp_set_rwin`).
    pub(crate) fn offer_window(&mut self, window: u32) -> u16 {
        self.window.offer_exactly(self.next, window)
    }

    pub(crate) fn change_options(&mut self, options: u32) {
        if let Some(part) = &mut self.subflow {
            part.options = options;
        }
    }

    /// The window reaches `window` bytes: another subflow said so (`rwin_update`).
    pub(crate) fn extend_window(&mut self, window: u32) {
        self.window.extend(self.next, window);
    }

    /// Whether an acknowledgement waits that a reader makes leave; `empty`: the reader took all there was
    /// (`mptcp_subflow_could_cleanup`).
    pub(crate) fn acknowledges_after_read(&self, empty: bool) -> bool {
        let pending = self.delay.pending;
        let pushed = pending.pushed || pending.pushed_twice;
        pending.scheduled && (self.unacknowledged() > self.peer_mss || (empty && pushed))
    }

    /// The window and the memory behind it.
    pub(crate) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// The same, to be set by the connection.
    pub(crate) fn window_mut(&mut self) -> &mut ReceiveWindow {
        &mut self.window
    }

    /// What is left of the window offered, bytes.
    pub(crate) fn window_left(&self) -> u32 {
        self.window.left(self.next)
    }

    /// Smoothed round-trip time as the receiver sees it, microseconds; 0 before the first (`rcv_rtt_est`).
    pub(crate) fn rtt_us(&self) -> u64 {
        self.rtt.eightfold() / 8
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use rexmit_time::Time;
    use rexmit_wire::{Flags, SeqNum};

    use super::*;
    use crate::receiver::{Agreed, Sending};
    use crate::segment::{Segment, Timestamps};
    use crate::stacks;

    const NOW: Time = Time::from_nanos(1_000_000_000);

    /// A receiver that got segments of these lengths: a subflow's of what a program wrote, each with `options` bytes of
    /// Multipath TCP, or another of a file.
    fn receiver(stack: &str, subflow: bool, lens: &[u32], options: u32) -> Receiver {
        let (mut settings, _) = stacks::build(stack, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        settings.receiver.receive_buffer = [4_096, 1 << 20, 1 << 20];
        let settings = Arc::new(settings);
        let clock = settings.timers.clock();
        let mut receiver = Receiver::new(&settings, clock, 1460, 1448, None, true);
        receiver.synchronize(SeqNum::new(1), 0);
        let agreed = Agreed {
            scaling: true,
            timestamps: true,
            sack: true,
            ecn: false,
            segment: 1448,
        };
        receiver.open(NOW, &clock, &agreed);
        if subflow {
            receiver.be_subflow(12);
        }
        for &len in lens {
            receiver.expect_options(options);
            come(&mut receiver, 0, len, u32::from(subflow));
            while receiver.hand_over().is_some() {}
        }
        receiver
    }

    /// A segment of `len` bytes in so many pages comes, `from` bytes behind what came in order.
    fn come(receiver: &mut Receiver, from: u32, len: u32, pages: u32) {
        let segment = Segment {
            seq: receiver.next() + from,
            flags: Flags::ACK,
            len,
            pages,
            timestamps: Some(Timestamps::default()),
            ..Segment::default()
        };
        let sending = Sending {
            srtt: None,
            rto_ticks: 250,
        };
        receiver.on_data(NOW, &segment, &sending, |_| ());
    }

    fn after(lens: &[u32], options: u32) -> Receiver {
        receiver("linux-6.12", true, lens, options)
    }

    /// `tcp_measure_rcv_mss` takes off a header with timestamps and no more.
    #[test]
    fn options_count_in_a_segment_size_guessed_from_short_segments() {
        assert_eq!(after(&[1_420], 28).peer_mss, 1_420);
        // One short segment tells nothing, two of a length do.
        assert_eq!(after(&[1_420, 1_000], 28).peer_mss, 1_420);
        assert_eq!(after(&[1_420, 1_000, 1_000], 28).peer_mss, 1_028);
        assert_eq!(after(&[1_420, 1_000, 1_000], 20).peer_mss, 1_020);
    }

    /// What is longer than the guess counts as a full one, without options.
    #[test]
    fn a_full_segment_is_its_payload() {
        assert_eq!(after(&[1_420, 1_000, 1_000, 1_100], 28).peer_mss, 1_100);
    }

    /// Of a subflow each packet out of order is charged in full, a short one for the buffer that it fits into; others share.
    #[test]
    fn packets_of_a_subflow_share_no_buffer() {
        let cost = |subflow| {
            let mut receiver = receiver("linux-6.12", subflow, &[], 0);
            for (from, len) in [(1_000, 1_000), (2_000, 1_000), (3_000, 50)] {
                come(&mut receiver, from, len, 1);
            }
            receiver.queues.cost()
        };
        assert_eq!(cost(true), 2 * (832 + 1_000) + 832);
        assert_eq!(cost(false), 832 + 2_050);
    }

    /// `truesize_adjust`: where data are in pages the buffer before them does not count. Even of a short packet half of what
    /// counts is data then, and the window grows by two segments; TCP's grows by less.
    #[test]
    fn the_window_grows_by_pages_alone() {
        let grown = |subflow, lens: &[u32]| {
            let before = receiver("linux-6.1", subflow, &[], 28).candidate_window();
            receiver("linux-6.1", subflow, lens, 28).candidate_window() - before
        };
        // As the window field can tell it.
        let unit = 1 << receiver("linux-6.1", true, &[], 28).scale();
        let two = (2 * 1_448_u32).next_multiple_of(unit);
        assert_eq!(grown(true, &[300]), two);
        assert!((300..two).contains(&grown(false, &[300])));
    }
}
