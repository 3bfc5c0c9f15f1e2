//! A page of settings with a source for every value.

use std::collections::BTreeMap;

use crate::settings::{
    MptcpBuffer, MptcpBurst, MptcpOptions, MptcpReinject, MptcpScheduler, MptcpTimer, Settings,
};

/// States settings on a page: `name = value, "source";` each. A later statement of the same setting replaces the
/// earlier.
macro_rules! state {
    ($page:expr; $($setting:ident = $value:expr, $source:expr;)+) => {
        $(
            $page.settings.$setting = $value;
            $page.note(stringify!($setting), $source);
        )+
    };
}
pub(super) use state;

/// A stack: its settings, and where each value comes from.
#[derive(Clone, Debug)]
pub struct Page {
    /// The stack's name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The settings.
    pub settings: Settings,
    sources: BTreeMap<&'static str, &'static str>,
}

impl Page {
    /// A page that states nothing yet.
    pub(super) fn new(name: &'static str, about: &'static str) -> Self {
        Page {
            name,
            about,
            settings: Settings::blank(),
            sources: BTreeMap::new(),
        }
    }

    /// A page that states what `self` does.
    pub(super) fn variant(self, name: &'static str, about: &'static str) -> Self {
        Page {
            name,
            about,
            ..self
        }
    }

    /// States that there is no Multipath TCP, as `source` says.
    pub(super) fn without_multipath(&mut self, source: &'static str) {
        let page = self;
        state! { page;
            mptcp_scheduler = MptcpScheduler::None, source;
            mptcp_burst_bytes = 65_428, "no effect: there is no Multipath TCP";
            mptcp_burst = MptcpBurst::Segment, "no effect: there is no Multipath TCP";
            mptcp_send_buffer = MptcpBuffer::Largest, "no effect: there is no Multipath TCP";
            mptcp_reader_acknowledges = false, "no effect: there is no Multipath TCP";
            mptcp_subflow_nagle = false, "no effect: there is no Multipath TCP";
            mptcp_reinject_on_timeout = MptcpReinject::Off, "no effect: there is no Multipath TCP";
            mptcp_reinject_on_probe = MptcpReinject::Off, "no effect: there is no Multipath TCP";
            mptcp_reinject_on_recovery = MptcpReinject::Off, "no effect: there is no Multipath TCP";
            mptcp_timer = MptcpTimer::None, "no effect: there is no Multipath TCP";
            mptcp_opportunistic = false, "no effect: there is no Multipath TCP";
            mptcp_penalise = false, "no effect: there is no Multipath TCP";
            mptcp_stale_after = 0, "no effect: there is no Multipath TCP";
            mptcp_options = MptcpOptions::Rfc6824, "no effect: there is no Multipath TCP";
        }
    }

    /// Where a setting's value comes from; none where the page does not state it, which a test forbids.
    #[must_use]
    pub fn source(&self, setting: &str) -> Option<&'static str> {
        self.sources.get(setting).copied()
    }

    pub(super) fn note(&mut self, setting: &'static str, source: &'static str) {
        self.sources.insert(setting, source);
    }
}
