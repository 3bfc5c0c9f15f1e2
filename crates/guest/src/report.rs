//! What the guest tells the host: one JSON object a line, appended as things happen.
//!
//! hostfs writes through, so a line is on the host as soon as it is written, whatever becomes of the guest.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::clock;

/// The channel; clones write to the same file.
#[derive(Clone)]
pub struct Report {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    file: File,
    cell: Option<u64>,
    doing: String,
}

impl Report {
    /// Opens the channel, a fresh file at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            inner: Arc::new(Mutex::new(Inner {
                file,
                cell: None,
                doing: "starting".into(),
            })),
        })
    }

    /// Writes one event: `kind` and the fields of `body`, which is an object.
    ///
    /// A channel that cannot be written is the end of this program's use, so that it panics.
    pub fn event(&self, kind: &str, body: &impl Serialize) {
        let mut text = Vec::new();
        rexmit_plan::line(&mut text, kind, body).expect("an event's body must be an object");
        let mut inner = self.lock();
        inner
            .file
            .write_all(&text)
            .expect("the events file cannot be written");
    }

    /// Says what goes on now, and repeats it in every heartbeat.
    pub fn doing(&self, cell: Option<u64>, what: String) {
        {
            let mut inner = self.lock();
            inner.cell = cell;
            inner.doing = what;
        }
        self.heartbeat();
    }

    /// Starts a thread that writes a heartbeat each `period` of virtual time, until the program ends.
    pub fn start_heartbeat(&self, period: Duration) {
        let report = self.clone();
        thread::spawn(move || loop {
            thread::sleep(period);
            report.heartbeat();
        });
    }

    fn heartbeat(&self) {
        let (cell, doing) = {
            let inner = self.lock();
            (inner.cell, inner.doing.clone())
        };
        let virtual_ns = clock::now().as_nanos();
        let body = serde_json::json!({"virtual_ns": virtual_ns, "cell": cell, "doing": doing});
        self.event("heartbeat", &body);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
