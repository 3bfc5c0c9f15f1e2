//! What a hostile capture looks like: a few connections whose packets come in turn, at one point of the network or several.

use rexmit_time::{Duration, Time};
use rexmit_trace::run::Promptly;
use rexmit_trace::settings::Settings;

use super::choices::Choices;
use super::connection::Connection;
use super::numbers::{Jumps, MSS};
use super::packet::{Fields, Packet};

/// Packets of a case at most.
const MOST_PACKETS: usize = 160;
/// Points of the network.
pub(super) const MOST_POINTS: usize = 3;

/// A packet on its way past the points.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// At each point: when it came by, as what; more than one where a network card has cut it up.
    pub passes: [Vec<(Time, Packet)>; MOST_POINTS],
}

/// Packets, and how they are analysed.
#[derive(Clone, Debug)]
pub struct Case {
    pub(super) settings: Settings,
    pub(super) points: usize,
    pub(super) sent: Vec<Sent>,
}

impl Case {
    /// The case that these bytes choose.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut choices = Choices::new(bytes);
        let choices = &mut choices;
        let settings = settings(choices);
        let points = choices.weighted(&[(4, 1), (3, 2), (2, MOST_POINTS)]);
        let jumps = Jumps(choices.of(&[64, 16, 6, 2, 200]));
        let mut connections: Vec<Connection> = Vec::new();
        for number in 0..choices.weighted(&[(3, 1), (2, 2), (1, 3)]) {
            let keys = [1 + u64::from(number), 11 + u64::from(number)];
            let keys = connections.first().map_or(keys, Connection::keys);
            connections.push(Connection::new(number, keys, choices));
        }
        let mut way = Way::new(choices);
        let mut now = Time::ZERO + Duration::from_secs(1_700_000_000);
        let mut sent: Vec<Sent> = Vec::new();
        while !choices.are_over() && sent.len() < MOST_PACKETS {
            now += wait(choices);
            if choices.once_in(40) && !sent.is_empty() {
                // The same packet once more.
                let before = choices.below(sent.len().min(4) as u32) as usize;
                let passes = sent[sent.len() - 1 - before].passes.clone();
                sent.push(Sent { passes });
                continue;
            }
            let at = choices.below(connections.len() as u32) as usize;
            let fields = connections[at].send(jumps, choices);
            let other = choices.below(connections.len() as u32) as usize;
            if other != at {
                let of = connections[at].clone();
                connections[other].share(&of);
            }
            sent.push(way.pass(now, &fields, points, choices));
        }
        Case {
            settings,
            points,
            sent,
        }
    }
}

impl Case {
    /// How it is analysed, where that is not as everyone does.
    #[must_use]
    pub fn unusual_settings(&self) -> Option<String> {
        let Settings {
            most_connections,
            most_events,
            most_retransmissions,
            promptly,
            ..
        } = &self.settings;
        (*most_connections != Settings::default().most_connections).then(|| {
            format!(
                "at most {most_connections} connections, {most_events} packets and {most_retransmissions} retransmissions of \
                 each, {promptly:?}"
            )
        })
    }
}

/// Mostly those that everyone has.
fn settings(choices: &mut Choices<'_>) -> Settings {
    let mut settings = Settings::default();
    if choices.below(4) < 3 {
        return settings;
    }
    settings.most_connections = choices.of(&[1, 2, 3, 20]);
    settings.most_events = choices.of(&[1, 8, 40, 512]);
    settings.most_retransmissions = choices.of(&[1, 5, 4_096]);
    if choices.below(4) == 0 {
        settings.whatif = None;
    }
    if choices.below(2) == 0 {
        let stretch = Duration::from_millis(choices.of(&[1, 50, 600]));
        settings.promptly = Some(Promptly {
            stretch,
            wait: stretch * 2,
        });
    }
    settings
}

/// How long nothing comes.
fn wait(choices: &mut Choices<'_>) -> Duration {
    let (unit, most) = choices.weighted(&[
        (6, (0, 1)),
        (12, (50_000, 20)),
        (10, (1_000_000, 40)),
        (6, (20_000_000, 20)),
        (3, (200_000_000, 10)),
        (1, (1_000_000_000, 70)),
        (1, (60_000_000_000, 40)),
        (1, (-1_000_000, 30)),
        (1, (-1_000_000_000, 1_000)),
    ]);
    Duration::from_nanos(unit * i64::from(choices.below(most)))
}

/// The way past the points.
struct Way {
    /// From the first point to each.
    delays: [Duration; MOST_POINTS],
    /// What the clock of each shows more.
    ahead: [Duration; MOST_POINTS],
    /// One in so many packets is lost before a point.
    lost: u32,
    /// One in so many is cut up.
    cut: u32,
}

impl Way {
    fn new(choices: &mut Choices<'_>) -> Self {
        let mut millis = |most| Duration::from_millis(i64::from(choices.below(most)));
        let delays = [Duration::ZERO, millis(30), millis(90)];
        let ahead = [Duration::ZERO, millis(5_000), millis(2)];
        Way {
            delays,
            ahead,
            lost: choices.of(&[8, 3, 50]),
            cut: choices.of(&[10, 50]),
        }
    }

    fn pass(
        &mut self,
        now: Time,
        fields: &Fields,
        points: usize,
        choices: &mut Choices<'_>,
    ) -> Sent {
        let mut passes: [Vec<(Time, Packet)>; MOST_POINTS] = Default::default();
        passes[0].push((now, fields.packet()));
        for (point, passed) in passes.iter_mut().enumerate().take(points).skip(1) {
            if choices.once_in(self.lost) {
                continue;
            }
            let late = Duration::from_micros(i64::from(choices.below(200)));
            let onward = if fields.from_client {
                self.delays[point]
            } else {
                -self.delays[point]
            };
            let at = now + self.ahead[point] + onward + late;
            if fields.len > MSS && fields.len <= 65_000 && choices.once_in(self.cut) {
                for from in (0..fields.len).step_by(10 * MSS as usize) {
                    let part = Fields {
                        seq: fields.seq.wrapping_add(from),
                        len: (fields.len - from).min(10 * MSS),
                        ..fields.clone()
                    };
                    passed.push((at, part.packet()));
                }
            } else {
                passed.push((at, fields.packet()));
            }
        }
        if points > 1 && choices.once_in(30) {
            passes[0].clear();
        }
        Sent { passes }
    }
}
