//! The kernels of multipath-tcp.org: the scheduler by round-trip time, and what follows a timeout or a probe.

use rexmit_tcp::Mechanism::{self, EarlyRetransmit, MptcpReinject, Rto, Tlp};

use super::duo::{Duo, Sent};

/// Bytes of a full segment: 1500 less 40 of headers, 12 of timestamps and 20 of Multipath TCP.
const MSS: u32 = 1428;

fn linux(changes: &[(&str, &str)], delays_ms: &[i64]) -> Duo {
    Duo::new("linux-4.1", changes, delays_ms)
}

/// Loses the first transmission of new data from the byte `from` on, on path 0.
fn first_from(from: u64) -> impl FnMut(&Sent) -> bool {
    move |sent| sent.path == 0 && sent.data >= from && sent.by.is_none()
}

#[test]
fn the_shorter_path_is_filled_first() {
    for delays in [[20, 30], [30, 20]] {
        let short = usize::from(delays[1] < delays[0]);
        let mut duo = linux(&[], &delays);
        duo.write(13 * MSS);
        let segments = |range: std::ops::Range<u64>| -> Vec<u64> {
            range.map(|n| n * u64::from(MSS)).collect()
        };
        // Ten segments are the first window.
        assert_eq!(duo.carried(short), segments(0..10));
        assert_eq!(duo.carried(1 - short), segments(10..13));
        assert!(duo
            .log()
            .iter()
            .all(|(at, sent)| (*at, sent.len) == (0, MSS)));
        duo.run_for(100);
        assert_eq!(duo.read(), (13 * u64::from(MSS), 30));
    }
}

#[test]
fn data_wait_when_all_windows_are_full() {
    let mut duo = linux(&[], &[20, 30]);
    duo.write(25 * MSS);
    assert_eq!(duo.log().len(), 20);
    // The first acknowledgement lets two more go in slow start, the next two as well, then one is left.
    duo.run_for(40);
    assert_eq!(duo.carried(0).len(), 15);
    assert_eq!(duo.carried(1).len(), 10);
}

/// Round trip 40 ms, so a timeout of 240 ms.
#[test]
fn a_timeout_sends_on_both_paths() {
    let mut duo = linux(&[("tlp", "off")], &[20, 30]).losing(first_from(0));
    duo.write(MSS).run_for(600);
    assert_eq!(duo.again(), [(240, 0, 0, Rto), (240, 1, 0, MptcpReinject)]);
    assert_eq!(duo.read(), (u64::from(MSS), 260));
    assert_eq!(duo.server().counters().reinjections, 1);
}

/// The loss is on the longer path: the shorter one brings the data sooner than their own.
#[test]
fn the_other_path_can_be_the_faster() {
    let mut duo =
        linux(&[("tlp", "off")], &[60, 20]).losing(|sent| sent.path == 0 && sent.by.is_none());
    // Ten fill the short path, the eleventh goes on the long one, whose timeout is 120 + 240 ms.
    duo.write(11 * MSS).run_for(1_000);
    let data = 10 * u64::from(MSS);
    assert_eq!(
        duo.again(),
        [(360, 0, data, Rto), (360, 1, data, MptcpReinject)]
    );
    assert_eq!(duo.read().1, 380);
}

#[test]
fn a_probe_goes_down_its_own_path_alone() {
    let mut duo = linux(&[], &[20, 30]).losing(first_from(0));
    duo.write(MSS).run_for(230);
    assert_eq!(duo.again(), []);
    duo.run_for(400);
    assert_eq!(duo.again(), [(240, 0, 0, Tlp)]);
    assert_eq!(duo.read().1, 260);
}

/// The probe is lost as well: a timeout follows, and only then goes something to the other path.
#[test]
fn a_lost_probe_puts_the_other_path_off() {
    let lost = |sent: &Sent| sent.path == 0 && sent.by.is_none_or(|by| by == Tlp);
    let mut duo = linux(&[], &[20, 30]).losing(lost);
    duo.write(MSS).run_for(1_000);
    let want = [
        (240, 0, 0, Tlp),
        (480, 0, 0, Rto),
        (480, 1, 0, MptcpReinject),
    ];
    assert_eq!(duo.again(), want);
    assert_eq!(duo.read().1, 500);
}

fn with_probe(what: &str, loses: impl FnMut(&Sent) -> bool + 'static) -> Duo {
    let mut duo = linux(&[("mptcp_reinject_on_probe", what)], &[20, 30]).losing(loses);
    duo.write(10 * MSS).run_for(1_000);
    duo
}

#[test]
fn a_probe_that_reinjects_saves_the_timeout() {
    let last = 9 * u64::from(MSS);
    let lost = move |sent: &Sent| {
        sent.path == 0 && sent.data == last && sent.by.is_none_or(|by| by == Tlp)
    };
    let duo = with_probe("head", lost);
    // 240 ms after the acknowledgement of the others at 40.
    let want = [(280, 0, last, Tlp), (280, 1, last, MptcpReinject)];
    assert_eq!(duo.again()[..2], want);
    assert_eq!(duo.read().1, 310);
    assert_eq!(duo.server().counters().probe_reinjections, 1);
}

/// Of two lost segments the probe is the last, and the first goes to the other path. But the probe waits behind the hole
/// in its subflow, which only the subflow can fill: nothing is gained, unless both go to the other path.
#[test]
fn two_lost_need_both_on_the_other_path() {
    let (lost, last) = (8 * u64::from(MSS), 9 * u64::from(MSS));
    let head = with_probe("head", first_from(lost));
    let probe: Mechanism = Tlp;
    // Two round trips after the acknowledgement at 40; a quarter of one after the SACK.
    let want = [
        (120, 0, last, probe),
        (120, 1, lost, MptcpReinject),
        (170, 0, lost, EarlyRetransmit),
    ];
    assert_eq!(head.again(), want);
    assert_eq!(head.read().1, 190);
    let off = with_probe("off", first_from(lost));
    assert_eq!(off.read().1, 190);
    let all = with_probe("all", first_from(lost));
    assert_eq!(all.read().1, 150);
    assert_eq!(all.server().counters().probe_reinjections, 2);
}

#[test]
fn a_subflow_that_timed_out_rests_until_it_hears_something() {
    let mut duo = linux(&[("tlp", "off")], &[20, 30]).losing(|sent| sent.path == 0);
    duo.write(MSS).run_for(300);
    assert_eq!(duo.read().1, 270);
    // Path 0 has the shorter round trip, but timed out: new data go on path 1.
    duo.begin_anew();
    duo.write(MSS);
    assert_eq!(duo.carried(1), [u64::from(MSS)]);
    assert!(duo.carried(0).is_empty());
}

#[test]
fn the_head_goes_to_a_faster_subflow_when_it_fills_the_window() {
    // A window of 13 segments: three go on the path of 300 ms, and soon the first of them holds up all others.
    let narrow = [
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 40000 40000"),
    ];
    for opportunistic in [true, false] {
        for penalise in [true, false] {
            let words = [opportunistic.to_string(), penalise.to_string()];
            let mut changes = narrow.to_vec();
            changes.push(("mptcp_opportunistic", &words[0]));
            changes.push(("mptcp_penalise", &words[1]));
            let mut duo = linux(&changes, &[20, 300]);
            duo.write(60 * MSS).run_for(250);
            let again = duo.again();
            assert_eq!(
                again.iter().any(|sent| sent.1 == 0),
                opportunistic,
                "{again:?}"
            );
            assert_eq!(duo.server().counters().penalties > 0, penalise);
        }
    }
}
