//! Congestion marks (ECN, RFC 3168).

use rexmit_testing::{settings, Lab};
use rexmit_wire::Flags;

use crate::page;

const STACKS: [&str; 3] = ["linux-3.10", "linux-6.1", "linux-6.12"];

/// A page whose data are marked with probability `marked`; ECN is on at the `client`, at the `server`.
fn fetch(stack: &str, [client, server]: [bool; 2], marked: f64) -> Lab {
    let mut plan = page(stack, 1_000_000, 20.0);
    let with = |on| settings(stack, &[("ecn", if on { "true" } else { "false" })]);
    (plan.client, plan.server) = (with(client), with(server));
    plan.paths[0][1].ecn_mark = marked;
    let mut lab = Lab::open(plan);
    lab.run(60_000.0);
    lab
}

/// What was sent with this flag, by which end: the SYN or SYN-ACK apart.
fn with(lab: &Lab, client: bool, flag: Flags) -> usize {
    let end = if client { lab.client } else { lab.server };
    lab.sent(end)
        .filter(|(_, packet)| !packet.segment().flags.syn())
        .filter(|(_, packet)| packet.segment().flags.contains(flag))
        .count()
}

#[test]
fn a_mark_is_told_until_the_window_is_smaller_and_costs_no_packet() {
    for stack in STACKS {
        let lab = fetch(stack, [true, true], 0.02);
        let (told, reduced) = (with(&lab, true, Flags::ECE), with(&lab, false, Flags::CWR));
        assert!(reduced > 0 && told >= reduced, "{stack}: {told}, {reduced}");
        let again = lab
            .sent(lab.server)
            .filter(|(_, packet)| packet.sent.mechanism.is_some());
        assert_eq!(again.count(), 0, "{stack}");
        // Only data that are sent for the first time may be marked.
        assert!(lab
            .sent(lab.client)
            .skip(2)
            .all(|(_, one)| !one.segment().ect || one.segment().len > 0));
        let unmarked = fetch(stack, [true, true], 0.0);
        assert_eq!(with(&unmarked, true, Flags::ECE), 0, "{stack}");
        assert!(unmarked.sent(unmarked.server).count() <= lab.sent(lab.server).count());
    }
}

#[test]
fn both_ends_have_to_want_it() {
    for stack in STACKS {
        for ends in [[true, false], [false, true], [false, false]] {
            let lab = fetch(stack, ends, 1.0);
            assert_eq!(with(&lab, true, Flags::ECE), 0, "{stack}, {ends:?}");
            assert!(lab.sent(lab.server).all(|(_, one)| !one.segment().ect));
        }
    }
}

#[test]
fn a_syn_that_is_sent_again_asks_no_more_since_4_1() {
    for (stack, asks) in [("linux-3.10", true), ("linux-6.12", false)] {
        let mut plan = page(stack, 1_000, 20.0);
        (plan.client, plan.server) = (
            settings(stack, &[("ecn", "true")]),
            settings(stack, &[("ecn", "true")]),
        );
        let mut lost = false;
        let mut lab = Lab::open(plan).losing(move |packet| {
            packet.segment().flags.syn() && !std::mem::replace(&mut lost, true)
        });
        lab.run(60_000.0);
        let again = lab.sent(lab.client).nth(1).expect("a second SYN").1;
        assert!(again.segment().flags.syn());
        assert_eq!(again.segment().flags.contains(Flags::ECE), asks, "{stack}");
        assert_eq!(with(&lab, false, Flags::ECE), 0);
    }
}

#[test]
fn with_dctcp_the_window_shrinks_by_what_was_marked_and_every_packet_can_be() {
    let run = |marked| {
        let mut plan = page("linux-6.12", 3_000_000, 20.0);
        let with = settings("linux-6.12", &[("congestion_control", "dctcp")]);
        (plan.client, plan.server) = (with.clone(), with);
        plan.paths[0][1].ecn_mark = marked;
        let mut lab = Lab::open(plan);
        lab.run(120_000.0);
        lab
    };
    let (some, all) = (run(0.01), run(1.0));
    for lab in [&some, &all] {
        for end in [lab.client, lab.server] {
            let sent = lab.sent(end).map(|(_, one)| one.segment());
            assert!(sent.take_while(|one| !one.flags.fin()).all(|one| one.ect));
        }
        assert!(with(lab, true, Flags::ECE) > 0);
    }
    let last = |lab: &Lab| lab.sent(lab.server).last().map(|(at, _)| at).expect("data");
    assert!(last(&some) < last(&all), "each mark costs a part alone");
}

#[test]
fn without_a_peer_that_takes_marks_dctcp_is_reno() {
    let fetch = |control| {
        let mut plan = page("linux-6.12", 300_000, 20.0);
        plan.server = settings("linux-6.12", &[("congestion_control", control)]);
        let mut lab: Lab = Lab::open(plan);
        lab.run(60_000.0);
        let sent = lab.sent(lab.server);
        sent.map(|(at, one)| (at, *one.segment()))
            .collect::<Vec<_>>()
    };
    let (dctcp, reno) = (fetch("dctcp"), fetch("reno"));
    assert!(dctcp.iter().all(|(_, one)| !one.ect));
    assert_eq!(dctcp, reno);
}
