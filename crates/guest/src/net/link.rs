//! What a link does to packets, as lines for `tc -batch`.

use rexmit_plan::Link;

/// The queueing discipline of one direction of a link whose ends lie outside the hosts: netem with rate and delay.
///
/// netem counts Ethernet frames against the rate, and its limit counts every packet it holds: those that wait for the
/// rate and those under way.
///
/// A second netem stands before it, which takes the first microsecond of the delay. Crossing from one namespace to the next
/// does not part a packet from its socket, and the first netem on its way does so in part only (`skb_orphan_partial`):
/// while such a packet waits, its sender takes it for still queued in the host and refuses to retransmit it
/// (`skb_still_in_host_queue`). The second netem lets go of it for good, as a network card does.
pub fn wire(device: &str, link: &Link) -> Vec<String> {
    let Link {
        queue_packets,
        rate_bps,
        ..
    } = link;
    let rest = path(link, link.delay_ns.saturating_sub(1000));
    vec![
        format!("qdisc add dev {device} root handle 1: netem limit 1000000 delay 1us"),
        format!("qdisc add dev {device} parent 1:1 handle 10: netem limit {queue_packets} {rest} rate {rate_bps}bit"),
    ]
}

/// As mininet's `TCLink` shapes an interface: htb for the rate, netem under it for delay and loss.
///
/// The packet is still in the host while it waits there: the kernel refuses to retransmit it
/// (`skb_still_in_host_queue`).
pub fn mininet(device: &str, link: &Link) -> Vec<String> {
    vec![
        format!("qdisc add dev {device} root handle 5: htb default 1"),
        format!(
            "class add dev {device} parent 5: classid 5:1 htb rate {}bit burst 15k",
            link.rate_bps
        ),
        format!(
            "qdisc add dev {device} parent 5:1 handle 10: netem limit {} {}",
            link.queue_packets,
            path(link, link.delay_ns)
        ),
    ]
}

/// All that enters `from` leaves by `to`: with its counterpart, a wire between two interfaces.
pub fn redirect(from: &str, to: &str) -> Vec<String> {
    vec![
        format!("qdisc add dev {from} handle ffff: ingress"),
        format!("filter add dev {from} parent ffff: protocol all matchall action mirred egress redirect dev {to}"),
    ]
}

fn path(link: &Link, delay_ns: u64) -> String {
    let mut text = format!("delay {}", time(delay_ns));
    if link.jitter_ns > 0 {
        text += &format!(" {}", time(link.jitter_ns));
    }
    if link.loss > 0.0 {
        text += &format!(" loss random {}%", link.loss * 100.0);
    }
    text
}

/// To the nearest microsecond: tc knows nothing finer.
fn time(nanos: u64) -> String {
    format!("{}us", (nanos + 500) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link {
        rate_bps: 7_200_000,
        delay_ns: 25_000_400,
        jitter_ns: 600,
        loss: 0.01,
        queue_packets: 1000,
    };

    #[test]
    fn the_two_delays_of_a_wire_are_the_link_s() {
        let lines = wire("x", &LINK);
        assert!(lines[0].ends_with("delay 1us"), "{lines:?}");
        let rest = "netem limit 1000 delay 24999us 1us loss random 1% rate 7200000bit";
        assert!(lines[1].ends_with(rest), "{lines:?}");
    }

    #[test]
    fn a_link_without_delay_or_loss_names_none() {
        let link = Link {
            delay_ns: 0,
            jitter_ns: 0,
            loss: 0.0,
            ..LINK
        };
        assert!(wire("x", &link)[1].ends_with("limit 1000 delay 0us rate 7200000bit"));
    }
}
