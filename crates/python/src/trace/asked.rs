//! What an analysis is asked for, from Python.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_time::Duration;
use rexmit_trace::emulate::Chosen;
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::table::Key;

use crate::error::Error;

/// Which other settings are replayed: the usual ones, none, or those named.
#[derive(FromPyObject)]
enum WhatIf {
    Asked(bool),
    Settings(Vec<String>),
}

/// What an analysis is asked for by keywords; the rest as usual. Without a key, `key` is taken.
pub fn settings(asked: Option<&Bound<'_, PyDict>>, key: Key) -> PyResult<Settings> {
    let mut settings = Settings {
        key,
        ..Settings::default()
    };
    for (name, value) in asked.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        match name.extract::<&str>()? {
            "whatif" => settings.whatif = plan(value.extract()?)?.map(Arc::new),
            "most_connections" => settings.most_connections = value.extract()?,
            "idle_s" => settings.idle = seconds(value.extract()?),
            "linger_s" => settings.linger = seconds(value.extract()?),
            "uncalibrated" => settings.uncalibrated = value.extract()?,
            "timeline" => settings.timeline = value.extract()?,
            "names" => settings.names = value.extract()?,
            "stacks" => settings.stacks = stacks(&value.extract::<Vec<String>>()?)?,
            "key" => settings.key = Key::new(value.extract::<Words>()?),
            other => return Err(PyTypeError::new_err(format!("there is no setting {other}"))),
        }
    }
    Ok(settings)
}

fn plan(whatif: WhatIf) -> Result<Option<Plan>, Error> {
    Ok(match whatif {
        WhatIf::Asked(true) => Some(Plan::default()),
        WhatIf::Asked(false) => None,
        WhatIf::Settings(words) => Some(Plan::parse(&words)?),
    })
}

fn stacks(words: &[String]) -> Result<Chosen, Error> {
    Ok(Chosen::parse(words)?)
}

/// A time that Python says in seconds.
pub fn seconds(length: f64) -> Duration {
    Duration::from_nanos((length * 1e9) as i64)
}

/// A key by which connections are spread over shards, from Python: three words. All steps of an analysis in parts need the same.
type Words = [u64; 3];

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
