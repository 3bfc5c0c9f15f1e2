//! Sending data as the out-of-tree kernels do: segment by segment (`mptcp_write_xmit`), and what is done about a segment that
//! holds others up.

use rexmit_time::Time;

use super::pieces::Piece;
use super::scheduler::{Choice, From};
use super::Meta;
use crate::settings::{MptcpScheduler, MptcpTimer};

impl Meta {
    /// `tcp_sendmsg` of the whole connection
    pub(super) fn write_pieces(&mut self, now: Time, bytes: u32) -> u32 {
        let mut taken = 0;
        while taken < bytes {
            if self.buffered() >= self.send_buffer() {
                self.writer_waits = true;
                break;
            }
            let mss = self.segment_bytes();
            let some = mss.min(bytes - taken);
            self.pieces.write(self.end, some, mss);
            taken += some;
            self.end += u64::from(some);
        }
        self.push_pieces(now);
        taken
    }

    /// The longest segment of any subflow.
    fn segment_bytes(&self) -> u32 {
        let each = self.subflows.iter().filter_map(|s| s.sender());
        each.map(|sender| sender.mss()).max().unwrap_or(536)
    }

    /// Bytes of the send buffer in use (`sk_wmem_queued`).
    pub(super) fn buffered(&self) -> u32 {
        let packets = self.pieces.len() as u32 * self.settings.segments.packet_overhead;
        let bytes = if self.pieces.len() > 0 {
            (self.end - self.una) as u32
        } else {
            0
        };
        self.fragments.cost + packets + bytes
    }

    /// Sends what may be sent (`mptcp_push_pending_frames`).
    pub(super) fn push_pieces(&mut self, now: Time) {
        while let Some((piece, from, index)) = self.next_piece(now) {
            let mss = self.subflows[index].sender().map_or(0, |s| s.mss());
            let mut piece = piece;
            if piece.len() > mss && mss > 0 {
                piece.end = piece.start + u64::from(mss);
                if from == From::New {
                    self.pieces.cut_unsent(mss);
                }
            }
            self.send_piece(now, index, piece, from != From::New);
            let by = piece.carried_by | 1 << index;
            match from {
                From::Again => self.pieces.drop_again(),
                From::New => {
                    self.pieces.sent(by);
                    let nothing_out = self.nxt == self.una;
                    self.nxt = piece.end;
                    if nothing_out {
                        self.restart_timer_of_pieces(now);
                    }
                }
                From::Out(at) => self.pieces.carried(at, by),
            }
        }
    }

    fn send_piece(&mut self, now: Time, index: usize, piece: Piece, again: bool) {
        let by = piece.carried_by | 1 << index;
        let window = self.window_end.saturating_sub(piece.start);
        let subflow = &mut self.subflows[index];
        subflow.raise_peer_window(window);
        subflow.append(now, piece.start, piece.len(), true, again, by);
        self.push_subflow(now, index);
    }

    /// Nothing waits, but the writer does: what holds the buffer up may be sent again.
    pub(super) fn optimise_idle(&mut self, now: Time) -> Option<(Piece, From, usize)> {
        if !self.writer_waits {
            return None;
        }
        let index = match self.choose_lowest_rtt(0, 0) {
            Choice::New(index) | Choice::Used(index) => index,
            Choice::Wait | Choice::None => return None,
        };
        let head = self.optimise(now, index, false)?;
        Some((head, From::Out(0), index))
    }

    /// The head of what is out, if the subflow `index` should carry it as well; a slower subflow that holds it has its window
    /// halved, at most once a round trip (`mptcp_rcv_buf_optimization`).
    pub(super) fn optimise(&mut self, now: Time, index: usize, penalise: bool) -> Option<Piece> {
        // The round-robin scheduler does neither.
        if self.settings.multipath.mptcp_scheduler == MptcpScheduler::RoundRobin
            || self.subflows.len() < 2
        {
            return None;
        }
        let head = *self.pieces.head_mut()?;
        let holders: Vec<usize> = (0..self.subflows.len())
            .filter(|other| *other != index && head.carried_by & (1 << other) != 0)
            .collect();
        let srtt = |meta: &Self, index: usize| {
            let srtt = meta.subflows[index].sender().and_then(|s| s.srtt());
            srtt.map_or(0, |srtt| srtt.as_nanos())
        };
        let own = srtt(self, index);
        if penalise || self.buffered() >= self.send_buffer() {
            self.schedule.blest.note_blocked();
            let tick = self.clock.ticks(now);
            let round_trip = own / self.clock.tick_ns() as i64;
            let recently = self.subflows[index].penalised;
            let allowed = recently.is_none_or(|last| tick - last >= round_trip);
            let allowed = allowed && self.settings.multipath.mptcp_penalise;
            if let Some(slow) = holders.first().copied().filter(|_| allowed) {
                let open = self.subflows[slow]
                    .sender()
                    .is_some_and(|s| s.state() == crate::sender::State::Open);
                if own < srtt(self, slow) && open {
                    if let Some(sender) = self.subflows[slow].connection.sender_mut() {
                        sender.penalise();
                    }
                    self.subflows[index].penalised = Some(tick);
                    self.counters.penalties += 1;
                }
            }
        }
        if !self.settings.multipath.mptcp_opportunistic || head.carried_by & (1 << index) != 0 {
            return None;
        }
        let mut wanted = false;
        for other in holders {
            let cwnd = self.subflows[other].sender().map_or(0, |s| s.window().cwnd);
            if cwnd <= 4 {
                wanted = true;
                break;
            }
            wanted = 4 * own < srtt(self, other);
            if !wanted {
                break;
            }
        }
        let takes = self.subflows[index]
            .sender()
            .is_some_and(|sender| sender.takes_more(head.len()));
        (wanted && takes).then_some(head)
    }

    /// Data were acknowledged on a subflow, or its window moved (`mptcp_data_ack`).
    pub(super) fn take_data_ack_of_pieces(&mut self, now: Time, index: usize, next: u64) {
        let una = if next > self.nxt {
            self.una
        } else {
            self.una.max(next)
        };
        let window = self.subflows[index]
            .sender()
            .map_or(0, |sender| sender.peer_window());
        self.window_end = self.window_end.max(una + u64::from(window));
        if una > self.una {
            self.una = una;
            self.backoff = 0;
            self.pieces.acknowledge(una);
            self.restart_timer_of_pieces(now);
        }
        self.push_pieces(now);
    }

    /// The connection's timer: twice the longest timeout of the subflows, while data are out (`mptcp_set_rto`).
    pub(super) fn restart_timer_of_pieces(&mut self, now: Time) {
        if self.settings.multipath.mptcp_timer != MptcpTimer::TwiceLongestTimeout {
            return;
        }
        if self.una == self.nxt && self.pieces.head_mut().is_none() {
            self.timer.stop();
            return;
        }
        if self.backoff == 0 {
            let each = self.subflows.iter().filter_map(|s| s.sender());
            let longest = each.map(|sender| sender.rto_ticks()).max();
            self.interval = 2 * longest.unwrap_or(self.interval);
        }
        self.set_timer(now, self.interval);
    }

    /// The head of what is out goes once more, to whom the scheduler says (`mptcp_retransmit_timer`).
    pub(super) fn on_timer_of_pieces(&mut self, now: Time) {
        let Some(head) = self.pieces.head_mut().copied() else {
            return;
        };
        let choice = self.choose_again_for(now, &head);
        if let Choice::New(index) | Choice::Used(index) = choice {
            self.send_piece(now, index, head, true);
            if let Some(first) = self.pieces.head_mut() {
                first.carried_by |= 1 << index;
            }
            self.counters.timeouts += 1;
        }
        self.backoff += 1;
        let most = self.clock.ticks_in(self.settings.timers.max_rto);
        self.interval = (2 * self.interval).min(most);
        self.set_timer(now, self.interval);
    }
}
