//! Linux's constants of timers and loss recovery, each with where it stands.

use rexmit_time::Duration;

/// Added to a wait for reordered segments, and to two round trips before a probe (`TCP_TIMEOUT_MIN_US`,
/// include/net/tcp.h, 6.12).
pub const TIMEOUT_MIN: Duration = Duration::from_micros(2_000);

/// The smallest timeout that no setting changes (`TCP_RTO_MIN`, include/net/tcp.h, 3.10 and 6.12).
pub const RTO_MIN: Duration = Duration::from_millis(200);

/// The longest timeout (`TCP_RTO_MAX`, include/net/tcp.h, 3.10 and 6.12).
pub const RTO_MAX: Duration = Duration::from_secs(120);

/// The shortest wait before a probe (`tcp_schedule_loss_probe`, net/ipv4/tcp_output.c, 3.10).
pub const PROBE_MIN: Duration = Duration::from_millis(10);

/// The shortest delay of an early retransmit (`tcp_pause_early_retransmit`, net/ipv4/tcp_input.c, 3.10).
pub const EARLY_RETRANSMIT_MIN: Duration = Duration::from_millis(2);

/// How long the smallest round-trip time is kept (`tcp_min_rtt_wlen`, net/ipv4/tcp_ipv4.c, 6.12).
pub const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// Recoveries over which a widened reordering window is kept (`TCP_RACK_RECOVERY_THRESH`, include/linux/tcp.h, 6.12).
pub const RACK_RECOVERIES: u8 = 16;

/// The least wait for SACKs that put reneging right (`tcp_check_sack_reneging`, net/ipv4/tcp_input.c, 6.12).
pub const RENEGING_MIN: Duration = Duration::from_millis(10);

/// Timeouts of a socket without an owner before it is given up (`tcp_orphan_retries`, net/ipv4/tcp_timer.c, 6.12).
pub const ORPHAN_RETRIES: u32 = 8;
