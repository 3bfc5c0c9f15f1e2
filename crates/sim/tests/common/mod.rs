//! Small corpora, and what is made of them.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::io;

use rexmit_sim::synth::{make, Capture, Corpus, Made, Mix, Outputs, Point};
use rexmit_tcp::stacks;
use rexmit_time::Time;
use serde::Serialize;
use serde_json::Value;

/// A rough mix: small connections on a network that does everything to packets.
pub fn mix() -> Mix {
    Mix::from_json(
        r#"{
        "about": "all that can happen", "arrivals_per_s": 5,
        "network": {
            "rtt_s": {"median": 0.08, "sigma": 1, "least": 0.001, "most": 1},
            "rate_bps": [{"value": 5000000, "weight": 1}, {"value": 50000000, "weight": 1}],
            "asymmetry": [{"value": 1, "weight": 1}],
            "queue_packets": {"least": 10, "most": 100},
            "mtu_bytes": [{"value": 1500, "weight": 1}, {"value": 576, "weight": 1}],
            "jitter_share": 0.5, "jitter": {"least": 0.01, "most": 0.5},
            "loss_share": 0.6, "loss": {"least": 0.005, "most": 0.1},
            "burst_share": 0.2, "burst_every_s": {"least": 0.1, "most": 2},
            "burst_s": {"least": 0.005, "most": 0.3},
            "ack_loss_share": 0.3, "ack_loss": {"least": 0.01, "most": 0.2},
            "reorder_share": 0.3, "reorder": {"least": 0.01, "most": 0.1},
            "reorder_extent": {"least": 0.01, "most": 0.8},
            "duplicate_share": 0.2, "duplicate": {"least": 0.005, "most": 0.05},
            "stall_share": 0.3, "stall_every_s": {"least": 0.5, "most": 5},
            "stall_s": {"least": 0.2, "most": 3}
        },
        "workload": {
            "requests": 2, "request_bytes": {"median": 400, "sigma": 0.5, "least": 50, "most": 3000},
            "response_bytes": {
                "body": {"median": 10000, "sigma": 1.5, "least": 100, "most": 300000},
                "tail_share": 0.02, "tail_from": 100000, "tail_alpha": 1.2, "tail_most": 1000000
            },
            "think_s": {"median": 0.2, "sigma": 1.5, "least": 0.001, "most": 20},
            "work_s": {"median": 0.01, "sigma": 1, "least": 0.001, "most": 1},
            "upload_share": 0.2, "server_closes_share": 0.5, "abort_share": 0.05, "reuse_share": 0.1
        }
    }"#,
    )
    .unwrap()
}

/// A corpus of hosts with these stacks.
pub fn corpus(mix: Mix, stacks: &[&'static str], seed: u64, connections: u64) -> Corpus {
    let stacks: Vec<_> = stacks
        .iter()
        .map(|name| (*name, stacks::page(name).unwrap().settings))
        .collect();
    Corpus {
        seed,
        connections,
        mix,
        senders: stacks.clone(),
        receivers: stacks,
        perturb: 0.0,
        snaplen: 128,
        begin: Time::from_nanos(1_700_000_000_000_000_000),
        jobs: 1,
    }
}

/// Hosts of all stacks, whose settings differ a little.
pub fn of_all_stacks(seed: u64, connections: u64, jobs: usize) -> Corpus {
    let stacks = [
        "linux-2.4",
        "linux-3.10",
        "linux-6.12",
        "windows-xp",
        "freebsd-5",
        "solaris-10",
        "rfc",
    ];
    Corpus {
        perturb: 0.05,
        jobs,
        ..corpus(mix(), &stacks, seed, connections)
    }
}

/// Time, bytes, and length on the wire.
pub type Packets = Vec<(Time, Vec<u8>, u32)>;

struct Kept<'a>(&'a mut Packets);

impl Capture for Kept<'_> {
    fn packet(&mut self, time: Time, bytes: &[u8], original: u32) -> io::Result<()> {
        self.0.push((time, bytes.to_vec(), original));
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a corpus has: captures at each of [`Point::ALL`], and the tables.
#[derive(Default, PartialEq)]
pub struct All {
    pub captures: [Packets; 3],
    pub retransmissions: Vec<Row>,
    pub connections: Vec<Row>,
    pub made: Made,
}

impl All {
    /// In how many workloads a text stands.
    pub fn workloads(&self, text: &str) -> usize {
        let rows = self.connections.iter();
        rows.filter(|row| row["workload"].contains(text)).count()
    }
}

/// Makes a corpus.
pub fn run(corpus: &Corpus) -> All {
    let mut all = All::default();
    let [sender, switch, receiver] = &mut all.captures;
    let outputs = Outputs {
        captures: vec![
            (Point::Sender, Kept(sender)),
            (Point::Switch, Kept(switch)),
            (Point::Receiver, Kept(receiver)),
        ],
        retransmissions: &mut |row| put(&mut all.retransmissions, &row),
        connections: &mut |row| put(&mut all.connections, &row),
    };
    all.made = make(corpus, outputs, |_| Ok::<(), io::Error>(())).unwrap();
    all
}

/// A row by the names of its fields, without those that are null.
pub type Row = BTreeMap<String, String>;

fn put(rows: &mut Vec<Row>, row: &impl Serialize) -> io::Result<()> {
    let Value::Object(row) = serde_json::to_value(row)? else {
        panic!("a row is an object");
    };
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    let cells = row.into_iter();
    let cells = cells.filter_map(|(name, value)| Some((name, text(value)?)));
    rows.push(cells.collect());
    Ok(())
}
