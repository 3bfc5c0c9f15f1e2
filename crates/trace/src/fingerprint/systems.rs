//! Systems by their SYN, each line with where it is from.

use rexmit_wire::Headers;

use super::{kind, Known, Offered, Signature};

/// The order of a system's options, padding left out. A SYN-ACK leaves out what was not offered.
const LINUX: &[u8] = &[kind::MSS, kind::SACK, kind::STAMPS, kind::SCALE];
const WINDOWS: &[u8] = &[kind::MSS, kind::SCALE, kind::SACK];
const SOLARIS: &[u8] = &[kind::MSS, kind::SCALE, kind::SACK];
const FREEBSD_5: &[u8] = &[kind::MSS, kind::SCALE, kind::STAMPS];
const FREEBSD: &[u8] = &[kind::MSS, kind::SCALE, kind::SACK, kind::STAMPS];
const MAC: &[u8] = &[kind::MSS, kind::SCALE, kind::STAMPS, kind::SACK];

/// What a line says of the window.
#[derive(Clone, Copy)]
enum Wants {
    /// So many bytes with segments of that size.
    Reckoned(fn(u32) -> u32),
    /// So many bytes.
    Bytes(&'static [u16]),
    /// Whatever.
    Any,
}

/// A window of so many segments, fewer where they are larger than Ethernet's (tcp_select_initial_window before 4.20).
fn segments(count: u32, size: u32) -> u32 {
    if size > 1460 {
        (1460 * count / size).max(2)
    } else {
        count
    }
}

struct SynProfile {
    system: &'static str,
    ttl: u8,
    window: Wants,
    /// The least and the largest scale; none where there is no scale.
    scale: Option<(u8, u8)>,
    order: &'static [u8],
    /// Options that a SYN has for certain.
    least: usize,
}

const LINES: &[SynProfile] = &[
    // net/ipv4/tcp_output.c tcp_select_initial_window: 4 segments; sysctl_tcp_rmem 87380 and 174760: scale 0 to 2; ip(7): TTL 64.
    SynProfile {
        system: "linux-2.4",
        ttl: 64,
        window: Wants::Reckoned(|size| size * segments(4, size)),
        scale: Some((0, 2)),
        order: LINUX,
        least: 3,
    },
    // As 2.4; tcp_rmem of up to 6 MB since 2.6.17: scale 3 to 9.
    SynProfile {
        system: "linux-2.6",
        ttl: 64,
        window: Wants::Reckoned(|size| size * segments(4, size)),
        scale: Some((3, 9)),
        order: LINUX,
        least: 3,
    },
    // include/net/tcp.h TCP_DEFAULT_INIT_RCVWND = 10 since 2.6.38.
    SynProfile {
        system: "linux-3",
        ttl: 64,
        window: Wants::Reckoned(|size| size * segments(10, size)),
        scale: Some((0, 14)),
        order: LINUX,
        least: 3,
    },
    // tcp_default_init_rwnd: 2 * TCP_INIT_CWND since 3.11.
    SynProfile {
        system: "linux-4",
        ttl: 64,
        window: Wants::Reckoned(|size| size * segments(20, size)),
        scale: Some((0, 14)),
        order: LINUX,
        least: 3,
    },
    // tcp_rmem of 131072 since 4.20: half of it, rounded down to whole segments (tcp_select_initial_window): 44 of 1460 bytes in
    // a SYN; in its answer, which leaves room for timestamps (tcp_openreq_init_rwin), 45 of 1448.
    SynProfile {
        system: "linux-6",
        ttl: 64,
        window: Wants::Reckoned(|size| 65_536 / size * size),
        scale: Some((0, 14)),
        order: LINUX,
        least: 3,
    },
    // Linux with a window that its host set (net.ipv4.tcp_rmem): the order of tcp_options_write alone tells.
    SynProfile {
        system: "linux",
        ttl: 64,
        window: Wants::Any,
        scale: Some((0, 14)),
        order: LINUX,
        least: 3,
    },
    // Microsoft, TCP/IP Implementation Details: TcpWindowSize 16384 (2000), 17520, 65535 (XP); DefaultTTL 128; Tcp1323Opts 0.
    SynProfile {
        system: "windows-xp",
        ttl: 128,
        window: Wants::Bytes(&[16_384, 17_520, 64_240, 65_535]),
        scale: None,
        order: WINDOWS,
        least: 2,
    },
    // Microsoft, Receive Window Auto-Tuning since Vista: 8192 in the SYN and a scale of 2.
    SynProfile {
        system: "windows-7",
        ttl: 128,
        window: Wants::Bytes(&[8_192]),
        scale: Some((2, 2)),
        order: WINDOWS,
        least: 3,
    },
    // And a scale of 8: Windows 7 to the first of Windows 10, as captures show whose headers name them.
    SynProfile {
        system: "windows",
        ttl: 128,
        window: Wants::Bytes(&[8_192]),
        scale: Some((3, 8)),
        order: WINDOWS,
        least: 3,
    },
    // Windows 10 and later, as seen in captures: 64240 or 65535 and a scale of 8.
    SynProfile {
        system: "windows-10",
        ttl: 128,
        window: Wants::Bytes(&[64_240, 65_535]),
        scale: Some((8, 8)),
        order: WINDOWS,
        least: 3,
    },
    // sys/netinet/tcp_output.c, 5.2.1: no SACK before 5.3; tcp_usrreq.c tcp_recvspace 65536.
    SynProfile {
        system: "freebsd-5",
        ttl: 64,
        window: Wants::Bytes(&[65_535]),
        scale: Some((0, 1)),
        order: FREEBSD_5,
        least: 3,
    },
    // sys/netinet/tcp_output.c tcp_addoptions, 7.0 and later: SACK before the timestamps.
    SynProfile {
        system: "freebsd",
        ttl: 64,
        window: Wants::Bytes(&[65_535]),
        scale: Some((2, 14)),
        order: FREEBSD,
        least: 4,
    },
    // bsd/netinet/tcp_output.c of xnu: SACK at the end of a SYN's options.
    SynProfile {
        system: "mac-os-x",
        ttl: 64,
        window: Wants::Bytes(&[65_535]),
        scale: Some((0, 14)),
        order: MAC,
        least: 4,
    },
    // Oracle, Solaris Tunable Parameters: tcp_recv_hiwat 49152, rounded up to whole segments: 34 of 1460 bytes.
    SynProfile {
        system: "solaris-10",
        ttl: 64,
        window: Wants::Reckoned(|size| 49_152u32.div_ceil(size) * size),
        scale: Some((0, 1)),
        order: SOLARIS,
        least: 3,
    },
];

/// The system that a signature names, if one alone does; `linux` and `windows` where several of its versions do, and `bsd`
/// where several of FreeBSD and Mac OS X do, whose TCP is one (UNC 2007, section IV-A).
#[must_use]
pub fn system(signature: &Signature) -> Option<&'static str> {
    let mut named = LINES.iter().filter(|line| line.fits(signature));
    let first = named.next()?;
    let mut system = first.system;
    for other in named.filter(|line| line.system != "linux") {
        system = if first.is_linux() && other.is_linux() {
            "linux"
        } else if first.is_windows() && other.is_windows() {
            "windows"
        } else if first.is_bsd() && other.is_bsd() {
            "bsd"
        } else {
            return None;
        };
    }
    Some(system)
}

impl SynProfile {
    fn fits(&self, signature: &Signature) -> bool {
        let bytes = u32::from(signature.bytes);
        let window = match self.window {
            Wants::Any => true,
            Wants::Reckoned(reckon) => signature
                .sizes()
                .any(|size| reckon(size).min(u32::from(u16::MAX)) == bytes),
            Wants::Bytes(list) => list.contains(&signature.bytes),
        };
        let scale = match (self.scale, signature.scale) {
            (Some((least, most)), Some(scale)) => least <= scale && scale <= most,
            (None, None) => true,
            // An answer scales only if the other did; Linux may be told not to (net.ipv4.tcp_window_scaling).
            (Some(_), None) => signature.answer || self.is_linux(),
            (None, Some(_)) => false,
        };
        window && scale && self.ttl == signature.ttl && self.has_order(signature)
    }

    fn is_linux(&self) -> bool {
        self.order == LINUX
    }

    fn is_windows(&self) -> bool {
        self.system.starts_with("windows")
    }

    fn is_bsd(&self) -> bool {
        [FREEBSD_5, FREEBSD, MAC].contains(&self.order)
    }

    /// The options come in this order; a SYN has all of them that this system sends.
    fn has_order(&self, signature: &Signature) -> bool {
        let mut order = self.order.iter();
        let mut count = 0;
        for kind in signature.kinds() {
            if !order.any(|next| *next == kind) {
                return false;
            }
            count += 1;
        }
        if self.is_linux() {
            // Where the window says nothing, what is left of the options has to.
            let least = match self.window {
                Wants::Any => 3,
                _ if signature.answer => 2,
                _ => self.least,
            };
            return count >= least && is_padded_as_linux_does(signature);
        }
        if !signature.answer {
            return count >= self.least;
        }
        match signature.offered {
            Some(offered) if !self.takes_all(offered, signature) => false,
            // One option says nothing of the order, but what it leaves out of an offer does.
            Some(offered) if count == 1 => offered.any(),
            _ => count >= 2,
        }
    }

    /// Whether an answer has each option of an offer that this system answers with.
    fn takes_all(&self, offered: Offered, answer: &Signature) -> bool {
        let sends = |kind: u8| kind != kind::SCALE || self.scale.is_some();
        let mut taken = self.order.iter().copied();
        let has = |wanted: u8| answer.kinds().any(|kind| kind == wanted);
        taken.all(|kind| has(kind) || !(sends(kind) && offered.has(kind)))
    }
}

/// Whether padding stands where Linux puts it (`tcp_options_write`): SACK-permitted takes that of timestamps' place.
fn is_padded_as_linux_does(signature: &Signature) -> bool {
    let has = |wanted: u8| signature.kinds().any(|kind| kind == wanted);
    let (sack, stamps, scale) = (has(kind::SACK), has(kind::STAMPS), has(kind::SCALE));
    let first: &[u8] = match (sack, stamps) {
        (true, true) => &[kind::MSS, kind::SACK, kind::STAMPS],
        (false, true) => &[kind::MSS, kind::NOP, kind::NOP, kind::STAMPS],
        (true, false) => &[kind::MSS, kind::NOP, kind::NOP, kind::SACK],
        (false, false) => &[kind::MSS],
    };
    let last: &[u8] = if scale {
        &[kind::NOP, kind::SCALE]
    } else {
        &[]
    };
    let written = signature.options.options().iter().map(|(kind, _)| kind);
    written.eq(first.iter().chain(last))
}

/// What a SYN or SYN-ACK says of its sender, kept short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    system: Option<&'static str>,
    ttl: Option<u8>,
    /// Its system numbers the packets of each connection apart.
    counts_own: bool,
}

impl Hint {
    /// What the SYN of this system says.
    #[cfg(test)]
    pub(crate) fn of_system(system: &'static str) -> Self {
        Hint {
            system: Some(system),
            ..Hint::default()
        }
    }

    /// What a SYN or SYN-ACK says, this one an answer to what was `offered`; nothing of other packets.
    #[must_use]
    pub(crate) fn of(headers: &Headers, offered: Option<Offered>, known: &mut Known) -> Self {
        let Some(mut signature) = Signature::of(headers) else {
            return Hint::default();
        };
        signature.offered = offered;
        // A list as text may not tell the time to live, without which many systems look alike.
        if headers.ttl == 0 {
            return Hint::default();
        }
        if headers.syn.is_some_and(|syn| syn.cut) {
            // Its options may be those of any system.
            return Hint {
                ttl: Some(signature.ttl),
                ..Hint::default()
            };
        }
        Hint::by(&signature, known.system(&signature), headers.ip_id)
    }

    /// What a signature that names this system says, of a packet with this identification.
    pub(super) fn by(
        signature: &Signature,
        system: Option<&'static str>,
        ip_id: Option<u16>,
    ) -> Self {
        // Linux does since 2.4 (`inet_id` of the socket; a SYN-ACK, which has no socket yet, has 0:
        // `ip_build_and_send_pkt`). Others count all packets of the host together, or draw at random.
        let linux = system.is_some_and(|system| system.starts_with("linux"));
        Hint {
            system,
            ttl: Some(signature.ttl),
            counts_own: linux && (!signature.answer || ip_id == Some(0)),
        }
    }

    /// The system that it names.
    #[must_use]
    pub fn system(&self) -> Option<&'static str> {
        self.system
    }

    /// Whether the system numbers the packets of each connection apart.
    #[must_use]
    pub fn counts_own(&self) -> bool {
        self.counts_own
    }

    /// Whether it names the stack that an emulation is called by.
    #[must_use]
    pub fn names(&self, stack: &str) -> bool {
        let pages = [
            ("linux-3", "linux-3.10"),
            ("windows-10", "windows-11"),
            ("freebsd", "freebsd-14"),
            ("freebsd", "freebsd-14-rack"),
            ("mac-os-x", "macos-15"),
        ];
        self.system
            .is_some_and(|system| system == stack || pages.contains(&(system, stack)))
    }

    /// Whether it names a system of today, whose retransmissions the emulations explain, or nearly.
    #[must_use]
    pub fn is_of_today(&self) -> bool {
        matches!(
            self.system,
            Some("linux-3" | "linux-4" | "linux-6" | "windows-10")
        )
    }

    /// Whether it says that its sender is not of the stack that an emulation is called by.
    #[must_use]
    pub fn refutes(&self, stack: &str) -> bool {
        let fits = match self.system {
            Some("linux") => stack.starts_with("linux") || stack == "rfc",
            Some("linux-2.4") => stack == "linux-2.4",
            Some("linux-2.6") => matches!(stack, "linux-2.4" | "linux-3.10"),
            Some("linux-3") => stack == "linux-3.10",
            Some("linux-4") => matches!(stack, "linux-3.10" | "linux-6"),
            Some("linux-6") => stack == "linux-6",
            Some("solaris-10") => matches!(stack, "solaris-10" | "rfc"),
            Some("freebsd-5") => matches!(stack, "freebsd-5" | "rfc"),
            Some("freebsd") => stack.starts_with("freebsd") || stack == "rfc",
            // Before 15.4 its sender was not that of macOS 15, nor FreeBSD's of today.
            Some("mac-os-x") => matches!(stack, "macos-15" | "freebsd-5" | "rfc"),
            Some("bsd") => stack.starts_with("freebsd") || matches!(stack, "macos-15" | "rfc"),
            Some("windows-10") => matches!(stack, "windows-11" | "rfc"),
            Some("windows") => matches!(stack, "windows-xp" | "windows-11" | "rfc"),
            Some(_) => matches!(stack, "windows-xp" | "rfc"),
            None => true,
        };
        let ttl = match stack {
            "windows-xp" | "windows-11" => self.ttl.is_none_or(|ttl| ttl == 128),
            "rfc" => true,
            _ => self.ttl.is_none_or(|ttl| ttl != 128),
        };
        !(fits && ttl)
    }
}
