//! What the links of a part do to packets, and when that changes.

use anyhow::{bail, Result};
use rexmit_plan::{Part, Programs, Way};
use rexmit_time::Time;

use crate::clock;
use crate::net::{Host, Network};
use crate::report::Report;

/// The switch's interface whose queue a way is: what enters one end of a wire waits at the other.
fn device(way: Way) -> &'static str {
    match way {
        Way::H1Out => "s1-wire1",
        Way::H1In => "h1-wire",
        Way::H2Out => "s1-wire2",
        Way::H2In => "h2-wire",
    }
}

/// Gives every way its netem, and the hosts what the part says of offloads and routes.
pub fn shape(network: &Network, part: &Part, programs: &Programs) -> Result<()> {
    let ways = &part.ways;
    let all = [
        (Way::H1Out, &ways.h1_out),
        (Way::H1In, &ways.h1_in),
        (Way::H2Out, &ways.h2_out),
        (Way::H2In, &ways.h2_in),
    ];
    let mut lines = Vec::new();
    for (way, netem) in all {
        let device = device(way);
        lines.push(format!("qdisc del dev {device} root"));
        // The first one parts the packet from its socket (crates/guest/src/net/link.rs).
        lines.push(format!(
            "qdisc add dev {device} root handle 1: netem limit 1000000 delay 1us"
        ));
        lines.push(format!(
            "qdisc add dev {device} parent 1:1 handle 10: netem {netem}"
        ));
    }
    for (device, netem) in [("s1-eth1", &ways.port_to_h1), ("s1-eth2", &ways.port_to_h2)] {
        if let Some(netem) = netem {
            lines.push(format!("qdisc add dev {device} root netem {netem}"));
        }
    }
    network
        .switch
        .batch(programs.tc()?, &["-batch", "-"], &lines)?;
    for (host, peer) in [(&network.h1, &network.h2), (&network.h2, &network.h1)] {
        if part.offload {
            offload(host, programs)?;
        }
        if let Some(nanos) = part.rto_min_ns {
            let (address, device, ms) = (peer.address, host.device, nanos.div_ceil(1_000_000));
            let line = format!("route replace {address} dev {device} rto_min {ms}ms");
            host.namespace
                .batch(programs.ip()?, &["-batch", "-"], &[line])?;
        }
    }
    Ok(())
}

/// Lets a host's interface take super-segments, as network cards do.
fn offload(host: &Host, programs: &Programs) -> Result<()> {
    let device = host.device;
    let line = format!("link set dev {device} gso_max_segs 65535");
    host.namespace
        .batch(programs.ip()?, &["-batch", "-"], &[line])?;
    let words = [
        "-K", device, "tx", "on", "sg", "on", "tso", "on", "gso", "on",
    ];
    let output = host
        .namespace
        .command(programs.ethtool()?)
        .args(words)
        .output()?;
    if !output.status.success() {
        bail!(
            "ethtool {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// Makes the part's changes, each at its time.
pub fn change(network: &Network, part: &Part, programs: &Programs, start_ns: u64, report: &Report) {
    let mut left = part.changes.as_slice();
    while let Some(first) = left.first() {
        let same = left.partition_point(|change| change.at_ns <= first.at_ns);
        let (now, later) = left.split_at(same);
        left = later;
        clock::sleep_until(Time::from_nanos(start_ns + first.at_ns));
        let lines: Vec<String> = now
            .iter()
            .map(|change| {
                let device = device(change.way);
                format!(
                    "qdisc change dev {device} parent 1:1 handle 10: netem {}",
                    change.netem
                )
            })
            .collect();
        let made = programs
            .tc()
            .and_then(|tc| network.switch.batch(tc, &["-batch", "-"], &lines));
        if let Err(error) = made {
            let body = serde_json::json!({"part": part.name, "message": format!("{error:#}")});
            report.event("part-error", &body);
            return;
        }
    }
}
