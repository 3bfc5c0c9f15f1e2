//! Which mechanism made a retransmission, by the kernel's own record (`kernel/patches/*/0003-*`), which names the
//! connection and the cause of each. Where several connections of a host retransmit at a time its counters cannot tell them
//! apart. An optional patch adds a record of what sockets wait for (`tcp-record-waits`).

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use rexmit_tcp::Mechanism;
use rexmit_wire::{FlowKey, SeqNum};

/// A record of the kernel's, one for all namespaces.
#[derive(Clone, Copy, Debug)]
pub enum Log {
    /// Why segments were sent again.
    Causes,
    /// What sockets waited for before they sent more.
    Waits,
}

/// Where the kernel shows why segments were sent again.
const RECORD: &str = Log::Causes.path();

impl Log {
    /// Both.
    pub const ALL: [Log; 2] = [Log::Causes, Log::Waits];

    const fn path(self) -> &'static str {
        match self {
            Log::Causes => "/proc/tcp_causes",
            Log::Waits => "/proc/tcp_waits",
        }
    }

    /// What the name of a file with the record ends with.
    pub const fn ending(self) -> &'static str {
        match self {
            Log::Causes => "causes",
            Log::Waits => "waits",
        }
    }

    /// Whether this kernel keeps the record.
    pub fn is_kept(self) -> bool {
        Path::new(self.path()).exists()
    }

    /// Forgets the record, and starts one with room for so many entries.
    pub fn start(self, entries: u32) -> Result<()> {
        fs::write(self.path(), entries.to_string()).context(self.path())
    }

    /// The record, a line an entry.
    pub fn text(self) -> Result<String> {
        fs::read_to_string(self.path()).context(self.path())
    }

    /// Writes the record to a file of the shared folder, which nobody else sees.
    pub fn keep(self, path: &Path) -> Result<()> {
        fs::write(path, self.text()?).with_context(|| path.display().to_string())
    }
}

/// Records between two [`CauseLog::clear`] that there is room for: more than a connection makes.
const ROOM: u32 = 4096;

/// The kernel's record since it was last cleared.
pub struct CauseLog {
    file: File,
    buffer: Vec<u8>,
    /// For each flow the number of its records that belong to packets that were seen, and where its recovery ends.
    seen: BTreeMap<FlowKey, Seen>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    records: usize,
    recovery: Option<u32>,
    last: Option<Mechanism>,
}

impl CauseLog {
    /// The record, empty and switched on; `None` where the kernel keeps none.
    pub fn open() -> Result<Option<Self>> {
        let file = match OpenOptions::new().read(true).open(RECORD) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context(RECORD),
        };
        let mut log = Self {
            file,
            buffer: Vec::new(),
            seen: BTreeMap::new(),
        };
        log.clear()?;
        Ok(Some(log))
    }

    /// Forgets everything.
    pub fn clear(&mut self) -> Result<()> {
        self.seen.clear();
        Log::Causes.start(ROOM)
    }

    /// What made the kernel retransmit the packet of `flow` that begins at `seq`, the next of that flow's retransmissions.
    pub fn next(&mut self, flow: FlowKey, seq: SeqNum) -> Result<Mechanism> {
        self.buffer.resize(16 << 10, 0);
        let length = super::counters::fill(&self.file, &mut self.buffer)?;
        let text = std::str::from_utf8(&self.buffer[..length])?;
        let records = records(text, flow)?;
        let seen = self.seen.entry(flow).or_default();
        let Some(next) = (seen.records..records.len()).find(|&at| records[at].holds(seq)) else {
            // One record tells of a super-segment that leaves as several packets.
            let last = records[..seen.records.min(records.len())].last();
            let same = last.is_some_and(|record| record.holds(seq));
            return Ok(seen.last.filter(|_| same).unwrap_or(Mechanism::Unknown));
        };
        let mut mechanism = Mechanism::Unknown;
        for record in &records[seen.records..=next] {
            (mechanism, seen.recovery) = record.mechanism(seen.recovery);
        }
        seen.records = next + 1;
        seen.last = Some(mechanism);
        Ok(mechanism)
    }
}

/// One line of the record.
#[derive(Debug, PartialEq, Eq)]
struct Record<'a> {
    seq: SeqNum,
    end: SeqNum,
    cause: &'a str,
    state: &'a str,
    sack: bool,
    rack: bool,
    /// Highest byte sent when the recovery began.
    high: u32,
}

/// The retransmissions of `flow` that `text` tells of, in the order in which they were sent.
fn records(text: &str, flow: FlowKey) -> Result<Vec<Record<'_>>> {
    let [sender, receiver] = flow.ends();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (Some(from), Some(to)) = (words.next(), words.next()) else {
            continue; // The last line counts what found no room.
        };
        if from.parse() == Ok(sender) && to.parse() == Ok(receiver) {
            let record = record(words).ok_or_else(|| anyhow!("{RECORD} has a line {line:?}"))?;
            // A probe with new data is no retransmission.
            if record.cause != "probe-new" {
                found.push(record);
            }
        }
    }
    Ok(found)
}

fn record<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Record<'a>> {
    let (seq, end) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (cause, state) = (words.next()?, words.next()?);
    let numbers: BTreeMap<&str, u32> = words
        .filter_map(|word| word.split_once('='))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect();
    Some(Record {
        seq: SeqNum::new(seq),
        end: SeqNum::new(end),
        cause,
        state,
        sack: *numbers.get("sack")? != 0,
        rack: *numbers.get("rack")? != 0,
        high: *numbers.get("high")?,
    })
}

impl Record<'_> {
    fn holds(&self, seq: SeqNum) -> bool {
        let (length, at) = (
            self.end.get().wrapping_sub(self.seq.get()),
            seq.get().wrapping_sub(self.seq.get()),
        );
        at < length
    }

    /// The mechanism, and the recovery that retransmissions go on in after it (docs/notes/causes.md).
    fn mechanism(&self, recovery: Option<u32>) -> (Mechanism, Option<u32>) {
        let high = Some(self.high);
        match (self.cause, self.state) {
            ("probe", _) => (Mechanism::Tlp, None),
            ("queue" | "queue-timer", "loss") => (Mechanism::RtoRecovery, None),
            ("queue" | "queue-timer", _) if !self.sack => (Mechanism::FastRetransmit, high),
            ("queue" | "queue-timer", _) if self.rack => (Mechanism::Rack, high),
            ("queue" | "queue-timer", _) if recovery == high => (Mechanism::SackRecovery, high),
            ("queue" | "queue-timer", _) => (Mechanism::FastRetransmit, high),
            // Timers: of data, of data against a shut window, of a SYN-ACK.
            _ => (Mechanism::Rto, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
100 10.0.0.1:80 10.0.1.2:4000 1001 2001 probe open sack=1 rack=1 sk=1 backoff=0 una=1 nxt=2001 high=7 undo=0
200 10.0.0.1:80 10.0.2.2:5000 11 21 timer loss sack=1 rack=1 sk=1 backoff=1 una=1 nxt=2001 high=8 undo=0
300 10.0.0.1:80 10.0.1.2:4000 1 1001 queue recovery sack=1 rack=0 sk=1 backoff=0 una=1 nxt=2001 high=9 undo=0
400 10.0.0.1:80 10.0.1.2:4000 1001 2001 queue-timer recovery sack=1 rack=0 sk=1 backoff=0 una=1 nxt=2001 high=9 undo=0
refused 0
";

    fn flow(text: &str, port: u16) -> FlowKey {
        FlowKey {
            src: "10.0.0.1".parse().unwrap(),
            dst: text.parse().unwrap(),
            src_port: 80,
            dst_port: port,
        }
    }

    #[test]
    fn flows_are_told_apart() {
        let first = records(TEXT, flow("10.0.1.2", 4000)).unwrap();
        let mut recovery = None;
        let mut words = Vec::new();
        for record in &first {
            let mechanism;
            (mechanism, recovery) = record.mechanism(recovery);
            words.push(mechanism);
        }
        let want = [
            Mechanism::Tlp,
            Mechanism::FastRetransmit,
            Mechanism::SackRecovery,
        ];
        assert_eq!(words, want);
        let second = records(TEXT, flow("10.0.2.2", 5000)).unwrap();
        assert_eq!(second.len(), 1);
        assert_eq!(second[0].mechanism(None).0, Mechanism::Rto);
    }

    #[test]
    fn a_record_holds_its_bytes_across_the_wrap() {
        let mut found = records(TEXT, flow("10.0.2.2", 5000)).unwrap();
        let mut record = found.remove(0);
        record.seq = SeqNum::new(u32::MAX - 4);
        record.end = SeqNum::new(5);
        assert!(record.holds(SeqNum::new(u32::MAX)) && record.holds(SeqNum::new(4)));
        assert!(!record.holds(SeqNum::new(5)) && !record.holds(SeqNum::new(u32::MAX - 5)));
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        let text = "100 10.0.0.1:80 10.0.1.2:4000 1001 probe open\n";
        assert!(records(text, flow("10.0.1.2", 4000)).is_err());
    }
}
