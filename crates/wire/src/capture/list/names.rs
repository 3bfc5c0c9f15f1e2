//! Addresses and ports that are printed as names.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;

use super::line::Ends;
use crate::FlowKey;

/// Names that are remembered; lines with more are not read.
const MOST: usize = 1 << 16;

/// Blocks for documentation (RFC 5737 §3), whose addresses names stand for, and one for benchmarks behind them
/// (RFC 2544): no host of a network has them.
const BLOCKS: [(Ipv4Addr, usize); 4] = [
    (Ipv4Addr::new(192, 0, 2, 0), 254),
    (Ipv4Addr::new(198, 51, 100, 0), 254),
    (Ipv4Addr::new(203, 0, 113, 0), 254),
    (Ipv4Addr::new(198, 18, 0, 0), MOST),
];

/// Ports that tcpdump and Wireshark print as names, of those that are met.
const SERVICES: [(&str, u16); 47] = [
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("domain", 53),
    ("gopher", 70),
    ("finger", 79),
    ("http", 80),
    ("www", 80),
    ("kerberos", 88),
    ("pop3", 110),
    ("sunrpc", 111),
    ("ident", 113),
    ("auth", 113),
    ("nntp", 119),
    ("epmap", 135),
    ("loc-srv", 135),
    ("netbios-ssn", 139),
    ("imap", 143),
    ("imap2", 143),
    ("bgp", 179),
    ("ldap", 389),
    ("https", 443),
    ("microsoft-ds", 445),
    ("submissions", 465),
    ("login", 513),
    ("shell", 514),
    ("printer", 515),
    ("rtsp", 554),
    ("submission", 587),
    ("ipp", 631),
    ("ldaps", 636),
    ("rsync", 873),
    ("imaps", 993),
    ("pop3s", 995),
    ("socks", 1080),
    ("ms-sql-s", 1433),
    ("nfs", 2049),
    ("iscsi-target", 3260),
    ("mysql", 3306),
    ("ms-wbt-server", 3389),
    ("postgresql", 5432),
    ("amqp", 5672),
    ("redis", 6379),
    ("http-alt", 8080),
    ("webcache", 8080),
];

/// The names so far, and what stands for them.
#[derive(Default)]
pub(super) struct Names {
    hosts: BTreeMap<(bool, String), IpAddr>,
    ports: BTreeMap<String, u16>,
}

impl Names {
    /// Who sends to whom, none where a name cannot be one or there are too many.
    pub fn key(&mut self, ends: &Ends<'_>) -> Option<FlowKey> {
        let (src, dst) = self.addresses(ends.src, ends.dst, ends.v6)?;
        Some(FlowKey {
            src,
            dst,
            src_port: self.port(ends.src_port)?,
            dst_port: self.port(ends.dst_port)?,
        })
    }

    /// Two addresses of one version.
    pub fn addresses(&mut self, src: &str, dst: &str, v6: bool) -> Option<(IpAddr, IpAddr)> {
        let is_v6 = |text: &str| text.parse::<Ipv6Addr>().is_ok();
        let v6 = v6 || is_v6(src) || is_v6(dst);
        let (src, dst) = (self.address(src, v6)?, self.address(dst, v6)?);
        (src.is_ipv4() == dst.is_ipv4()).then_some((src, dst))
    }

    /// The addresses that stand for names, in order.
    pub fn hosts(&self) -> Vec<(IpAddr, &str)> {
        let hosts = self.hosts.iter();
        let mut hosts: Vec<_> = hosts.map(|((_, name), &at)| (at, name.as_str())).collect();
        hosts.sort_unstable();
        hosts
    }

    /// The ports that stand for names, in the order in which they were met.
    pub fn ports(&self) -> Vec<(u16, &str)> {
        let ports = self.ports.iter();
        let mut ports: Vec<_> = ports.map(|(name, &port)| (port, name.as_str())).collect();
        ports.sort_unstable_by_key(|&(port, _)| core::cmp::Reverse(port));
        ports
    }

    fn address(&mut self, text: &str, v6: bool) -> Option<IpAddr> {
        // The zone of a link-local address is not part of it.
        let plain = text.split_once('%').map_or(text, |(address, _)| address);
        if let Ok(address) = plain.parse() {
            return Some(address);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if text.is_empty() || text.len() > 255 || !text.chars().all(is_name) {
            return None;
        }
        let name = (v6, text.to_owned());
        if let Some(&known) = self.hosts.get(&name) {
            return Some(known);
        }
        let made = made(self.hosts.len(), v6)?;
        self.hosts.insert(name, made);
        Some(made)
    }

    fn port(&mut self, text: &str) -> Option<u16> {
        // Wireshark prints both, as in `http(80)`.
        let number = text.split_once('(').map_or(text, |(_, number)| number);
        if let Ok(port) = number.trim_end_matches(')').parse() {
            return Some(port);
        }
        if let Some((_, port)) = SERVICES.iter().find(|(name, _)| *name == text) {
            return Some(*port);
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+.*".contains(&byte);
        if text.is_empty() || text.len() > 64 || !text.bytes().all(is_name) {
            return None;
        }
        if let Some(&port) = self.ports.get(text) {
            return Some(port);
        }
        // From 1023 down: what systems choose by themselves lies above.
        let port = 1023_u16.checked_sub(u16::try_from(self.ports.len()).ok()?)?;
        self.ports.insert(text.to_owned(), port);
        Some(port)
    }
}

/// The address that stands for a name, after `before` others.
fn made(before: usize, v6: bool) -> Option<IpAddr> {
    if before >= MOST {
        return None;
    }
    let host = before as u32 + 1;
    if v6 {
        // 2001:db8::/32 (RFC 3849).
        let block = u128::from(0x2001_0db8_u32) << 96;
        return Some(Ipv6Addr::from_bits(block | u128::from(host)).into());
    }
    let mut host = host as usize;
    for (block, hosts) in BLOCKS {
        if host <= hosts {
            return Some(Ipv4Addr::from_bits(block.to_bits() + host as u32).into());
        }
        host -= hosts;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_address_of_those_that_no_host_has() {
        let mut names = Names::default();
        let mut of = |name, v6| names.address(name, v6).unwrap().to_string();
        assert_eq!(of("10.0.0.1", false), "10.0.0.1");
        assert_eq!(of("web.example", false), "192.0.2.1");
        assert_eq!(of("db", false), "192.0.2.2");
        assert_eq!(of("web.example", false), "192.0.2.1");
        assert_eq!(of("web.example", true), "2001:db8::3");
        assert_eq!(names.address("no name", false), None);
        assert_eq!(made(254, false).unwrap().to_string(), "198.51.100.1");
        assert_eq!(made(762, false).unwrap().to_string(), "198.18.0.1");
        assert_eq!(made(MOST, false), None);
    }

    #[test]
    fn ports_have_names_too() {
        let mut names = Names::default();
        let ports = ["443", "http", "http(8080)", "gizmo", "gadget", "gizmo"];
        let ports = ports.map(|text| names.port(text));
        assert_eq!(ports, [443, 80, 8080, 1023, 1022, 1023].map(Some));
    }
}
