//! What hosts do of their own accord in corpora of the model.

mod common;

use std::collections::BTreeMap;

use rexmit_sim::synth::{
    Choice, Corpus, CutsMix, DefersMix, LogNormal, LogUniform, StopsMix, Weighted,
};
use rexmit_wire::{FlowKey, TcpPacket};

use common::{of_all_stacks as corpus, run, All, Packets};

/// A quiet network: what is sent again is due to hosts.
fn quiet(seed: u64) -> Corpus {
    let mut corpus = corpus(seed, 200, 2);
    let network = &mut corpus.mix.network;
    for share in [
        &mut network.jitter_share,
        &mut network.loss_share,
        &mut network.burst_share,
        &mut network.ack_loss_share,
        &mut network.reorder_share,
        &mut network.duplicate_share,
        &mut network.stall_share,
    ] {
        *share = 0.0;
    }
    network.queue_packets = LogUniform {
        least: 2_000.0,
        most: 2_000.0,
    };
    corpus.mix.workload.abort_share = 0.0;
    corpus.mix.workload.reuse_share = 0.0;
    corpus
}

fn stops(update_loss: f64) -> StopsMix {
    StopsMix {
        share: 1.0,
        count: 3.0,
        pause_s: LogUniform {
            least: 0.5,
            most: 30.0,
        },
        buffer_share: 1.0,
        buffer_bytes: LogUniform {
            least: 4_000.0,
            most: 20_000.0,
        },
        update_loss,
    }
}

/// The packets of a capture, flow by flow.
fn flows(capture: &Packets) -> BTreeMap<FlowKey, Vec<(f64, TcpPacket<'_>)>> {
    let mut flows: BTreeMap<FlowKey, Vec<_>> = BTreeMap::new();
    for (time, bytes, original) in capture {
        let packet = TcpPacket::parse_captured(&bytes[14..], *original as usize - 14).unwrap();
        let seconds = (time.as_nanos() % 10_000_000_000_000) as f64 / 1e9;
        flows
            .entry(packet.flow())
            .or_default()
            .push((seconds, packet));
    }
    flows
}

/// Packets before the next number of their flow that carry nothing: probes of a window.
fn probes(all: &All) -> usize {
    let mut found = 0;
    for packets in flows(&all.captures[0]).values() {
        let mut next = None;
        for (_, packet) in packets {
            let (start, end) = (packet.seq(), packet.seq() + packet.seq_len());
            let behind = next.is_some_and(|next| start + 1 == next);
            found += usize::from(behind && packet.seq_len() == 0 && !packet.flags().rst());
            next = next.filter(|next| end.is_before(*next)).or(Some(end));
        }
    }
    found
}

#[test]
fn windows_shut_are_probed_and_open_and_probes_are_no_retransmissions() {
    let mut corpus = quiet(1);
    corpus.mix.workload.stops = Some(stops(0.0));
    let all = run(&corpus);
    let mut shut = 0;
    let mut opened = 0;
    for packets in flows(&all.captures[2]).values() {
        let mut closed = false;
        for (_, packet) in packets.iter().filter(|(_, packet)| !packet.flags().rst()) {
            let zero = packet.window() == 0;
            shut += usize::from(zero && !closed);
            opened += usize::from(closed && !zero);
            closed = zero;
        }
    }
    assert!(
        shut > 50 && opened > shut / 2,
        "{shut} shut, {opened} opened"
    );
    let probes = probes(&all);
    assert!(probes > shut, "{probes} probes of {shut} windows");
    // No byte of a probe is in the truth.
    let retransmissions = &all.retransmissions;
    assert!(retransmissions
        .iter()
        .all(|row| row["seq_start"] != row["seq_end"]));
    assert!(
        retransmissions.len() < probes / 4,
        "{} of {probes}",
        retransmissions.len()
    );
}

#[test]
fn an_update_that_is_lost_is_asked_for_by_probes() {
    let length = |update_loss| {
        let mut corpus = quiet(2);
        corpus.mix.workload.stops = Some(stops(update_loss));
        probes(&run(&corpus))
    };
    let (none, many) = (length(0.0), length(0.9));
    assert!(many > none, "{none} probes, {many} where updates are lost");
}

#[test]
fn deferred_accepts_repeat_syn_acks_and_not_data() {
    let mut corpus = quiet(3);
    corpus.mix.workload.defers = Some(DefersMix {
        share: 1.0,
        defer_s: Choice(vec![Weighted {
            value: 1,
            weight: 1.0,
        }]),
        first_think_s: LogUniform {
            least: 2.0,
            most: 9.0,
        },
    });
    let all = run(&corpus);
    let retransmissions = &all.retransmissions;
    let syn_acks: Vec<_> = retransmissions
        .iter()
        .filter(|row| row["cause"] == "synack-timer")
        .collect();
    assert!(syn_acks
        .iter()
        .all(|row| row["need"] == "spurious" && row["mechanism"] == "rto"));
    // Most of those who defer repeat theirs; Linux 2.4 only after 3 s. Others never do.
    let deferred = all.workloads(r#""deferred":true"#);
    let others = all.workloads(r#""deferred":false"#);
    assert!(deferred > 40 && others > 40, "{deferred} and {others}");
    let repeats = syn_acks.len();
    assert!(repeats > deferred / 2, "{repeats} of {deferred}");
}

#[test]
fn cuts_are_resets_of_either_end() {
    let mut corpus = quiet(4);
    corpus.mix.workload.cuts = Some(CutsMix {
        share: 1.0,
        server_share: 0.5,
        reset_share: 0.5,
        wait_s: LogUniform {
            least: 0.001,
            most: 0.5,
        },
    });
    let all = run(&corpus);
    let (mut by_server, mut by_client) = (0, 0);
    for (flow, packets) in flows(&all.captures[1]) {
        if packets.iter().any(|(_, packet)| packet.flags().rst()) {
            let server = flow.src_port == 80 || flow.src_port == 443;
            *(if server {
                &mut by_server
            } else {
                &mut by_client
            }) += 1;
        }
    }
    assert!(by_server > 30 && by_client > 30, "{by_server}, {by_client}");
    let closes = all.workloads(r#""cut_resets":false"#);
    assert!((70..130).contains(&closes), "{closes}");
}

#[test]
fn servers_linger_before_they_close() {
    let mut corpus = quiet(5);
    corpus.mix.workload.server_closes_share = 1.0;
    let silence = |corpus: &Corpus| {
        let all = run(corpus);
        let last = |packets: &Vec<(f64, TcpPacket<'_>)>| {
            let fin = packets.iter().find(|(_, packet)| packet.flags().fin())?.0;
            let data = packets
                .iter()
                .filter(|(_, packet)| packet.payload_len() > 0);
            let mut lasts = data.map(|(time, _)| *time).filter(|time| *time < fin);
            Some(fin - lasts.next_back()?)
        };
        let flows = flows(&all.captures[0]);
        let servers = flows
            .iter()
            .filter(|(flow, _)| flow.src_port == 80 || flow.src_port == 443);
        let mut found: Vec<f64> = servers.filter_map(|(_, packets)| last(packets)).collect();
        found.sort_by(f64::total_cmp);
        found[found.len() / 2]
    };
    let at_once = silence(&corpus);
    corpus.mix.workload.linger_s = Some(LogNormal {
        median: 20.0,
        sigma: 0.5,
        least: 5.0,
        most: 100.0,
    });
    let late = silence(&corpus);
    assert!(
        at_once < 1.0 && (10.0..40.0).contains(&late),
        "{at_once}, {late}"
    );
}
