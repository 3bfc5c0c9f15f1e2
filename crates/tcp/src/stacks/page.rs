//! A page of settings, and where each value comes from.

use std::collections::BTreeMap;

use crate::settings::{Field, Settings};

/// States settings on a page, group by group: `name = value, "source";` each. What is not stated is the default, or what
/// the page has that this one is a variant of.
macro_rules! state {
    ($page:expr; $($group:ident { $($setting:ident = $value:expr, $source:expr;)+ })+) => {
        $($(
            $page.settings.$group.$setting = $value;
            $page.note(stringify!($setting), $source);
        )+)+
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
            settings: Settings::default(),
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

    /// Where a setting's value comes from.
    #[must_use]
    pub fn source(&self, setting: &Field) -> &'static str {
        let stated = self.sources.get(setting.name);
        stated.copied().unwrap_or(setting.source)
    }

    pub(super) fn note(&mut self, setting: &'static str, source: &'static str) {
        self.sources.insert(setting, source);
    }
}
