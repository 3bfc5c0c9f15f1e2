//! What an analysis is asked for, from Python.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use pyo3::prelude::*;
use rexmit_time::Duration;
use rexmit_trace::emulate::Chosen;
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::table::Key;

use crate::error::Error;

/// Which other settings are replayed: the usual ones, none, or those named.
#[derive(FromPyObject)]
pub enum WhatIf {
    Asked(bool),
    Settings(Vec<String>),
}

/// What an analysis is asked for; the rest as usual.
pub fn settings(
    whatif: Option<WhatIf>,
    most_connections: Option<usize>,
    idle_s: Option<f64>,
    linger_s: Option<f64>,
    uncalibrated: bool,
    stacks: Option<Vec<String>>,
    names: bool,
) -> Result<Settings, Error> {
    let plan = match whatif {
        None | Some(WhatIf::Asked(true)) => Some(Plan::default()),
        Some(WhatIf::Asked(false)) => None,
        Some(WhatIf::Settings(words)) => Some(Plan::parse(&words)?),
    };
    let mut settings = Settings {
        uncalibrated,
        names,
        stacks: Chosen::parse(&stacks.unwrap_or_default())?,
        whatif: plan.map(Arc::new),
        ..Settings::default()
    };
    if let Some(most) = most_connections {
        settings.most_connections = most;
    }
    for (given, setting) in [
        (idle_s, &mut settings.idle),
        (linger_s, &mut settings.linger),
    ] {
        if let Some(seconds) = given {
            *setting = Duration::from_nanos((seconds * 1e9) as i64);
        }
    }
    Ok(settings)
}

/// A key by which connections are spread over shards, from Python: three words. All steps of an analysis in parts need the same.
pub type Words = [u64; 3];

/// A key that the system draws.
pub fn drawn() -> Key {
    let by_system = RandomState::new();
    Key::new([0, 1, 2].map(|place: u64| by_system.hash_one(place)))
}

/// Names of the settings that are replayed.
pub fn names(settings: &Settings) -> Vec<String> {
    let plan = settings.whatif.as_ref();
    plan.map_or_else(Vec::new, |plan| plan.names().to_vec())
}
