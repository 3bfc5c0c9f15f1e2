//! What makes data of one subflow go out again on another: a timeout, a probe, the beginning of a recovery.

use rexmit_tcp::Mechanism::{self, EarlyRetransmit, MptcpReinject, Rto};

use super::duo::{Duo, Sent};

const MSS: u32 = 1428;

fn segment(n: u64) -> u64 {
    n * u64::from(MSS)
}

/// Ten segments on path 0 of 20 ms beside one of 30; those that `loses` names are lost the first time.
fn ten(changes: &[(&str, &str)], loses: fn(u64) -> bool) -> Duo {
    let first =
        move |sent: &Sent| sent.path == 0 && sent.by.is_none() && loses(sent.data / u64::from(MSS));
    let mut duo = Duo::new("linux-4.1", changes, &[20, 30]).losing(first);
    duo.write(10 * MSS).run_for(1_000);
    duo
}

fn again(duo: &Duo, path: usize, by: Mechanism) -> Vec<u64> {
    let found = duo.again().into_iter();
    let found = found.filter(|sent| sent.1 == path && sent.3 == by);
    found.map(|sent| sent.2 / u64::from(MSS)).collect()
}

/// Three of ten lost, the rest of them SACKed: FACK repairs at once, and the other path carries what the setting says.
#[test]
fn a_recovery_may_reinject() {
    let lost = |n: u64| (4..7).contains(&n);
    for (what, want) in [
        ("off", vec![]),
        ("head", vec![4]),
        ("all", vec![4, 5, 6, 7, 8, 9]),
    ] {
        let duo = ten(&[("mptcp_reinject_on_recovery", what)], lost);
        assert_eq!(again(&duo, 1, MptcpReinject), want, "{what}");
        assert_eq!(duo.read().0, segment(10));
        // The subflow itself does as ever.
        let own = duo.again().iter().filter(|sent| sent.1 == 0).count();
        assert_eq!(own, 3);
    }
}

/// Early retransmit is one: its timer, not an acknowledgement, begins the recovery.
#[test]
fn early_retransmit_may_reinject() {
    let changes = [("mptcp_reinject_on_recovery", "head")];
    let duo = ten(&changes, |n| n == 8);
    assert_eq!(again(&duo, 0, EarlyRetransmit), [8]);
    assert_eq!(again(&duo, 1, MptcpReinject), [8]);
    let at = |by| {
        duo.again()
            .iter()
            .find(|sent| sent.3 == by)
            .map(|sent| sent.0)
    };
    assert_eq!(at(EarlyRetransmit), at(MptcpReinject));
}

/// A recovery is no timeout: its subflow goes on with new data.
#[test]
fn a_recovery_lets_its_subflow_go_on() {
    let changes = [("mptcp_reinject_on_recovery", "all")];
    let mut duo = ten(&changes, |n| n == 4);
    duo.begin_anew();
    duo.write(MSS);
    assert_eq!(duo.carried(0), [segment(10)]);
}

#[test]
fn a_timeout_reinjects_what_the_setting_says() {
    for (what, want) in [
        ("off", vec![]),
        ("head", vec![0]),
        ("all", (0..10).collect()),
    ] {
        let changes = [("tlp", "off"), ("mptcp_reinject_on_timeout", what)];
        let duo = ten(&changes, |_| true);
        let copies = again(&duo, 1, MptcpReinject);
        // The timer of the connection comes later, at twice the timeout.
        let copies: Vec<u64> = match what {
            "all" => copies,
            _ => copies.into_iter().take(want.len()).collect(),
        };
        assert_eq!(copies, want, "{what}");
        assert_eq!(again(&duo, 0, Rto), [0]);
        assert_eq!(duo.read().0, segment(10));
    }
}

/// Upstream's subflows can be made to as well.
#[test]
fn upstream_reinjects_on_a_recovery() {
    for (what, want) in [("off", 0), ("head", 1)] {
        let lost = |sent: &Sent| sent.path == 0 && sent.by.is_none() && sent.data == 0;
        let changes = [
            ("mptcp_timer", "none"),
            ("mptcp_reinject_on_recovery", what),
        ];
        let mut duo = Duo::new("linux-6.12", &changes, &[20, 30]).losing(lost);
        duo.write(20 * MSS).run_for(1_000);
        let copies = duo
            .again()
            .iter()
            .filter(|sent| sent.3 == MptcpReinject)
            .count();
        assert_eq!(copies, want, "{what}");
    }
}
