//! How the packets of each operating system look, besides what its TCP does: the table that a fingerprint reads.

use std::net::Ipv4Addr;

use crate::bytes::Style;

/// The order of a SYN's options. Each is aligned to four bytes by NOPs before it; SACK-permitted takes the place of the two
/// NOPs before a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynOrder {
    /// Segment size, SACK-permitted, timestamp, window scale.
    ScaleLast,
    /// Segment size, window scale, timestamp, SACK-permitted.
    ScaleSecond,
}

/// What an operating system puts into headers.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The stack's name begins so, and no other line's beginning of it is longer.
    pub stack: &'static str,
    /// The first TTL.
    pub ttl: u8,
    /// The order of a SYN's options.
    pub order: SynOrder,
    /// A SYN-ACK has the IP identification 0.
    pub syn_ack_id_zero: bool,
    /// Receive buffers to choose from, bytes: the window of the SYN follows. None keeps the stack's own.
    pub receive_buffers: &'static [u32],
    /// Ports of clients, first and last.
    pub ports: (u16, u16),
    /// Tick clocks that it was built with, ticks a second.
    pub ticks: &'static [u32],
    /// Whether a listener that defers accepting repeats its SYN-ACK at every timeout, though the client has answered; none
    /// where listeners cannot defer, or nothing of it is seen.
    pub repeats_deferred: Option<bool>,
    /// Where this is from.
    pub source: &'static str,
}

/// Signatures in p0f's words are public facts of the database p0f.fp 3.09b, those of version 2 of its predecessor of 2006.
const LOOKS: &[Look] = &[
    Look {
        stack: "linux-2.4",
        ttl: 64,
        order: SynOrder::ScaleLast,
        syn_ack_id_zero: true,
        receive_buffers: &[],
        ports: (1_024, 4_999),
        ticks: &[100, 1_000],
        repeats_deferred: Some(true),
        source: "p0f 3: *:64:0:*:mss*4,0-2:mss,sok,ts,nop,ws:df,id+; SYN-ACK without id+; \
                 ip_local_port_range 1024 4999; HZ of 1000 in Red Hat's kernels; \
                 tcp_timer.c tcp_synack_timer, tcp_minisocks.c tcp_check_req",
    },
    Look {
        stack: "linux-3",
        ttl: 64,
        order: SynOrder::ScaleLast,
        syn_ack_id_zero: true,
        receive_buffers: &[],
        ports: (32_768, 61_000),
        ticks: &[1_000, 250, 100],
        repeats_deferred: Some(false),
        source: "p0f 3: *:64:0:*:mss*10,4-7:mss,sok,ts,nop,ws:df,id+; Kconfig.hz; ip_local_port_range 32768 61000; \
                 inet_connection_sock.c syn_ack_recalc",
    },
    Look {
        stack: "linux-",
        ttl: 64,
        order: SynOrder::ScaleLast,
        syn_ack_id_zero: true,
        receive_buffers: &[],
        ports: (32_768, 60_999),
        ticks: &[250, 1_000, 100],
        repeats_deferred: Some(false),
        source: "net/ipv4/tcp_output.c tcp_options_write; window mss*44, scale 7; Kconfig.hz; ip_local_port_range 32768 60999; \
                 inet_connection_sock.c syn_ack_recalc",
    },
    Look {
        stack: "windows-xp",
        ttl: 128,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[65_535, 16_384, 17_520],
        ports: (1_025, 5_000),
        ticks: &[10],
        repeats_deferred: None,
        source: "p0f 3: *:128:0:*:65535,0 and 16384,0:mss,nop,nop,sok:df,id+; Microsoft KB 196271: MaxUserPort 5000",
    },
    Look {
        stack: "freebsd-5",
        ttl: 64,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[],
        ports: (49_152, 65_535),
        ticks: &[100, 1_000],
        repeats_deferred: None,
        source: "p0f 2: 65535:64:1:60:M*,N,W0-1,N,N,T; ip(4): portrange.first 49152 since 5.2; tuning(7): HZ of 1000",
    },
    Look {
        stack: "solaris-10",
        ttl: 64,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[49_640],
        ports: (32_768, 65_535),
        ticks: &[100, 1_000],
        repeats_deferred: None,
        source: "p0f 3: *:64:0:*:mss*34,0:mss,nop,ws,nop,nop,sok:df,id+; tcp_smallest_anon_port 32768; hires_tick",
    },
    Look {
        stack: "linux-4",
        ttl: 64,
        order: SynOrder::ScaleLast,
        syn_ack_id_zero: true,
        receive_buffers: &[],
        ports: (32_768, 61_000),
        ticks: &[250, 1_000, 100],
        repeats_deferred: Some(false),
        source: "p0f 3: *:64:0:*:mss*20,7:mss,sok,ts,nop,ws:df,id+; Kconfig.hz; ip_local_port_range 32768 61000, before 4.2; \
                 inet_connection_sock.c syn_ack_recalc",
    },
    Look {
        stack: "",
        ttl: 64,
        order: SynOrder::ScaleLast,
        syn_ack_id_zero: false,
        receive_buffers: &[],
        ports: (49_152, 65_535),
        ticks: &[],
        repeats_deferred: None,
        source: "assumption: RFC 1700's TTL, RFC 6335's ports, the order of Linux",
    },
    // At the end: the place of a line is part of the addresses of its servers.
    Look {
        stack: "windows-11",
        ttl: 128,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[],
        ports: (49_152, 65_535),
        ticks: &[100],
        repeats_deferred: None,
        source: "captures: 128:1460:65535,8 and 64240,8:mss,nop,ws,nop,nop,sok; Microsoft KB 929851: ports from 49152 on",
    },
    Look {
        stack: "freebsd-14",
        ttl: 64,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[],
        ports: (49_152, 65_535),
        ticks: &[1_000, 100],
        repeats_deferred: None,
        source: "p0f 3: *:64:0:*:65535,6:mss,nop,ws,sok,ts:df,id+; ticks of the page; assumption: RFC 6335's ports",
    },
    Look {
        stack: "macos",
        ttl: 64,
        order: SynOrder::ScaleSecond,
        syn_ack_id_zero: false,
        receive_buffers: &[],
        ports: (49_152, 65_535),
        ticks: &[1_000],
        repeats_deferred: None,
        source: "p0f 3: *:64:0:*:65535,*:mss,nop,ws,nop,nop,ts,sok,eol+1:df,id+; here SACK-permitted stands before the timestamp, as \
                 FreeBSD's; assumption: RFC 6335's ports",
    },
];

impl Look {
    /// That of the stack `name`; of one that is not in the table, what standards recommend.
    #[must_use]
    pub fn of(name: &str) -> &'static Look {
        let fits = |look: &&Look| name.starts_with(look.stack);
        let longest = LOOKS
            .iter()
            .filter(fits)
            .max_by_key(|look| look.stack.len());
        longest.expect("the empty beginning fits all")
    }

    /// How its packets are written, one with this identification.
    #[must_use]
    pub fn style(&self, id: u16) -> Style {
        Style {
            ttl: self.ttl,
            id,
            scale_second: self.order == SynOrder::ScaleSecond,
        }
    }
}

/// Addresses and ports of client and server of connection `number`, whose client has ports as `look` says and whose server
/// looks as `server` says. No two numbers up to 2^24 share the client's: four connections in a row come from one host,
/// each with a port of its own quarter.
pub(super) fn endpoints(
    number: u64,
    look: &Look,
    server: &Look,
    random: u64,
) -> (Ipv4Addr, u16, Ipv4Addr, u16) {
    // Neighbours in time are none in the network: an odd factor makes every number another.
    let host = ((number / 4).wrapping_mul(0x9e37_79b1) & 0x003f_ffff) as u32;
    // 10.64.0.0/10.
    let client = Ipv4Addr::from_bits(0x0a40_0000 | host);
    let (first, last) = look.ports;
    let quarter = (u32::from(last - first) + 1) / 4;
    let within = (random as u32) % quarter;
    let port = first + ((number % 4) as u32 * quarter + within) as u16;
    // 198.18.0.0/15 (RFC 2544), 2048 servers of each line of the table.
    let line = LOOKS.iter().position(|look| look.stack == server.stack);
    let server = (line.unwrap_or(0) as u32) << 12 | (random >> 32) as u32 & 0xffe;
    let server = Ipv4Addr::from_bits(0xc612_0000 | server | 1);
    let service = if (random >> 48) % 4 == 0 { 80 } else { 443 };
    (client, port, server, service)
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    #[test]
    fn every_stack_has_a_look_of_its_own_line() {
        for page in stacks::all().filter(|page| page.name != "rfc") {
            let look = Look::of(page.name);
            assert!(!look.stack.is_empty(), "{}", page.name);
            assert!(
                look.ticks.contains(&page.settings.timers.hz),
                "{}",
                page.name
            );
        }
        assert_eq!(Look::of("rfc").stack, "");
        assert!(LOOKS.iter().all(|look| look.source.len() > 20));
    }

    #[test]
    fn no_two_connections_share_addresses_and_ports() {
        let xp = Look::of("windows-xp");
        let mut all = std::collections::BTreeSet::new();
        for number in 0..100_000 {
            let (client, port, _, _) = endpoints(number, xp, xp, number * 77);
            assert!(all.insert((client, port)));
            assert!((1_025..=5_000).contains(&port));
        }
    }
}
