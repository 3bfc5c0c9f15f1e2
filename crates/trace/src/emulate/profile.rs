//! The senders that are emulated: pages of the stacks' settings, and what a capture does not show of them.

use std::sync::{Arc, OnceLock};

use rexmit_tcp::settings::{EarlyRetransmit, Settings, Tlp};
use rexmit_tcp::stacks;
use rexmit_time::Time;

/// Emulations side by side.
pub const MOST_PROFILES: usize = LINES.len();

/// A sender that may have been at work.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The stack's name in tables: pages that the wire cannot tell apart share one.
    pub stack: &'static str,
    /// The page of its settings.
    pub page: &'static str,
    /// A route may give it another smallest timeout (`RTAX_RTO_MIN`, since 2.6.23).
    pub other_minimum: bool,
    /// Without SACK it does nothing that an older stack does not, which stands for it then.
    pub with_sack_alone: bool,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// The year from which on there may be such senders; 0: always.
    pub since: u64,
    /// How likely it is before anything is seen, as a natural logarithm.
    pub prior: f64,
}

/// A page, its stack's name, its share, the year from which on there may be such senders, and what is changed in it.
type ProfileRow = (&'static str, &'static str, f64, u64, fn(&mut Settings));

/// RACK came with Linux 4.4 ("tcp: use RACK to detect losses", commit 4f41b1c58a32), which was released on 2016-01-10
/// (the longterm kernels of <https://www.kernel.org/category/releases.html>, as they were in 2017).
const RACK: u64 = 2016;
/// The probe of the tail came with Linux 3.10 ("tcp: Tail loss probe (TLP)", commit 6ba8a3b19e76; The H, "Kernel Log: Coming in
/// 3.10 (Part 1)"), which was released on 2013-06-30 (the same page).
const TLP: u64 = 2013;
/// Early retransmit came with Linux 3.5 ("tcp: early retransmit", commit eed530b6c676; The H of 2012-06-26, "Kernel Log: Coming in
/// Linux 3.5 (Part 1)"), which was released on 2012-07-21 (the date of the tag v3.5).
const EARLY_RETRANSMIT: u64 = 2012;
/// Linux 2.6 was released on 2003-12-17 (Sobell, A Practical Guide to Ubuntu Linux, appendix E); its sender was not another
/// until Linux 3.5.
const LINUX_2_6: u64 = 2003;
/// Linux 2.4 was released in January 2001 (the same appendix).
const LINUX_2_4: u64 = 2001;
/// RACK and the probe came to Windows with the Anniversary Update of Windows 10 (Microsoft, "Announcing: New Transport
/// Advancements in the Anniversary Update"), in August 2016.
const WINDOWS_10: u64 = 2016;
/// FreeBSD 14.0 was released on 2023-11-20 (FreeBSD 14.0 Release Notes).
const FREEBSD_14: u64 = 2023;
/// RACK is on in XNU since 11417 (bsd/netinet/tcp_sysctls.c), of macOS 15.4, which was released on 2025-03-31.
const MACOS_15: u64 = 2025;
/// The older pages of Windows, BSD and Solaris have nothing that their earlier releases did not have; RFCs have no release.
const ANY: u64 = 0;

/// The shares are guesses at how common each is among senders of today, kernels with their defaults the most; nothing was
/// counted. They decide only where the capture does not. Windows 11, macOS 15 and FreeBSD 14 have little: where they are, a SYN
/// that was seen leaves no Linux.
const LINES: &[ProfileRow] = &[
    ("linux-6.12", "linux-6", 0.42, RACK, |_| {}),
    ("linux-6.12", "linux-6", 0.05, RACK, |s| {
        s.loss.tlp = Tlp::Off;
    }),
    ("linux-6.12", "linux-6", 0.03, RACK, |s| s.loss.rack = false),
    ("linux-6.12", "linux-6", 0.01, RACK, |s| {
        s.loss.rack = false;
        s.loss.tlp = Tlp::Off;
    }),
    ("linux-6.12", "linux-6", 0.01, RACK, |s| {
        s.loss.rack_no_dupack_threshold = true;
    }),
    ("linux-6.12", "linux-6", 0.02, RACK, |s| s.timers.hz = 100),
    ("linux-3.10", "linux-3.10", 0.09, TLP, |_| {}),
    ("linux-3.10", "linux-3.10", 0.01, EARLY_RETRANSMIT, |s| {
        s.loss.tlp = Tlp::Off;
    }),
    ("linux-3.10", "linux-3.10", 0.01, LINUX_2_6, |s| {
        s.loss.tlp = Tlp::Off;
        s.loss.early_retransmit = EarlyRetransmit::Off;
    }),
    ("linux-2.4", "linux-2.4", 0.07, LINUX_2_4, |_| {}),
    ("windows-xp", "windows-xp", 0.05, ANY, |_| {}),
    ("windows-xp-unc2007", "windows-xp", 0.01, ANY, |_| {}),
    ("windows-11", "windows-11", 0.01, WINDOWS_10, |_| {}),
    ("macos-15", "macos-15", 0.004, MACOS_15, |_| {}),
    ("freebsd-14", "freebsd-14", 0.004, FREEBSD_14, |_| {}),
    (
        "freebsd-14-rack",
        "freebsd-14-rack",
        0.002,
        FREEBSD_14,
        |_| {},
    ),
    ("freebsd-5", "freebsd-5", 0.04, ANY, |_| {}),
    ("freebsd-5-unc2007", "freebsd-5", 0.02, ANY, |_| {}),
    ("solaris-10", "solaris-10", 0.03, ANY, |_| {}),
    ("solaris-10-unc2007", "solaris-10", 0.01, ANY, |_| {}),
    ("rfc", "rfc", 0.08, ANY, |_| {}),
];

/// A capture's clock that says an earlier year was never set: there was no pcap before.
const NEVER_SET: u64 = 1990;

/// The year of a time in seconds since 1970, close enough: leap days are spread evenly.
fn year(at: Time) -> u64 {
    1970 + at.as_nanos() / 31_556_952_000_000_000
}

impl Profile {
    /// Whether there may have been such senders when a connection began at `begun`, the capture's clock.
    pub fn existed(&self, begun: Option<Time>) -> bool {
        let year = begun.map(year).filter(|year| *year >= NEVER_SET);
        year.is_none_or(|year| self.since <= year)
    }
}

/// All profiles.
pub fn all() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let made = LINES.iter().map(|(page, stack, share, since, change)| {
            let mut settings = stacks::page(page).expect("a stack of the model").settings;
            change(&mut settings);
            Profile {
                stack,
                page,
                other_minimum: matches!(*stack, "linux-6" | "linux-3.10"),
                with_sack_alone: matches!(
                    *stack,
                    "windows-11" | "macos-15" | "freebsd-14" | "freebsd-14-rack"
                ),
                settings: Arc::new(settings),
                since: *since,
                prior: f64::ln(*share),
            }
        });
        made.collect()
    })
}

/// How likely all profiles of a stack are together before anything is seen, as a natural logarithm.
pub fn prior_of(stack: &str) -> f64 {
    static PRIORS: OnceLock<Vec<(&str, f64)>> = OnceLock::new();
    let priors = PRIORS.get_or_init(|| {
        let of = |name| {
            let of_stack = all().iter().filter(|profile| profile.stack == name);
            of_stack.map(|profile| profile.prior.exp()).sum::<f64>()
        };
        let stacks = all().iter().map(|profile| profile.stack);
        stacks.map(|stack| (stack, of(stack).ln())).collect()
    });
    let found = priors.iter().find(|(name, _)| *name == stack);
    found.map_or(f64::NEG_INFINITY, |(_, prior)| *prior)
}
