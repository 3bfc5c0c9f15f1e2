//! What the guest tells the host: one JSON object a line, appended as things happen.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use rexmit_plan::Rows;
use serde::Serialize;

use crate::outlet::Stream;
use crate::{clock, init};

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
    /// Where the channel cannot be written the guest is of no more use: it says so on the console and switches off.
    pub fn event(&self, kind: &str, body: &impl Serialize) {
        if let Err(error) = self.try_event(kind, body) {
            init::give_up(&format!("cannot write its events: {error}"));
        }
    }

    /// Writes the rows of a transfer.
    pub fn rows(&self, rows: &Rows) {
        let mut text = Vec::new();
        rows.write(&mut text).expect("rows are objects");
        if let Err(error) = self.lock().file.write_all(&text) {
            init::give_up(&format!("cannot write its events: {error}"));
        }
    }

    /// Ends the guest at once, and says why to the host and on the console.
    pub fn fault(&self, message: &str) -> ! {
        // The console may be all that is left.
        let _ = self.try_event("fault", &serde_json::json!({"message": message}));
        init::give_up(message)
    }

    fn try_event(&self, kind: &str, body: &impl Serialize) -> io::Result<()> {
        let mut text = Vec::new();
        rexmit_plan::line(&mut text, kind, body).expect("an event's body must be an object");
        self.lock().file.write_all(&text)
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
