//! Sending data as the out-of-tree kernels do: segment by segment (`mptcp_write_xmit`), and what is done about a segment that
//! holds others up.

use rexmit_time::Time;

use super::pieces::DataPiece;
use super::scheduler::{Choice, From};
use super::subflow::Subflow;
use super::{lowest_rtt, Meta};
use crate::settings::{MptcpScheduler, MptcpTimer};

impl Meta {
    /// `tcp_sendmsg` of the whole connection
    pub(super) fn write_pieces(&mut self, now: Time, bytes: u32) -> u32 {
        let mut taken = 0;
        while taken < bytes {
            if self.buffered() >= self.send_buffer.size(&self.subflows) {
                self.send_buffer.writer_waits = true;
                break;
            }
            // The longest segment of any subflow.
            let each = self.subflows.iter().filter_map(Subflow::sender);
            let mss = each
                .map(|sender| sender.flight().mss())
                .max()
                .unwrap_or(536);
            let some = mss.min(bytes - taken);
            self.pieces.write(self.data.end, some, mss);
            taken += some;
            self.data.end += u64::from(some);
        }
        self.push_pieces(now);
        taken
    }

    /// Bytes of the send buffer in use (`sk_wmem_queued`).
    pub(super) fn buffered(&self) -> u32 {
        let packets = self.pieces.len() as u32 * self.settings.segments.packet_overhead;
        let bytes = if self.pieces.len() > 0 {
            (self.data.end - self.data.una) as u32
        } else {
            0
        };
        self.fragments.cost + packets + bytes
    }

    /// Sends what may be sent (`mptcp_push_pending_frames`).
    pub(super) fn push_pieces(&mut self, now: Time) {
        while let Some((piece, from, index)) = self.next_piece(now) {
            let mss = self.subflows[index]
                .sender()
                .map_or(0, |s| s.flight().mss());
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
                    let nothing_out = self.data.nxt == self.data.una;
                    self.data.nxt = piece.end;
                    if nothing_out {
                        self.restart_timer_of_pieces(now);
                    }
                }
                From::Out(at) => self.pieces.carried(at, by),
            }
        }
    }

    fn send_piece(&mut self, now: Time, index: usize, piece: DataPiece, again: bool) {
        let by = piece.carried_by | 1 << index;
        let window = self.data.window_end.saturating_sub(piece.start);
        let subflow = &mut self.subflows[index];
        subflow.raise_peer_window(window);
        subflow.append(now, piece.start, piece.len(), true, again, by);
        self.push_subflow(now, index);
    }

    /// Nothing waits, but the writer does: what holds the buffer up may be sent again.
    pub(super) fn optimise_idle(&mut self, now: Time) -> Option<(DataPiece, From, usize)> {
        if !self.send_buffer.writer_waits {
            return None;
        }
        let index = match lowest_rtt::choose(&self.subflows, 0, 0) {
            Choice::New(index) | Choice::Used(index) => index,
            Choice::Wait | Choice::None => return None,
        };
        let head = self.optimise(now, index, false)?;
        Some((head, From::Out(0), index))
    }

    /// The head of what is out, if the subflow `index` should carry it as well; a slower subflow that holds it has its window
    /// halved, at most once a round trip (`mptcp_rcv_buf_optimization`).
    pub(super) fn optimise(
        &mut self,
        now: Time,
        index: usize,
        penalise: bool,
    ) -> Option<DataPiece> {
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
            let srtt = meta.subflows[index]
                .sender()
                .and_then(|s| s.timing().srtt());
            srtt.map_or(0, |srtt| srtt.as_nanos())
        };
        let own = srtt(self, index);
        if penalise || self.buffered() >= self.send_buffer.size(&self.subflows) {
            self.scheduler.blest.note_blocked();
            let tick = self.clock.ticks(now);
            let round_trip = own / self.clock.tick_ns() as i64;
            let recently = self.subflows[index].penalised;
            let allowed = recently.is_none_or(|last| tick - last >= round_trip);
            let allowed = allowed && self.settings.multipath.mptcp_penalise;
            if let Some(slow) = holders.first().copied().filter(|_| allowed) {
                let open = self.subflows[slow]
                    .sender()
                    .is_some_and(|s| s.state() == crate::sender::CaState::Open);
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
        let una = if next > self.data.nxt {
            self.data.una
        } else {
            self.data.una.max(next)
        };
        let window = self.subflows[index]
            .sender()
            .map_or(0, |sender| sender.peer_window());
        self.data.window_end = self.data.window_end.max(una + u64::from(window));
        if una > self.data.una {
            self.data.una = una;
            self.timer.end_back_off();
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
        if self.data.una == self.data.nxt && self.pieces.head_mut().is_none() {
            self.timer.stop();
            return;
        }
        self.timer.follow_timeouts(&self.subflows);
        self.timer.restart(now);
    }

    /// The head of what is out goes once more, to whom the scheduler says (`mptcp_retransmit_timer`).
    pub(super) fn on_timer_of_pieces(&mut self, now: Time) {
        let Some(head) = self.pieces.head_mut().copied() else {
            return;
        };
        let room = self.data.room(&self.clock, now);
        let choice = self.scheduler.choose_again(&mut self.subflows, room, &head);
        if let Choice::New(index) | Choice::Used(index) = choice {
            self.send_piece(now, index, head, true);
            if let Some(first) = self.pieces.head_mut() {
                first.carried_by |= 1 << index;
            }
            self.counters.timeouts += 1;
        }
        self.timer.back_off();
        self.timer.restart(now);
    }
}
