//! The senders that are emulated: pages of the stacks' settings, and what a capture does not show of them.

use std::sync::{Arc, OnceLock};

use rexmit_tcp::settings::{EarlyRetransmit, Settings, Tlp};
use rexmit_tcp::stacks;

/// Emulations side by side at most.
pub const MOST_PROFILES: usize = 16;

/// A sender that may have been at work.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The stack's name in tables: pages that the wire cannot tell apart share one.
    pub stack: &'static str,
    /// A route may give it another smallest timeout (`RTAX_RTO_MIN`, since 2.6.23).
    pub other_minimum: bool,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// How likely it is before anything is seen, as a natural logarithm.
    pub prior: f64,
}

/// A page, its stack's name, its share, and what is changed in it.
type Line = (&'static str, &'static str, f64, fn(&mut Settings));

/// The shares are guesses at how common each is among senders of today, kernels with their defaults the most; nothing was
/// counted. They decide only where the capture does not.
const LINES: &[Line] = &[
    ("linux-6.12", "linux-6", 0.42, |_| {}),
    ("linux-6.12", "linux-6", 0.05, |s| s.tlp = Tlp::Off),
    ("linux-6.12", "linux-6", 0.03, |s| s.rack = false),
    ("linux-6.12", "linux-6", 0.01, |s| {
        s.rack = false;
        s.tlp = Tlp::Off;
    }),
    ("linux-6.12", "linux-6", 0.01, |s| {
        s.rack_no_dupack_threshold = true;
    }),
    ("linux-6.12", "linux-6", 0.02, |s| s.hz = 100),
    ("linux-3.10", "linux-3.10", 0.09, |_| {}),
    ("linux-3.10", "linux-3.10", 0.01, |s| s.tlp = Tlp::Off),
    ("linux-3.10", "linux-3.10", 0.01, |s| {
        s.tlp = Tlp::Off;
        s.early_retransmit = EarlyRetransmit::Off;
    }),
    ("linux-2.4", "linux-2.4", 0.07, |_| {}),
    ("windows-xp", "windows-xp", 0.05, |_| {}),
    ("windows-xp-unc2007", "windows-xp", 0.01, |_| {}),
    ("freebsd-5", "freebsd-5", 0.04, |_| {}),
    ("freebsd-5-unc2007", "freebsd-5", 0.02, |_| {}),
    ("solaris-10", "solaris-10", 0.04, |_| {}),
    ("rfc", "rfc", 0.10, |_| {}),
];

/// All profiles.
pub fn all() -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let made = LINES.iter().filter_map(|(page, stack, share, change)| {
            let mut settings = stacks::page(page).ok()?.settings;
            change(&mut settings);
            Some(Profile {
                stack,
                other_minimum: matches!(*stack, "linux-6" | "linux-3.10"),
                settings: Arc::new(settings),
                prior: f64::ln(*share),
            })
        });
        made.take(MOST_PROFILES).collect()
    })
}

/// How likely all profiles of a stack are together before anything is seen.
pub fn share_of(stack: &str) -> f64 {
    let of_stack = all().iter().filter(|profile| profile.stack == stack);
    of_stack.map(|profile| profile.prior.exp()).sum()
}
