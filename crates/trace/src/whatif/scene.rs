//! One wait of the head of the queue, with what is known of the retransmissions in it.

use rexmit_tcp::Need;
use rexmit_time::Duration;

use super::known::{Known, Retransmission};
use super::outcome::Outcome;
use super::watch::{Leg, Stand};
use crate::cost::{half_flight, Finder};

/// A loss detection: a retransmission that found something out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detection {
    pub leg: Leg,
    pub finder: Finder,
    pub retransmission: Retransmission,
}

/// A wait under judgement.
pub(super) struct Scene<'a> {
    pub stand: &'a Stand,
    pub detections: Vec<Detection>,
    /// What happened, and whether the head was lost.
    pub own: Outcome,
    pub needed: bool,
    /// A probe went before the timeout and did not help.
    pub vain: bool,
    /// Detections that `own` stands for.
    pub consumed: usize,
    /// How long the sender waited for what `own` stands for.
    pub waited: Duration,
    /// From a probe to the head's repair.
    pub probe_to_repair: Duration,
    /// Half of the flight.
    pub x: f64,
    /// Segments lost, at least one.
    pub lost: u32,
    /// What lay behind a head that was not lost was, and was sent again after the head.
    pub lost_behind: bool,
    /// Retransmissions, and timeouts, that go if nothing is sent again.
    pub spurious: (u32, u32),
    /// The timer's doublings at the start.
    pub doublings: u32,
}

impl<'a> Scene<'a> {
    /// The timeouts in a wait.
    pub fn timeouts<'s>(stand: &'s Stand, known: &'s Known) -> impl Iterator<Item = &'s Leg> {
        let timeout =
            |leg: &&Leg| known.retransmission(leg.number).finder() == Some(Finder::Timeout);
        stand.legs.iter().filter(timeout)
    }

    /// What happened in a wait; none if that is not known.
    ///
    /// `srtt` is the smoothed round-trip time at its start, and `doublings` how often the timer has backed off before.
    pub fn of(
        stand: &'a Stand,
        known: &Known,
        srtt: Duration,
        doublings: u32,
    ) -> Option<Scene<'a>> {
        let mut detections = Vec::new();
        for leg in &stand.legs {
            let retransmission = known.retransmission(leg.number);
            match retransmission.finder() {
                Some(finder) => detections.push(Detection {
                    leg: *leg,
                    finder,
                    retransmission,
                }),
                None if retransmission.unexplained() => return None,
                None => {}
            }
        }
        let first = detections.first().copied();
        let (needed, spurious) =
            first.map_or((0, 0), |first| known.episode(first.retransmission.episode));
        let lost = first.is_some_and(|first| first.retransmission.need != Need::Spurious);
        let mut vain = false;
        let mut probe_to_repair = if needed > 1 { srtt } else { Duration::ZERO };
        let own = match first.map(|first| (first.finder, first.leg.at)) {
            None => Outcome::Acknowledged,
            Some((Finder::Timeout, at)) => Outcome::Timeout(at),
            Some((Finder::Acknowledgements, at)) => Outcome::Acknowledgements(at),
            Some((Finder::Probe, at)) => match detections.get(1) {
                Some(next) if next.finder == Finder::Timeout => {
                    vain = true;
                    Outcome::Timeout(next.leg.at)
                }
                Some(next) if next.finder == Finder::Acknowledgements => {
                    probe_to_repair = next.leg.at - at;
                    Outcome::Probe {
                        at,
                        repaired: next.leg.at,
                    }
                }
                _ => Outcome::Probe {
                    at,
                    repaired: at + probe_to_repair,
                },
            },
        };
        // What nothing acknowledged by the end arrived under no setting: earlier copies of it would have been lost, too.
        stand.end?;
        let timeouts = detections
            .iter()
            .filter(|d| d.finder == Finder::Timeout)
            .count() as u32;
        // A probe that brings the repair is waited for, and so is the repair.
        let waits = match own {
            Outcome::Acknowledged => 0,
            Outcome::Probe { .. } if detections.len() > 1 => 2,
            _ => 1 + usize::from(vain),
        };
        let waited = detections
            .iter()
            .take(waits)
            .map(|d| d.retransmission.waited);
        let flight = first.map_or(0, |first| first.retransmission.flight_segments);
        Some(Scene {
            stand,
            own,
            needed: lost,
            vain,
            consumed: usize::from(first.is_some()) + usize::from(vain),
            waited: waited.fold(Duration::ZERO, |sum, of| sum + of),
            probe_to_repair,
            x: half_flight(if flight > 0 {
                flight
            } else {
                stand.wait.outstanding
            }),
            lost: needed.max(1),
            lost_behind: !lost && needed > 0,
            spurious: (spurious, timeouts),
            doublings,
            detections,
        })
    }
}
