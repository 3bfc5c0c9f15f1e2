//! `tcpfilter N`: the program of Ryll 2013, for any Linux host whose firewall queues a server's packets.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, bail, Result};
use nix::sys::signal::{sigaction, SaFlags, SigAction, SigHandler, SigSet, Signal};
use rexmit_loss::pattern::Pattern;
use rexmit_loss::{Drops, Event, LossRule, Mode, Settings, Transfer};
use rexmit_time::Time;
use serde::Serialize;

use crate::filter::{Filter, Observer};
use crate::nfqueue::Queue;
use crate::source::Fate;

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: i32) {
    STOP.store(true, Ordering::Relaxed);
}

/// Prints a row for every transfer until SIGINT or SIGTERM; the exit status is 0 then.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    let Asked {
        settings,
        does,
        queue,
        json,
    } = parse(arguments)?;
    let queue = match Queue::open(queue) {
        Ok(queue) => queue,
        Err(error) => {
            eprintln!("rexmit tcpfilter: {error:#}");
            return Ok(1);
        }
    };
    // No SA_RESTART: the wait for packets must end.
    let action = SigAction::new(SigHandler::Handler(stop), SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler only stores into an atomic.
        unsafe { sigaction(signal, &action) }?;
    }
    let mut printer = Printer { json, untracked: 0 };
    let mut filter = Filter::new(queue, LossRule::new(settings))?;
    eprintln!("rexmit tcpfilter: dropping {does}");
    while !STOP.load(Ordering::Relaxed) {
        filter.step(&mut printer)?;
    }
    filter.close(&mut printer)?;
    if printer.untracked > 0 {
        eprintln!(
            "rexmit tcpfilter: {} connections had responses that cannot be tracked",
            printer.untracked
        );
    }
    Ok(0)
}

/// What the command line asks for.
struct Asked {
    settings: Settings,
    /// The rule in words.
    does: String,
    queue: u16,
    json: bool,
}

fn parse(mut arguments: lexopt::Parser) -> Result<Asked> {
    use lexopt::prelude::*;
    const USAGE: &str =
        "usage: tcpfilter N|--pattern TEXT [--queue 0] [--mode sequence|hold] [--json]";
    let (mut segments, mut pattern, mut queue, mut mode, mut json) =
        (None, None, 0, Mode::Sequence, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("queue") => queue = arguments.value()?.parse()?,
            Long("mode") => {
                mode = arguments
                    .value()?
                    .string()?
                    .parse()
                    .map_err(|error| anyhow!("--mode: {error}"))?;
            }
            Long("pattern") => {
                let text = arguments.value()?.string()?;
                let read: Result<Pattern, _> = text.parse();
                let read = read.map_err(|error| anyhow!("--pattern: {error}"))?;
                if let Some(item) = read.needs_rehearsal() {
                    bail!(
                        "--pattern: {item:?}: nothing tells how many packets a path will carry, nor which path ends a \
                         response; name positions on a path from the front (a run of bursts counts them in a rehearsal)"
                    );
                }
                pattern = Some(read);
            }
            Long("json") => json = true,
            Value(value) if segments.is_none() => segments = Some(value.parse()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let (drops, does) = match (segments, pattern) {
        (Some(segments), None) => {
            let does = format!("the last {segments} segments of each transfer, {mode} mode");
            let hold_limit = rexmit_time::Duration::from_secs(3);
            let tail = Drops::Tail {
                segments,
                mode,
                hold_limit,
            };
            (tail, does)
        }
        (None, Some(pattern)) => {
            let does = format!("of each transfer: {pattern}");
            (Drops::Pattern(pattern), does)
        }
        (None, None) => bail!("how many segments to drop? {USAGE}"),
        (Some(_), Some(_)) => bail!("a number of segments or a pattern, not both; {USAGE}"),
    };
    Ok(Asked {
        settings: Settings {
            drops,
            ..Settings::default()
        },
        does,
        queue,
        json,
    })
}

/// Prints rows as the paper's program does, or as JSON objects.
struct Printer {
    json: bool,
    untracked: u64,
}

#[derive(Serialize)]
struct Row<'a> {
    flow: String,
    transfer_size_bytes: u64,
    transfer_segments: u64,
    dropped_segments: u64,
    t_total_s: Option<f64>,
    t_recover_s: Option<f64>,
    is_tlp: Option<bool>,
    fin_on_data: Option<bool>,
    exact: bool,
    stalled: bool,
    complete: bool,
    retransmissions: u64,
    notes: &'a [String],
}

fn seconds(duration: Option<rexmit_time::Duration>) -> Option<f64> {
    duration.map(|duration| duration.as_nanos() as f64 / 1e9)
}

fn line(transfer: &Transfer, json: bool) -> Result<String> {
    let (total, recover) = (seconds(transfer.t_total()), seconds(transfer.t_recover()));
    if json {
        let notes: Vec<String> = transfer.notes.iter().map(ToString::to_string).collect();
        let row = Row {
            flow: transfer.flow.to_string(),
            transfer_size_bytes: transfer.size_bytes(),
            transfer_segments: transfer.segments,
            dropped_segments: transfer.dropped_segments,
            t_total_s: total,
            t_recover_s: recover,
            is_tlp: transfer.is_tlp,
            fin_on_data: transfer.fin_on_data,
            exact: transfer.exact,
            stalled: transfer.stalled,
            complete: transfer.complete,
            retransmissions: transfer.retransmissions,
            notes: &notes,
        };
        return Ok(serde_json::to_string(&row)?);
    }
    // What did not happen is no number; the flag is not valid for fewer than two dropped packets.
    let number = |value: Option<f64>| value.map_or("nan".to_owned(), |value| format!("{value:.9}"));
    let flag = transfer
        .is_tlp
        .map_or("nan".to_owned(), |flag| u8::from(flag).to_string());
    let (size, segments, dropped) = (
        transfer.size_bytes(),
        transfer.segments,
        transfer.dropped_segments,
    );
    Ok(format!(
        "{size}, {segments}, {dropped}, {}, {}, {flag}",
        number(total),
        number(recover)
    ))
}

impl Observer for Printer {
    fn event(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Finished(transfer) => {
                let mut out = std::io::stdout().lock();
                // A reader that has gone away ends the program as a signal would.
                if writeln!(out, "{}", line(transfer, self.json)?).and_then(|()| out.flush()).is_err() {
                    STOP.store(true, Ordering::Relaxed);
                }
                if !self.json {
                    transfer.notes.iter().for_each(|note| eprintln!("rexmit tcpfilter: {}: {note}", transfer.flow));
                }
            }
            Event::Stalled(stalled) => eprintln!(
                "rexmit tcpfilter: {}: the sender stalled while {} packets were held (they count against its small-queue \
                 limit); let go, nothing dropped. --mode sequence holds nothing",
                stalled.flow, stalled.released
            ),
            Event::Untracked(untracked) => {
                self.untracked += 1;
                eprintln!("rexmit tcpfilter: {}: passes untouched: {}", untracked.flow, untracked.why);
            }
            Event::Dropped(_) | Event::BareDropped(_) | Event::Carried(_) => {}
        }
        Ok(())
    }

    fn fate(&mut self, _from: usize, _time: Time, _bytes: &[u8], _fate: Fate) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked> {
        parse(lexopt::Parser::from_args(words))
    }

    #[test]
    fn a_pattern_may_name_paths_from_the_front_alone() {
        let good = asked(&["--pattern", "path 2 data 3 3#2; burst 2 data -1"]).unwrap();
        assert_eq!(
            good.does,
            "of each transfer: path 2 data 3 3#2; burst 2 data -1"
        );
        let wrong = |text: &str| asked(&["--pattern", text]).err().unwrap().to_string();
        assert!(
            wrong("path 2 data 1; path 1 data -1").contains("\"path 1 data -1\": nothing tells")
        );
        assert!(wrong("path 1 data x").contains("at column 13"));
    }
}
