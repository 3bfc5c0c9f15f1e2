//! Parts of a corpus: many connections at a time between h1 and h2, captured at both hosts and at the switch, while the
//! kernel records why it sends what it sends again, and what its sockets wait for if it can.

mod behaviour;
mod links;
mod tap;
mod traffic;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_plan::{Layout, Link, NetworkPlan, Offloads, Part, Place, Programs};
use rexmit_time::Time;
use serde_json::json;

use crate::clock;
use crate::interfaces;
use crate::kernel::causes::Log;
use crate::net::{Manner, Namespace, Network};
use crate::preflight::Kernel;
use crate::report::Report;
use crate::settings::{self, Former};

use self::tap::Tap;

/// A part is ready at a multiple of this and starts at the next.
const BOUNDARY_NS: u64 = 10_000_000;

/// Runs `part` and reports what it made.
pub fn run(
    part: &Part,
    programs: &Programs,
    kernel: &Kernel,
    share: &Path,
    report: &Report,
) -> Result<()> {
    report.doing(None, format!("{}: setting up", part.name))?;
    let plan = plain(part.mtu);
    kernel.require_part(part, &plan)?;
    let offloads = if part.offload {
        Offloads::ALL
    } else {
        Offloads::default()
    };
    let manner = Manner {
        offloads,
        ..Manner::default()
    };
    let network = Network::set_up(&plan, manner)?;
    links::shape(&network, part, programs)?;
    let hosts = [&network.h1.namespace, &network.h2.namespace];
    let mut former = Former::default();
    let read_back = settings::apply(&hosts, &part.sysctls, &part.congestion_control, &mut former)?;
    // They are looked for in either case: a part that records makes the same calls up to here as one that does not.
    let logs = Log::ALL.map(|log| (log.is_kept() && part.causes > 0).then_some(log));
    for log in logs.into_iter().flatten() {
        log.start(part.causes)?;
    }
    let traffic = traffic::Traffic::set_up(&network, part)?;
    let before = [counters(hosts[0])?, counters(hosts[1])?];
    let realtime_ns = clock::realtime_over_monotonic_ns();
    // From here on nothing depends on how often the clock was read until now: another kernel boots a little later.
    let ready_ns = clock::now().as_nanos().next_multiple_of(BOUNDARY_NS);
    clock::sleep_until(Time::from_nanos(ready_ns));
    let taps = start_taps(part, &network, share)?;
    let start_ns = ready_ns + BOUNDARY_NS;
    let body = json!({
        "part": part.name, "start_ns": start_ns, "realtime_ns": realtime_ns, "read_back": read_back,
    });
    report.event("part-start", &body)?;

    let outcomes = thread::scope(|scope| {
        let changed = scope.spawn(|| links::change(&network, part, programs, start_ns));
        let outcomes = traffic.run(start_ns, |done, of| {
            let doing = format!("{}: {done} of {of} connections", part.name);
            // What cannot be told now cannot be told afterwards either, and fails there.
            let _ = report.doing(None, doing);
        });
        let changed = changed.join();
        changed.unwrap_or_else(|_| Err(anyhow!("what changes the links panicked")))?;
        anyhow::Ok(outcomes)
    })?;
    report.doing(None, format!("{}: waiting for the last packets", part.name))?;
    thread::sleep(Duration::from_nanos(part.settling_ns));

    let mut captured = Vec::new();
    for tap in taps {
        captured.push(tap.finish()?);
    }
    for log in logs.into_iter().flatten() {
        log.keep(&share.join(format!("{}.{}", part.name, log.ending())))?;
    }
    let after = [counters(hosts[0])?, counters(hosts[1])?];
    let body = json!({
        "part": part.name, "virtual_ns": clock::now().as_nanos(), "connections": outcomes, "captured": captured,
        "counters": {"h1": [before[0], after[0]], "h2": [before[1], after[1]]},
    });
    report.event("part-end", &body)
}

fn start_taps(part: &Part, network: &Network, share: &Path) -> Result<Vec<Tap>> {
    let folder = share.join("captures");
    fs::create_dir_all(&folder)?;
    let points = [
        ("sender", &network.h1.namespace, network.h1.device),
        ("switch", &network.switch, "s1-eth1"),
        ("receiver", &network.h2.namespace, network.h2.device),
    ];
    points
        .into_iter()
        .map(|(point, namespace, device)| {
            let path = folder.join(format!("{}-{point}.pcapng", part.name));
            Tap::start(namespace, device, &path, part.snap_bytes)
                .with_context(|| format!("the capture at {device}"))
        })
        .collect()
}

/// The hosts and wires of a part before its links are shaped.
fn plain(mtu: u32) -> NetworkPlan {
    let link = Link {
        rate_bps: 1_000_000_000,
        delay_ns: 1_000_000,
        queue_packets: 1000,
        ..Link::default()
    };
    NetworkPlan {
        family: 4,
        at: Place::Wire,
        mtu,
        layout: Layout::Links(Box::new([link.clone(), link])),
    }
}

/// The counters of a host as the kernel prints them.
fn counters(host: &Namespace) -> Result<String> {
    host.run(|| {
        let mut text = String::new();
        for file in ["snmp", "netstat"] {
            let path = interfaces::of_this_thread(&format!("net/{file}"));
            text += &fs::read_to_string(&path).with_context(|| path.clone())?;
        }
        if text.is_empty() {
            bail!("{} has no counters", host.name());
        }
        Ok(text)
    })
}
