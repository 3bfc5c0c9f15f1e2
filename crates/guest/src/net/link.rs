//! What a link does to packets: the queueing disciplines at its ends.

use anyhow::Result;
use rexmit_plan::Link;

use super::qdisc::{self, Request};
use crate::interfaces;

/// What the first netem of a wire with two takes off its delay.
const FIRST_NS: u64 = 1000;

/// Since when crossing from one namespace to the next does not part a packet from its socket (`skb_scrub_packet`).
const SOCKETS_KEPT: interfaces::Series = (4, 19);

/// How many netems each direction of a wire has on this kernel.
pub fn netems() -> usize {
    if interfaces::kernel() >= SOCKETS_KEPT {
        2
    } else {
        1
    }
}

/// The queueing disciplines of one direction of a link whose ends lie outside the hosts: netem with rate and delay.
///
/// netem counts Ethernet frames against the rate, and its limit counts every packet it holds: those that wait for the
/// rate and those under way.
///
/// A second netem stands before it, which takes the first microsecond of the delay. Crossing from one namespace to the next
/// does not part a packet from its socket, and the first netem on its way does so in part only (`skb_orphan_partial`):
/// while such a packet waits, its sender takes it for still queued in the host and refuses to retransmit it
/// (`skb_still_in_host_queue`). The second netem lets go of it for good, as a network card does.
///
/// Kernels before 4.19 let go of it where it leaves its namespace, so one netem is enough for them; and Linux 3.10 stalls
/// for a minute and more with one netem below another.
pub fn wire(device: &str, link: &Link) -> Vec<Request> {
    wire_of(netems(), device, link)
}

/// What makes a direction of a link that stands already [as](wire) `link`.
pub fn changed(device: &str, link: &Link) -> Option<Request> {
    wire(device, link).pop().map(Request::changed)
}

fn wire_of(netems: usize, device: &str, link: &Link) -> Vec<Request> {
    if netems == 1 {
        return vec![qdisc::netem(
            device,
            qdisc::Place::Root,
            Some(link.rate_bps),
            link,
        )];
    }
    let rest = Link {
        delay_ns: link.delay_ns.saturating_sub(FIRST_NS),
        ..link.clone()
    };
    vec![
        qdisc::delay(device, FIRST_NS),
        qdisc::netem(
            device,
            qdisc::Place::Below(1, 1),
            Some(link.rate_bps),
            &rest,
        ),
    ]
}

/// As mininet's `TCLink` shapes an interface: an htb with a class for the rate, and below it netem for delay and loss.
///
/// The packet is still in the host while it waits there: the kernel refuses to retransmit it
/// (`skb_still_in_host_queue`).
pub fn in_host(device: &str, link: &Link) -> Result<[Request; 3]> {
    Ok([
        qdisc::htb(device),
        qdisc::class(device, link.rate_bps)?,
        qdisc::netem(device, qdisc::Place::Below(5, 1), None, link),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(delay_ns: u64) -> Link {
        Link {
            rate_bps: 7_200_000,
            delay_ns,
            queue_packets: 1000,
            ..Link::default()
        }
    }

    #[test]
    fn the_delays_of_a_wire_are_the_link_s() {
        let delay = |netems| -> u64 {
            let requests = wire_of(netems, "x", &link(25_000_000));
            assert_eq!(requests.len(), netems);
            requests.iter().filter_map(Request::delay_ns).sum()
        };
        assert_eq!((delay(1), delay(2)), (25_000_000, 25_000_000));
    }

    #[test]
    fn a_link_without_delay_has_none_after_the_first_netem() {
        let delays: Vec<_> = wire_of(2, "x", &link(0))
            .iter()
            .map(Request::delay_ns)
            .collect();
        assert_eq!(delays, [Some(FIRST_NS), Some(0)]);
    }
}
