//! What an acknowledgement says of a tail loss probe, as [`recovery::tlp`](rexmit_tcp::recovery::tlp) judges.

use rexmit_tcp::recovery::tlp::{Answer, Verdict};
use rexmit_tcp::recovery::State;
use rexmit_tcp::settings::Tlp;

use super::{AckFlags, EmulatedSender};
use crate::emulate::board::{AckReport, Board};

impl EmulatedSender {
    /// `tcp_process_tlp_ack`
    pub(super) fn judge_probe(&mut self, board: &Board, report: &AckReport, flags: &AckFlags) {
        let answer = Answer {
            ack: board.una,
            duplicate: !report.advanced && !report.other_use && !flags.sacked,
            dsack: flags.dsack,
            dsack_of_probe: flags.dsack_probe,
        };
        let verdict = self.episode.probe.on_ack(self.settings.tlp, &answer);
        if verdict == Verdict::Loss {
            self.episode.point = board.nxt;
            self.episode.state = State::Open;
            if self.settings.tlp == Tlp::Rfc8985 {
                self.keep_open(board);
            }
        }
    }
}
