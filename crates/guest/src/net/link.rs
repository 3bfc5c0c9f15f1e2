//! What a link does to packets, as lines for `tc -batch`.

use crate::plan::Link;

/// The queueing discipline of one direction of a link whose ends lie outside the hosts: netem with rate and delay.
///
/// netem counts Ethernet frames against the rate, and its limit counts every packet it holds: those that wait for the
/// rate and those under way.
pub fn wire(device: &str, link: &Link) -> String {
    format!(
        "qdisc add dev {device} root netem limit {} {} rate {}bit",
        link.queue_packets,
        path(link),
        link.rate_bps
    )
}

/// As mininet's `TCLink` shapes an interface: htb for the rate, netem under it for delay and loss.
///
/// The packet is still in the host while it waits there: the kernel refuses to resend it
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
            path(link)
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

fn path(link: &Link) -> String {
    let mut text = format!("delay {}", time(link.delay_ns));
    if link.jitter_ns > 0 {
        text += &format!(" {}", time(link.jitter_ns));
    }
    if link.loss > 0.0 {
        text += &format!(" loss random {}%", link.loss * 100.0);
    }
    text
}

/// tc knows no unit below the microsecond, but fractions of one.
fn time(nanos: u64) -> String {
    format!("{}.{:03}us", nanos / 1000, nanos % 1000)
}
