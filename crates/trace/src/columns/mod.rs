//! Rows as columns, for programs that take tables: a few buffers for each column, no object for each value.
//!
//! The columns, in order (`?` may be null):
//!
//! `retransmissions`: capture, connection, flow, direction, time_s, time_ns, seq_start, seq_end, length_bytes, first_sent_s?,
//! copy, mechanism, confidence, runner_up?, runner_up_confidence?, certainty, either, need, need_confidence,
//! evidence, episode, episode_cause, detection_s?, detection_rtts?, recovery_s?, waited_s, timer_s?, moving_rtt_s?, flight_segments, flight_bytes, lost_in_flight,
//! mptcp_connection?, first_flow?, first_subflow?.
//! `flow` is the direction of the data, as in `10.0.0.1:80 > 10.0.0.2:40000`; `time_ns` is exact.
//!
//! `connections`: capture, connection, flow (client > server), start_s, end_s, duration_s, waited_s, handshake_rtt_s?,
//! handshake_server_s?, mid_stream, one_sided, closed, evicted, handshake, reset_by? (client or server), reset_state?,
//! reset_after?, reset_silence_s?, mptcp_connection?, mptcp_subflow?, mptcp_role?,
//! mptcp_version?, and with `forward_` and `backward_` before them: packets,
//! bytes, unique_bytes, segments, wire_segments, mss_bytes?, window_scale?, sack_permitted, timestamps, mptcp, syn_signature?, syn_system?,
//! for each mechanism (`rto`, `rto_recovery` and so on) MECHANISM_needed, MECHANISM_spurious, then MECHANISM_waited_s, then
//! reordered, network_duplicates, capture_duplicates, capture_losses, probes, position?, monitor_delay_s?, rtt_min_s?,
//! rtt_avg_s?, rtt_max_s?, rtt_samples, stack?, stack_confidence, stacks? (by commas), d?, d_low?, d_high? and so on for a, b,
//! m, k, min_rto_s, best_case_s?, data_bytes?, syns, resets, window_probes, zero_windows, zero_window_s, window_full_s?,
//! bytes_retransmitted, rtt_median_s?, rtt_p95_s?, data_s?.
//!
//! `whatif`: capture, connection, flow (the direction of the data), direction, setting, avoided, rto_to_fr, fr_to_rto,
//! spurious_rto_avoided, spurious_fr_avoided, spurious_rto_caused, spurious_fr_caused, change_s, waited_change_s.
//!
//! `whatif_totals`, a grid's settings summed up over connections: capture, stack, setting, changed (senders for which it
//! changes something), shorter and longer (of them, those whose connection gets so by more than a tenth), avoided and so on
//! to waited_change_s. Rows of one stack and setting add up.

mod buffers;
mod connections;
mod retransmissions;
mod whatif;

pub use buffers::{Column, Table, Values};

use crate::analyzer::Rows;
use crate::event::Direction;

/// The tables of some rows by their names, each with all its columns even if it has no rows. `settings` are the names of
/// those that were replayed.
#[must_use]
pub fn tables(rows: &Rows, capture: &str, settings: &[String]) -> [(&'static str, Table); 4] {
    [
        (
            "connections",
            connections::table(&rows.connections, capture),
        ),
        (
            "retransmissions",
            retransmissions::table(&rows.retransmissions, capture),
        ),
        ("whatif", whatif::table(&rows.whatif, capture, settings)),
        (
            "whatif_totals",
            whatif::totals(&rows.totals, capture, settings),
        ),
    ]
}

/// Rows that go through all columns together, so that they stay in the cache.
const TOGETHER: usize = 128;

const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    }
}
