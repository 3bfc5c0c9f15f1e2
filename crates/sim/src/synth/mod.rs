//! Captures of any size with their truth: many connections of the model's stacks, drawn from a mix of networks and
//! workloads.
//!
//! Every connection is a little world of its own, and depends on the seed and its number alone; what connections share is
//! the clock, on which they begin as a Poisson process. They are run in the order of their beginnings and written as
//! time goes by, so memory holds only those that are open.

mod behaviour;
mod connection;
mod draw;
mod files;
mod look;
mod merge;
mod mix;
mod path;
mod perturb;
mod record;
mod render;
mod table;
mod truth;
mod updates;
mod workload;

use std::io;
use std::rc::Rc;
use std::sync::mpsc;

use rexmit_tcp::settings::Settings;
use rexmit_time::{Streams, Time};

use connection::{Population, Unit};
use draw::{exponential, seconds};
use merge::Merge;

pub use behaviour::{CutsMix, DefersMix, StopsMix};
pub use draw::{Choice, LogNormal, LogUniform, Sizes, Weighted};
pub use files::{FileCapture, Format};
pub use look::{Look, SynOrder};
pub use merge::Capture;
pub use mix::{Mix, NetworkMix, WorkloadMix};
pub use record::Point;
pub use table::{ConnectionRow, RetransmissionRow};

/// What is to be made.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Where all chance comes from.
    pub seed: u64,
    /// How many connections; those that take over another's addresses and ports come on top.
    pub connections: u64,
    /// What they are drawn from.
    pub mix: Mix,
    /// The stacks of those that send most, by name, each as often as the others. A name may stand several times.
    pub senders: Vec<(&'static str, Settings)>,
    /// The stacks of the others.
    pub receivers: Vec<(&'static str, Settings)>,
    /// Constants of stacks are off by up to this share of each, 0 to 1.
    pub perturb: f64,
    /// Bytes captured of a packet, its Ethernet header counted.
    pub snaplen: u32,
    /// When the first connection may begin.
    pub begin: Time,
    /// Threads that run connections; the result does not depend on it.
    pub jobs: usize,
}

/// Where it goes.
pub struct Outputs<'a, C> {
    /// The captures, at most one of a point.
    pub captures: Vec<(Point, C)>,
    /// Takes the rows of retransmissions.
    pub retransmissions: &'a mut dyn FnMut(RetransmissionRow) -> io::Result<()>,
    /// Takes the rows of connections.
    pub connections: &'a mut dyn FnMut(ConnectionRow) -> io::Result<()>,
}

/// How much was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Connections.
    pub connections: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Packets of each capture, in the order of [`Outputs::captures`].
    pub packets: Vec<u64>,
}

/// Connections that a thread may be ahead.
const AHEAD: usize = 32;
/// Connections between two reports.
const REPORT: u64 = 64;

/// Makes `corpus`; `report` hears how far it is, and ends it early by an error.
///
/// # Errors
/// Those of the captures, of who takes rows, and of `report`.
pub fn make<C: Capture, E: From<io::Error>>(
    corpus: &Corpus,
    outputs: Outputs<'_, C>,
    mut report: impl FnMut(&Made) -> Result<(), E>,
) -> Result<Made, E> {
    let streams = Streams::new(corpus.seed);
    let mut points = [false; 3];
    for (point, _) in &outputs.captures {
        points[*point as usize] = true;
    }
    let source = Population {
        streams,
        mix: &corpus.mix,
        senders: &corpus.senders,
        receivers: &corpus.receivers,
        perturb: corpus.perturb,
        snaplen: corpus.snaplen as usize,
        points,
    };
    let captures = outputs.captures.into_iter();
    let mut sink = Sink {
        merges: captures
            .map(|(point, capture)| Merge::new(point, capture))
            .collect(),
        points,
        retransmissions: outputs.retransmissions,
        connections: outputs.connections,
        made: Made::default(),
    };
    let starts = starts(corpus, &streams);
    let jobs = corpus.jobs.clamp(1, 64) as u64;
    std::thread::scope(|scope| {
        let (source, starts) = (&source, &starts);
        let workers: Vec<mpsc::Receiver<Unit>> = (0..jobs)
            .map(|job| {
                let (give, take) = mpsc::sync_channel(AHEAD);
                scope.spawn(move || {
                    for number in (job..corpus.connections).step_by(jobs as usize) {
                        let unit = source.draw(number, starts[number as usize]);
                        if give.send(unit).is_err() {
                            // Nobody listens any more.
                            return;
                        }
                    }
                });
                take
            })
            .collect();
        for number in 0..corpus.connections {
            sink.until(starts[number as usize])?;
            let Ok(unit) = workers[(number % jobs) as usize].recv() else {
                // The thread panicked, which the scope passes on.
                break;
            };
            sink.take(number, unit)?;
            if (number + 1) % REPORT == 0 {
                report(&sink.made)?;
            }
        }
        sink.finish()?;
        report(&sink.made)?;
        Ok(sink.made)
    })
}

/// When each connection begins.
fn starts(corpus: &Corpus, streams: &Streams) -> Vec<Time> {
    let mut stream = streams.stream("arrivals", 0);
    let mut at = corpus.begin;
    (0..corpus.connections)
        .map(|_| {
            at += seconds(exponential(&mut stream, 1.0 / corpus.mix.arrivals_per_s));
            at
        })
        .collect()
}

/// Where units go.
struct Sink<'a, C> {
    merges: Vec<Merge<C>>,
    points: [bool; 3],
    retransmissions: &'a mut dyn FnMut(RetransmissionRow) -> io::Result<()>,
    connections: &'a mut dyn FnMut(ConnectionRow) -> io::Result<()>,
    made: Made,
}

impl<C: Capture> Sink<'_, C> {
    /// No packet before `time` is to come.
    fn until(&mut self, time: Time) -> io::Result<()> {
        for merge in &mut self.merges {
            merge.write(time)?;
        }
        Ok(())
    }

    fn take(&mut self, number: u64, unit: Unit) -> io::Result<()> {
        for told in unit.told {
            self.made.connections += 1;
            for row in table::retransmissions(&told, self.points) {
                self.made.retransmissions += 1;
                (self.retransmissions)(row)?;
            }
            (self.connections)(ConnectionRow::new(told))?;
        }
        let rendered = Rc::new(unit.rendered);
        for merge in &mut self.merges {
            merge.add(number, &rendered);
        }
        self.made.packets = self.merges.iter().map(|merge| merge.written).collect();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        for merge in &mut self.merges {
            merge.finish()?;
        }
        self.made.packets = self.merges.iter().map(|merge| merge.written).collect();
        Ok(())
    }
}
