//! Linux 6.x: fragments, the scheduler by linger time, and the timer that counts from pending ones.

use rexmit_tcp::Mechanism::{MptcpReinject, Rto, Tlp};
use rexmit_time::Duration;

use super::duo::{Duo, Sent};

/// Bytes of a full segment: 1500 less 40 of headers, 12 of timestamps and 28 of Multipath TCP.
const MSS: u32 = 1420;
/// Data of a page of 32 KiB less the 40 bytes of a fragment's head.
const FRAGMENT: u64 = 32_768 - 40;

/// A send buffer that holds nobody up.
const LARGE: (&str, &str) = ("send_buffer", "4096 1048576 4194304");

fn linux(name: &str, changes: &[(&str, &str)], delays_ms: &[i64]) -> Duo {
    Duo::new(name, changes, delays_ms)
}

#[test]
fn two_fragments_make_a_burst_and_the_third_goes_elsewhere() {
    let mut duo = linux("linux-6.12", &[LARGE], &[20, 30]);
    duo.write(80 * MSS).run_for(400);
    let on_first = duo.carried(0);
    let on_second = duo.carried(1);
    // 65,428 bytes are a burst: after one fragment some are left, after two none.
    assert!(on_first.contains(&(2 * FRAGMENT - 136)), "{on_first:?}");
    assert_eq!(on_second.first(), Some(&(2 * FRAGMENT)));
    assert!(on_first.iter().take(46).all(|data| *data < 2 * FRAGMENT));
    assert_eq!(duo.read().0, 80 * u64::from(MSS));
}

/// Subflows are corked with their connection (`mptcp_setsockopt_sol_tcp_cork`), and none is pushed at its end: the short segment
/// leaves with the probe of a window, a timeout after the last acknowledgement (`tcp_check_probe_timer`). The old line asks the
/// connection alone.
#[test]
fn a_short_segment_at_the_end_of_a_corked_subflow_waits_for_the_timer() {
    for (name, left, at) in [("linux-6.12", 100, 40 + 240 + 20), ("linux-4.1", 0, 20)] {
        let mut duo = linux(name, &[], &[20]);
        duo.write_corked(3 * MSS + 100).run_for(100);
        assert_eq!(duo.read().0, u64::from(3 * MSS + 100 - left), "{name}");
        duo.run_for(400);
        assert_eq!(duo.read().0, u64::from(3 * MSS + 100), "{name}");
        assert!(
            (at..at + 4).contains(&duo.read().1),
            "{name}: {}",
            duo.read().1
        );
    }
}

#[test]
fn a_burst_of_6_1_ends_within_a_fragment() {
    let mut duo = linux("linux-6.1", &[LARGE], &[20, 30]);
    duo.write(120 * MSS).run_for(600);
    // Of 65,428 bytes 108 are left after 46 segments; what is left of the second fragment uses them up.
    assert!(duo.carried(0).contains(&(46 * u64::from(MSS))));
    let on_second = duo.carried(1);
    assert_eq!(on_second.first(), Some(&(2 * FRAGMENT)));
    // A burst later the scheduler is asked within a fragment.
    let middle = on_second
        .iter()
        .any(|data| data % FRAGMENT != 0 && *data > 3 * FRAGMENT);
    assert!(middle, "{on_second:?}");
    assert_eq!(duo.read().0, 120 * u64::from(MSS));
}

/// Nothing is pending when the scheduler is asked: 200 ms. The probe comes with the timeout, at 40 + 200.
#[test]
fn an_idle_subflow_gets_the_first_data_before_the_probe() {
    for name in ["linux-6.1", "linux-6.12"] {
        let lost = |sent: &Sent| sent.path == 0 && sent.by.is_none();
        let mut duo = linux(name, &[], &[20, 30]).losing(lost);
        duo.write(MSS).run_for(190);
        assert_eq!(duo.again(), [], "{name}");
        duo.run_for(500);
        assert_eq!(duo.again(), [(200, 1, 0, MptcpReinject), (240, 0, 0, Tlp)]);
        assert_eq!(duo.read(), (u64::from(MSS), 230));
        assert_eq!(duo.server().counters().timeouts, 1);
    }
}

/// A timeout of the subflow sends nothing on the other; that is the timer's affair.
#[test]
fn a_timeout_stays_on_its_path() {
    let changes = [("mptcp_timer", "none"), ("tlp", "off")];
    let lost = |sent: &Sent| sent.path == 0 && sent.by.is_none();
    let mut duo = linux("linux-6.12", &changes, &[20, 30]).losing(lost);
    duo.write(MSS).run_for(500);
    assert_eq!(duo.again(), [(240, 0, 0, Rto)]);
}

#[test]
fn the_patch_reinjects_with_the_probe() {
    let changes = [("mptcp_timer", "none"), ("mptcp_reinject_on_probe", "head")];
    let lost = |sent: &Sent| sent.path == 0;
    let mut duo = linux("linux-6.12", &changes, &[20, 30]).losing(lost);
    duo.write(MSS).run_for(270);
    assert_eq!(duo.again(), [(240, 0, 0, Tlp), (240, 1, 0, MptcpReinject)]);
    assert_eq!(duo.read().1, 270);
}

/// All that the subflow has out, in order, so that nothing waits for the first path.
#[test]
fn the_patch_reinjects_all_with_the_probe() {
    let changes = [("mptcp_timer", "none"), ("mptcp_reinject_on_probe", "all")];
    let lost = |sent: &Sent| sent.path == 0;
    let mut duo = linux("linux-6.12", &changes, &[20, 30]).losing(lost);
    duo.write(3 * MSS).run_for(130);
    let last = 2 * u64::from(MSS);
    let copies = [0, 1, 2].map(|n| (82, 1, n * u64::from(MSS), MptcpReinject));
    let mut again = vec![(82, 0, last, Tlp)];
    again.extend(copies);
    assert_eq!(duo.again(), again);
    assert_eq!(duo.read().1, 112);
    assert_eq!(duo.server().counters().probe_reinjections, 3);
}

/// The connection's timer has sent the data, and their acknowledgement is still under way when the probe leaves.
#[test]
fn the_patch_does_not_send_what_the_other_carries() {
    let changes = [("mptcp_reinject_on_probe", "all")];
    let lost = |sent: &Sent| sent.path == 0;
    let mut duo = linux("linux-6.12", &changes, &[20, 150]).losing(lost);
    duo.write(MSS).run_for(450);
    assert_eq!(duo.again(), [(200, 1, 0, MptcpReinject), (240, 0, 0, Tlp)]);
}

/// The probe is due 4 × 49.5 + 2 ms after the write, when the connection's timer fires: that finds the other subflow idle and
/// sends the whole fragment there, and then carries what the probe would have sent.
#[test]
fn the_connections_timer_goes_before_the_patch() {
    for name in ["linux-6.1", "linux-6.12"] {
        let changes = [("mptcp_reinject_on_probe", "head")];
        let delays = [49_500, 60_000].map(Duration::from_micros);
        let duo = Duo::of_delays(name, &changes, &delays);
        let mut duo = duo.losing(|sent| sent.path == 0);
        duo.write(3 * MSS).run_for(300);
        let last = 2 * u64::from(MSS);
        let copies = [0, 1, 2].map(|n| (200, 1, n * u64::from(MSS), MptcpReinject));
        let mut again = vec![(200, 0, last, Tlp)];
        again.extend(copies);
        assert_eq!(duo.again(), again, "{name}");
        assert_eq!(duo.server().counters().probe_reinjections, 0, "{name}");
    }
}

/// Path 0 is dead. While the other is busy, the timer fires several times without a packet on path 0: then all its data go
/// to path 1, and nothing new to path 0.
#[test]
fn a_subflow_from_which_nothing_is_heard_becomes_stale() {
    let changes = [("mptcp_stale_after", "1"), ("tlp", "off")];
    let mut duo = linux("linux-6.12", &changes, &[20, 150]).losing(|sent| sent.path == 0);
    duo.write(300 * MSS).run_for(20_000);
    assert_eq!(duo.read().0, 300 * u64::from(MSS));
    assert_eq!(duo.server().counters().stale, 1);
    duo.begin_anew();
    duo.write(MSS).run_for(100);
    assert!(duo.carried(0).is_empty());
    assert_eq!(duo.carried(1).len(), 1);
}

/// The window is the memory that both subflows share, and what one offers holds for the other.
#[test]
fn what_one_subflow_offers_the_other_may_fill() {
    let narrow = [
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 40000 40000"),
    ];
    let mut duo = linux("linux-6.12", &narrow, &[20, 300]);
    duo.write(200 * MSS).run_for(20_000);
    assert_eq!(duo.read().0, 200 * u64::from(MSS));
    assert_eq!(duo.server().sent().0, duo.read().0);
}
