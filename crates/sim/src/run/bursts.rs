//! Bursts over a connection whose subflows are all up.

use anyhow::{bail, Result};
use rexmit_plan::{not_all_came_up, BurstSeen, Bursts, Ended, Run, Start};
use rexmit_tcp::connection::State;
use rexmit_time::{Duration, Time};

use super::bench::{Bench, UP};
use super::inspect::Inspect;
use super::transfers::{OpenConnection, Opened, Transmitted};
use crate::apps::{App, Reader, Writer};

/// How long a connection and its subflows may take to come up.
const COMING_UP: Duration = Duration::from_secs(10);

/// How early a connection may begin whose last burst is written at `last`, `span_ns` after its first.
pub fn early(last: u64, span_ns: u64) -> u64 {
    let first = last.saturating_sub(span_ns);
    let early = first.saturating_sub(COMING_UP.as_nanos().unsigned_abs());
    early.max(UP.as_nanos())
}

/// A connection that did not come up.
struct NotUp {
    /// When that was clear.
    at: Time,
    /// What did not come up.
    why: String,
}

impl<M: Inspect> Bench<'_, M> {
    /// Opens the connection, has its bursts written and read, and waits until all is quiet.
    pub fn send_bursts(
        &mut self,
        bursts: &Bursts,
        bytes: u64,
        start: &Start,
        opened: Opened<M>,
    ) -> Result<Transmitted> {
        let apps = [
            App::Reader(Reader::default()),
            App::Writer(Writer::default()),
        ];
        let mut one = opened.start(apps);
        let begin = one.begin;
        let settling = self.settling()?;
        let now = match one.bring_up(settling) {
            Ok(now) => now,
            Err(failed) => {
                self.free = failed.at + settling;
                let mut run = Run {
                    ended: Ended::NotConnected,
                    notes: vec![failed.why],
                    client_ns: failed.at.since(begin).as_nanos().unsigned_abs(),
                    ..Run::default()
                };
                self.count(&one, &mut run);
                (run.mptcp_retransmissions, run.probe_reinjections) = (None, None);
                return one.told(run, failed.at, |_, _| {});
            }
        };
        let planned = self.last(bursts, now, start);
        let first = Time::from_nanos(planned.as_nanos() - bursts.span_ns());
        let (client, server) = (one.client, one.client.peer());
        one.world.with(client, |_, _, app| {
            if let App::Reader(reader) = app {
                reader.plan(bursts, bytes, first);
            }
        });
        one.world.with(server, |now, machine, app| {
            // A burst is one write: what is left of it at its end is not to wait for more.
            machine.set_nodelay(now);
            if let App::Writer(writer) = app {
                writer.plan(bursts, bytes, first);
            }
        });
        let end = one.read_all(self.patience()?);
        let mut run = Run {
            client_ns: end.as_nanos() - begin.as_nanos(),
            ..Run::default()
        };
        self.settle(&mut one, end, &mut run)?;
        let (App::Reader(reader), App::Writer(writer)) =
            (one.world.app(client), one.world.app(server))
        else {
            bail!("the programs are gone");
        };
        let ends = reader.ends().iter().copied().map(Some);
        let ends = ends.chain(std::iter::repeat(None));
        let begun = match bursts.request {
            Some(_) => reader.asked(),
            None => writer.begun(),
        };
        let seen = begun.iter().zip(ends);
        run.bursts = seen
            .map(|(&t_start, t_end)| BurstSeen {
                t_start,
                t_end,
                bytes,
            })
            .collect();
        run.ended = if reader.is_complete() {
            Ended::Finished
        } else {
            Ended::TimedOut
        };
        run.notes = [writer.notes(), run.notes].concat();
        one.told(run, planned, |_, _| {})
    }

    /// When the last burst is written: at its phase after a multiple of the cell's period, the first not before now. Of
    /// bursts that are asked for, when the first is.
    fn last(&self, bursts: &Bursts, now: Time, start: &Start) -> Time {
        let soonest = now.as_nanos() + bursts.span_ns();
        let given = start.boundary_ns.map(|boundary| boundary + start.phase_ns);
        let last = given
            .filter(|last| *last >= soonest)
            .unwrap_or_else(|| self.at_phase(soonest, start.phase_ns));
        Time::from_nanos(last)
    }
}

impl<M: Inspect> OpenConnection<M> {
    /// Opens the connection on its first path and a subflow on each other when that is confirmed; `settling` more passes.
    /// When that is over, or why it does not come up.
    fn bring_up(&mut self, settling: Duration) -> std::result::Result<Time, NotUp> {
        let limit_s = COMING_UP.as_nanos() as u64 / 1_000_000_000;
        let first = self.first;
        let number = self.numbers[first];
        let failed = |at| NotUp {
            at,
            why: format!("path {number} does not come up within {limit_s} s"),
        };
        self.wait(|one| one.is_open()).map_err(failed)?;
        self.say_hello();
        self.wait(|one| one.is_up(first)).map_err(failed)?;
        let others: Vec<usize> = self.others().collect();
        for path in &others {
            self.world.join(self.client, *path);
        }
        let all = |one: &Self| others.iter().all(|path| one.is_up(*path));
        self.wait(all).map_err(|at| {
            let paths = 0..self.numbers.len();
            let up = paths.filter(|path| self.is_up(*path));
            let up: Vec<u32> = up.map(|path| self.numbers[path]).collect();
            NotUp {
                at,
                why: not_all_came_up(&up, &self.numbers, limit_s),
            }
        })?;
        // Now that all is up the client says so: its window is open before the first burst.
        self.say_hello();
        let heard = self.wait(|one| one.heard() == 2).map_err(|at| NotUp {
            at,
            why: format!("the client is not heard within {limit_s} s"),
        })?;
        let until = heard + settling;
        self.world.run_until(until);
        Ok(until)
    }

    /// When something is so, or until when it was waited for.
    fn wait(&mut self, is: impl Fn(&Self) -> bool) -> std::result::Result<Time, Time> {
        let limit = self.world.now() + COMING_UP;
        while !is(self) {
            if self.world.next_time().is_none_or(|time| time > limit) {
                return Err(limit);
            }
            self.world.step();
        }
        Ok(self.world.now())
    }

    /// The client says something, so that the server knows it is there (RFC 8684 §3.1).
    fn say_hello(&mut self) {
        self.world.with(self.client, |now, machine, _| {
            machine.write(now, 1, false);
        });
    }

    /// Bytes that the server has heard of the client.
    fn heard(&self) -> u64 {
        match self.world.app(self.client.peer()) {
            App::Writer(writer) => writer.heard,
            _ => 0,
        }
    }

    /// Whether the client's handshake on the first path is over.
    fn is_open(&self) -> bool {
        let client = self.world.machine(self.client);
        let connection = client.and_then(|machine| machine.connection(self.first));
        connection.is_some_and(|one| one.state() == State::Established)
    }

    /// Whether both ends know that the connection, or the subflow, on `path` is up.
    fn is_up(&self, path: usize) -> bool {
        let is_up = |machine: &M| match machine.meta() {
            Some(meta) => meta.confirmed(path).is_some(),
            None => machine
                .connection(path)
                .is_some_and(|one| one.state() == State::Established),
        };
        let ends = [self.client, self.client.peer()];
        let mut ends = ends.iter().map(|end| self.world.machine(*end));
        ends.all(|machine| machine.is_some_and(is_up)) && self.heard() > 0
    }

    /// Runs until the client has read everything or gives up; when that was.
    fn read_all(&mut self, patience: Duration) -> Time {
        let client = self.client;
        while let App::Reader(reader) = self.world.app(client) {
            if reader.is_complete() {
                break;
            }
            let limit = reader.last_read() + patience;
            if self.world.next_time().is_none_or(|time| time > limit) {
                self.world.with(client, |_, _, app| {
                    if let App::Reader(reader) = app {
                        reader.give_up();
                    }
                });
                return limit.max(self.world.now());
            }
            self.world.step();
        }
        self.world.now()
    }
}
