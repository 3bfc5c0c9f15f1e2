//! What the guest tells the host: one JSON object a line, appended as things happen.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rexmit_plan::Rows;
use serde::Serialize;

use crate::clock;
use crate::outlet::Stream;

/// The channel; clones write to the same file.
#[derive(Clone)]
pub struct Report {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    file: Stream,
    cell: Option<u64>,
    doing: String,
}

impl Report {
    /// Opens the channel, a stream of the shared folder.
    pub fn create(share: &Path) -> Result<Self> {
        let file = Stream::open(share, "events.jsonl")?;
        Ok(Self {
            inner: Arc::new(Mutex::new(Inner {
                file,
                cell: None,
                doing: "starting".into(),
            })),
        })
    }

    /// Whether nothing stands in the channel yet: a kernel that was started again has told of its first start.
    pub fn is_fresh(&self) -> Result<bool> {
        self.lock().file.is_fresh()
    }

    /// Writes one event: `kind` and the fields of `body`, which is an object.
    ///
    /// Where the channel cannot be written the guest is of no more use.
    pub fn event(&self, kind: &str, body: &impl Serialize) -> Result<()> {
        let mut text = Vec::new();
        rexmit_plan::line(&mut text, kind, body)?;
        self.write(&text)
    }

    /// Writes the rows of a transfer.
    pub fn rows(&self, rows: &Rows) -> Result<()> {
        let mut text = Vec::new();
        rows.write(&mut text)?;
        self.write(&text)
    }

    /// Says why the guest cannot go on.
    pub fn fault(&self, message: &str) -> Result<()> {
        self.event("fault", &serde_json::json!({"message": message}))
    }

    fn write(&self, text: &[u8]) -> Result<()> {
        let written = self.lock().file.write_all(text);
        written.context("cannot write its events")
    }

    /// Says what goes on now, and repeats it in every heartbeat.
    pub fn doing(&self, cell: Option<u64>, what: String) -> Result<()> {
        {
            let mut inner = self.lock();
            inner.cell = cell;
            inner.doing = what;
        }
        self.heartbeat()
    }

    /// Starts a thread that writes a heartbeat each `period` of virtual time, until the program ends or `failed` is called
    /// with why it cannot.
    pub fn start_heartbeat(&self, period: Duration, failed: fn(&str) -> !) {
        let report = self.clone();
        thread::spawn(move || loop {
            thread::sleep(period);
            if let Err(error) = report.heartbeat() {
                failed(&format!("{error:#}"));
            }
        });
    }

    fn heartbeat(&self) -> Result<()> {
        let (cell, doing) = {
            let inner = self.lock();
            (inner.cell, inner.doing.clone())
        };
        let virtual_ns = clock::now().as_nanos();
        let body = serde_json::json!({"virtual_ns": virtual_ns, "cell": cell, "doing": doing});
        self.event("heartbeat", &body)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
