//! What the links of a part do to packets, and when that changes.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{anyhow, bail, Context, Result};
use rexmit_plan::{Part, Programs, Side, Way};
use rexmit_time::Time;

use crate::clock;
use crate::net::changes::{self, Route, Told, RTAX_RTO_MIN};
use crate::net::Network;

/// The switch's interface whose queue a way is: what enters one end of a wire waits at the other.
fn device(way: Way) -> &'static str {
    match way {
        Way::H1Out => "s1-wire1",
        Way::H1In => "h1-wire",
        Way::H2Out => "s1-wire2",
        Way::H2In => "h2-wire",
    }
}

/// Where packets go that are lost by their flags.
const LOST: &str = "lost";

/// Gives every way its netem, and the hosts what the part says of routes.
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
    tc(network, programs, &lines)?;
    if !part.tails.is_empty() {
        changes::change(&network.switch, |changes| {
            changes.dummy(LOST);
            let state = Told {
                up: true,
                ..Told::default()
            };
            changes.tell(LOST, &state)
        })?;
    }
    for (host, peer) in [(&network.h1, &network.h2), (&network.h2, &network.h1)] {
        if let Some(nanos) = part.rto_min_ns {
            let ms = u32::try_from(nanos.div_ceil(1_000_000))?;
            let route = Route {
                to: Some(peer.address),
                device: Some(host.device),
                metrics: &[(RTAX_RTO_MIN, ms)],
                ..Route::default()
            };
            changes::change(&host.namespace, |changes| changes.route(&route))?;
        }
    }
    Ok(())
}

/// Makes the part's changes, each at its time.
pub fn change(network: &Network, part: &Part, programs: &Programs, start_ns: u64) -> Result<()> {
    let steps = steps(part);
    let mut left = steps.as_slice();
    while let Some(&(at_ns, _)) = left.first() {
        let (now, later) = left.split_at(left.partition_point(|step| step.0 <= at_ns));
        left = later;
        clock::sleep_until(Time::from_nanos(start_ns + at_ns));
        let lines: Vec<String> = now.iter().map(|(_, line)| line.clone()).collect();
        tc(network, programs, &lines)?;
    }
    Ok(())
}

/// Runs `tc -batch` in the switch: what netems are to do is in its words.
fn tc(network: &Network, programs: &Programs, lines: &[String]) -> Result<()> {
    let program = programs.tc()?;
    let mut command = Command::new(program);
    command
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // By a thread in the namespace: with work of its own between fork and exec it would cost a copy of this program.
    let spawned = network.switch.run(|| Ok(command.spawn()?));
    let mut child = spawned.with_context(|| format!("cannot run {}", program.display()))?;
    let text = lines.join("\n") + "\n";
    // A program that stops at a bad line closes its input early: its own words tell more than this error.
    let _ = child
        .stdin
        .take()
        .ok_or_else(|| anyhow!("no standard input"))?
        .write_all(text.as_bytes());
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let (status, errors) = (output.status, errors.trim());
        bail!("tc failed ({status}): {errors}; it was given:\n{text}");
    }
    Ok(())
}

/// Lines for `tc -batch` and when they are due after the part's start, in that order.
fn steps(part: &Part) -> Vec<(u64, String)> {
    let mut steps: Vec<(u64, String)> = part
        .changes
        .iter()
        .map(|change| {
            let (device, netem) = (device(change.way), &change.netem);
            let line = format!("qdisc change dev {device} parent 1:1 handle 10: netem {netem}");
            (change.at_ns, line)
        })
        .collect();
    for tails in &part.tails {
        let entry = match tails.side {
            Side::H1 => "h1-wire",
            Side::H2 => "h2-wire",
        };
        let flag = if tails.fin { "0x01" } else { "0x08" };
        // Before the filter that hands everything on. IPv4 without options: the flags are at byte 33.
        let filter = format!("dev {entry} parent ffff: pref 1");
        let which = format!("u32 match u8 0x06 0xff at 9 match u8 {flag} {flag} at 33");
        let lose = format!("action mirred egress redirect dev {LOST}");
        steps.push((
            tails.from_ns,
            format!("filter add {filter} protocol ip {which} {lose}"),
        ));
        steps.push((tails.until_ns, format!("filter del {filter}")));
    }
    steps.sort_by_key(|step| step.0);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_the_order_of_time() {
        let text = r#"{"version": 1, "parts": [{
            "name": "x", "causes": 0, "snap_bytes": 96, "mtu": 1500, "offload": false,
            "ways": {"h1_out": "a", "h1_in": "b", "h2_out": "c", "h2_in": "d"},
            "changes": [{"at_ns": 5, "way": "h1_out", "netem": "delay 9ms"}],
            "tails": [{"from_ns": 2, "until_ns": 7, "side": "h2", "fin": true}],
            "sysctls": {}, "congestion_control": "reno", "patience_ns": 1, "settling_ns": 2, "connections": []}]}"#;
        let plan = rexmit_plan::Plan::parse(text).unwrap();
        let steps = steps(&plan.parts[0]);
        assert_eq!(
            steps.iter().map(|step| step.0).collect::<Vec<_>>(),
            [2, 5, 7]
        );
        assert!(
            steps[0].1.starts_with("filter add dev h2-wire")
                && steps[0].1.contains("0x01 0x01 at 33")
        );
        assert_eq!(
            steps[1].1,
            "qdisc change dev s1-wire1 parent 1:1 handle 10: netem delay 9ms"
        );
        assert_eq!(steps[2].1, "filter del dev h2-wire parent ffff: pref 1");
    }
}
