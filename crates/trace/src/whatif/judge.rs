//! Judges every wait of a sender under all settings at once.

use std::sync::Arc;

use rexmit_tcp::clock::Tick;
use rexmit_tcp::estimator::Batch;
use rexmit_tcp::recovery::early_retransmit::few_out;
use rexmit_tcp::recovery::tlp;
use rexmit_tcp::settings::{EarlyRetransmit, RttSamples, Tlp};
use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::clock::SenderClock;
use super::effects::{Effects, Key};
use super::found::found_at;
use super::known::Known;
use super::outcome::{Chances, Outcome, Tally};
use super::plan::Compiled;
use super::scene::Scene;
use super::undone;
use super::watch::{Ack, Stand, Wait};
use crate::cost::Finder;

/// Runs the settings side by side over what a [`super::watch::Watch`] noted.
#[derive(Debug)]
pub(super) struct Judge {
    plan: Arc<Compiled>,
    batch: Batch,
    clock: SenderClock,
    /// Timeouts since the last sample.
    doublings: u32,
    /// The sender opened the connection.
    client: bool,
    timestamps: bool,
    /// Some setting probes where the sender's own stack does not.
    new_probes: bool,
    round_trips: (Duration, i64),
    recycled: Recycled,
}

/// Memory that the judge of one sender leaves to that of the next.
#[derive(Debug, Default)]
pub(super) struct Recycled {
    /// What each setting does otherwise.
    tallies: Vec<Tally>,
    /// Of each estimator, while a wait is judged: its timeout without back-off, and the same in ticks.
    rtos: Vec<Duration>,
    timeouts: Vec<i64>,
    /// What the settings do otherwise in the wait that is judged.
    effects: Effects,
    /// Of each detector, while a wait is judged: when acknowledgements find the head lost.
    found: Vec<Option<Time>>,
    /// Of each setting without SACK, where the sender has it: segments lost that the recovery has still to find.
    left: Vec<u32>,
}

impl Judge {
    pub fn new(
        plan: Arc<Compiled>,
        mut recycled: Recycled,
        client: bool,
        timestamps: bool,
    ) -> Self {
        let own = plan.detectors[0].tlp;
        recycled.tallies.clear();
        recycled
            .tallies
            .resize(plan.choices.len(), Tally::default());
        recycled.left.clear();
        recycled.left.resize(plan.choices.len(), 0);
        Judge {
            batch: plan.batch.clone(),
            clock: SenderClock::new(&plan.own),
            doublings: 0,
            client,
            timestamps,
            new_probes: own == Tlp::Off && plan.detectors.iter().any(|d| d.tlp != Tlp::Off),
            round_trips: (Duration::ZERO, 0),
            recycled,
            plan,
        }
    }

    /// What each setting did otherwise.
    pub fn tallies(&self) -> &[Tally] {
        &self.recycled.tallies
    }

    /// The average round-trip time.
    pub fn average(&self) -> Duration {
        let (sum, number) = self.round_trips;
        sum / number.max(1)
    }

    /// The memory, for the next.
    pub fn leave(self) -> Recycled {
        self.recycled
    }

    /// An acknowledgement moved on: the wait that it ended, and its sample.
    pub fn ack(&mut self, ack: &Ack) {
        if let Some(wait) = &ack.wait {
            self.quiet(wait, ack.at);
        }
        if ack.holes > 0 {
            self.holes(ack);
        }
        if let Some(rtt) = ack.sent_rtt.or(ack.stamp_rtt) {
            self.round_trips.0 += rtt;
            self.round_trips.1 += 1;
        }
        if let Some(rtt) = self.sample_of(ack) {
            self.batch.sample(rtt, ack.una, ack.nxt);
            self.doublings = 0;
        }
    }

    /// A timer of the sender fired at `at`, which may be off by `slack`: where its ticks begin.
    pub fn fired(&mut self, at: Time, slack: Duration) {
        self.clock.fired(at, slack);
    }

    /// The sample that the sender's stack takes (RFC 6298 §3, RFC 7323 §4; Linux: `tcp_ack_update_rtt`).
    fn sample_of(&self, ack: &Ack) -> Option<Duration> {
        let stamp = ack.stamp_rtt.filter(|_| self.timestamps);
        let own = &self.plan.own;
        let sample = match (own.timers.estimator.counts_ticks(), own.timers.rtt_samples) {
            (false, _) => ack.sent_rtt.or(stamp),
            (true, RttSamples::EachAck) => stamp.or(ack.sent_rtt),
            (true, RttSamples::OncePerRoundTrip) => stamp.or(ack.once_rtt),
        };
        sample.map(|rtt| self.clock.measured(rtt, ack.at))
    }

    /// The handshake is over; its sample, if it was not among the acknowledgements.
    pub fn begin(&mut self, rtt: Option<Duration>, una: SeqNum) {
        match rtt {
            Some(rtt) => self
                .batch
                .sample(self.clock.measured_on_average(rtt), una, una),
            None => self.batch.no_sample_after_handshake(),
        }
    }

    /// A wait in which nothing happened: most are too short for any timer.
    fn quiet(&mut self, wait: &Wait, end: Time) {
        let length = end - wait.start;
        let timer = || length + self.clock.tick() > self.batch.least();
        let probe = || {
            let least = self.pto(Tlp::Rfc8985, wait.outstanding, Duration::ZERO);
            self.new_probes && !wait.recovery && end - wait.last_sent > least
        };
        if !timer() && !probe() {
            return;
        }
        let stand = Stand {
            wait: *wait,
            end: Some(end),
            duplicates: Vec::new(),
            duplicate_acks: Vec::new(),
            forward: Vec::new(),
            rack_at: None,
            legs: Vec::new(),
            min_rtt: Duration::MAX,
        };
        self.stand(&stand, &Known::default());
    }

    /// From a transmission to a probe. All settings probe by the sender's own round-trip time.
    fn pto(&self, form: Tlp, outstanding: u32, min_rto: Duration) -> Duration {
        let initial_rto = self.plan.own.timers.initial_rto;
        let view = tlp::Wait {
            form: self.plan.own.loss.tlp_wait,
            counted_from: None,
            srtt: self.batch.srtt(0),
            packets_out: outstanding,
            min_rto,
            initial_rto,
            delayed_ack_max: self.plan.own.receiver.delayed_ack_max,
            // Where that counts, the callers see to it.
            timeout_left: None,
        };
        // A stack that does not probe would by today's rule; where its ticks begin is not known.
        let form = match form {
            Tlp::Off => Tlp::Rfc8985,
            form => form,
        };
        tlp::wait(form, &view, Tick::CONTINUOUS).unwrap_or(initial_rto)
    }

    /// A wait with duplicate acknowledgements or retransmissions.
    pub fn stand(&mut self, stand: &Stand, known: &Known) {
        let srtt = self
            .batch
            .srtt(0)
            .unwrap_or(self.plan.own.timers.initial_rto);
        let timeouts = Scene::timeouts(stand, known).count() as u32;
        let Some(scene) = Scene::of(stand, known, srtt, self.doublings) else {
            self.doublings += timeouts;
            self.recycled.left.fill(0);
            return;
        };
        self.prepare(&scene);
        let plan = Arc::clone(&self.plan);
        let mut effects = core::mem::take(&mut self.recycled.effects);
        effects.clear();
        for (index, choice) in plan.choices.iter().enumerate() {
            if choice.variant == 0 && choice.detector == 0 {
                continue;
            }
            // Of a grid's settings many come to the same timer.
            let key = Key {
                ticks: self.recycled.timeouts[choice.variant],
                least: match scene.stand.wait.outstanding {
                    1 => plan.minima[choice.variant],
                    _ => Duration::ZERO,
                },
                detector: choice.detector,
            };
            let effect = effects.get_or(key, || {
                let mut effect = Tally::default();
                self.judge(&scene, choice.variant, choice.detector, &mut effect);
                effect
            });
            if let Some(effect) = effect {
                self.recycled.tallies[index].add(effect);
            }
            let (own, new) = (&plan.detectors[0], &plan.detectors[choice.detector]);
            if own.sack && !new.sack && !stand.legs.is_empty() {
                let first = self
                    .chances(&scene, choice.variant, choice.detector)
                    .first();
                let once = scene.detections.len() == scene.consumed;
                self.recycled.left[index] = match (first, stand.wait.recovery) {
                    (Outcome::Acknowledgements(_), false) if scene.needed && once => scene.lost - 1,
                    (Outcome::Acknowledgements(_), true) if once => self.recycled.left[index],
                    // What a timeout finds is sent again in slow start, with SACK or without it.
                    _ => 0,
                };
            }
        }
        self.recycled.effects = effects;
        self.doublings += timeouts;
    }

    /// Without SACK each hole after the first takes a round trip until a partial acknowledgement shows it (RFC 6582 §3.2),
    /// or a timeout does. The timer begins anew with each, as in Linux.
    fn holes(&mut self, ack: &Ack) {
        let srtt = self.batch.srtt(0).unwrap_or(Duration::ZERO);
        let plan = Arc::clone(&self.plan);
        for (index, choice) in plan.choices.iter().enumerate() {
            let left = self.recycled.left[index];
            let holes = ack.holes.min(left);
            if holes > 0 {
                let each = srtt.min(self.batch.rto(choice.variant));
                let later = each * i64::from(holes) - ack.held;
                self.recycled.left[index] -= holes;
                self.recycled.tallies[index].waited += later.max(Duration::ZERO);
            }
        }
    }

    /// What does not depend on the setting as a whole, but on its estimator or its detector alone.
    fn prepare(&mut self, scene: &Scene<'_>) {
        let plan = &self.plan;
        let Recycled {
            rtos,
            timeouts,
            found,
            ..
        } = &mut self.recycled;
        self.batch.rtos(rtos);
        timeouts.clear();
        timeouts.extend(rtos.iter().map(|rto| self.clock.ticks_in(*rto)));
        found.clear();
        found.extend(
            plan.detectors
                .iter()
                .map(|detector| found_at(scene, &plan.detectors[0], detector)),
        );
    }

    /// How long a timer runs that has backed off so often, on average over when in a tick it is set.
    fn doubled(&self, variant: usize, doublings: u32) -> Duration {
        let timeout = self.recycled.timeouts[variant];
        self.clock.mean_wait(self.clock.doubled(timeout, doublings))
    }

    /// When it fires if it is set at `set`.
    fn fires(&self, set: Time, variant: usize, doublings: u32) -> Time {
        let timeout = self.recycled.timeouts[variant];
        self.clock
            .fires(set, self.clock.doubled(timeout, doublings))
    }

    /// By how much a timer of `rto` runs longer than the sender's own. A SYN-ACK waits no longer: a client whose SYN has no
    /// answer sends that again, which is answered at once, and its timer is taken to be no longer than the sender's own.
    fn longer(&self, rto: Duration, own_rto: Duration) -> Duration {
        let longer = rto - own_rto;
        match self.batch.is_initial() && !self.client {
            true => longer.min(Duration::ZERO),
            false => longer,
        }
    }

    /// Round trips more that slow start takes to send again what was lost. UNC 2007's equations, which know neither probes
    /// nor RACK, hold as printed for all else.
    fn rounds(&self, scene: &Scene<'_>, other: Outcome, detector: usize) -> f64 {
        let (own, new) = (&self.plan.detectors[0], &self.plan.detectors[detector]);
        if own.tlp == new.tlp && own.rack == new.rack {
            return 0.0;
        }
        let probed = [scene.own, other]
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Probe { .. }));
        // A probe sends one of them, and what it brings is worked off as slowly as by slow start.
        let by_probe = if probed { rounds(scene.lost - 1) } else { 0.0 };
        rounds(scene.lost) - by_probe
    }

    fn judge(&self, scene: &Scene<'_>, variant: usize, detector: usize, tally: &mut Tally) {
        let other = self.chances(scene, variant, detector).first();
        if scene.needed {
            let rounds = self.rounds(scene, other, detector);
            tally.needed(scene.own, other, scene.x, rounds, scene.waited);
            let (own, new) = (&self.plan.detectors[0], &self.plan.detectors[detector]);
            let hole = scene.stand.wait.recovery && scene.own == other;
            if hole && new.sack && !own.sack && matches!(other, Outcome::Acknowledgements(_)) {
                // With SACK it is sent again in the round trip of the first (RFC 6675 §5).
                let srtt = self.batch.srtt(0).unwrap_or(Duration::ZERO);
                tally.waited += -srtt.min(scene.waited);
            }
        } else {
            let (retransmissions, timeouts) = scene.spurious;
            tally.spurious(scene.own, other, scene.x, retransmissions, timeouts);
            if let (Outcome::Timeout(before), Outcome::Timeout(after), true) =
                (scene.own, other, scene.lost_behind)
            {
                // What the spurious timeout sends again next goes as much earlier or later.
                tally.waited += (after - before).max(-scene.waited);
            }
            let (own, new) = (&self.plan.detectors[0], &self.plan.detectors[detector]);
            undone::add(scene, other, own, new, self.timestamps, tally);
            if other == Outcome::Acknowledged || scene.own == Outcome::Acknowledged {
                return;
            }
        }
        self.later(scene, other, variant, detector, tally);
    }

    /// What may happen to the head under a setting.
    fn chances(&self, scene: &Scene<'_>, variant: usize, detector: usize) -> Chances {
        let wait = &scene.stand.wait;
        let own_rto = self.doubled(0, scene.doublings);
        let rto = self.doubled(variant, scene.doublings);
        let longer = self.longer(rto, own_rto);
        let (own_tlp, tlp) = (
            self.plan.detectors[0].tlp,
            self.plan.detectors[detector].tlp,
        );
        // Never later than the timer would be.
        let pto = |form, variant: usize| {
            let pto = self.pto(form, wait.outstanding, self.plan.minima[variant]);
            pto.min(self.doubled(variant, scene.doublings))
        };
        let later_probe = || pto(tlp, variant) - pto(own_tlp, 0);
        let fires = |set: Time| self.fires(set, variant, scene.doublings);
        let timeout = match scene.own {
            Outcome::Timeout(_) if scene.vain && tlp == Tlp::Off => Some(fires(wait.start)),
            Outcome::Timeout(at) if scene.vain => Some(at + longer + later_probe()),
            Outcome::Timeout(at) => Some(at + longer),
            Outcome::Probe { at, .. } => Some((wait.start + own_rto).max(at) + longer),
            // Whatever the timer was, it did not run out: a longer one would not have either.
            Outcome::Acknowledged => longer.is_negative().then(|| fires(wait.start)),
            Outcome::Acknowledgements(at) if longer.is_negative() => Some(fires(wait.start))
                .filter(|early| *early < at || self.recycled.found[detector].is_none()),
            Outcome::Acknowledgements(at) => {
                // A probe that was due by then brings nothing new, and the timer runs anew after it.
                let due = wait.last_sent + pto(tlp, variant);
                let probed = tlp != Tlp::Off && !wait.recovery && due < fires(wait.start);
                let from = if probed { due } else { wait.start };
                Some(fires(from).max(at))
            }
        };
        let probe = match (own_tlp, tlp, scene.own) {
            (_, Tlp::Off, _) => None,
            (Tlp::Off, _, _) if wait.recovery || self.batch.is_initial() => None,
            (Tlp::Off, _, _) => {
                let due = wait.last_sent + pto(tlp, variant);
                let open = scene
                    .stand
                    .duplicates
                    .first()
                    .is_none_or(|first| *first > due);
                open.then_some(due)
            }
            (_, _, Outcome::Probe { at, .. }) => Some(at + later_probe()),
            _ => None,
        };
        Chances {
            timeout,
            acknowledgements: self.recycled.found[detector],
            probe,
            probe_to_repair: scene.probe_to_repair,
            probe_repairs: self.probe_repairs(scene, detector),
            rto,
            acknowledged: scene.stand.end.filter(|_| !scene.needed),
        }
    }

    /// Whether a probe, or the SACK that it brings, leads to the head's repair. A probe repairs a single loss itself; of
    /// more, RACK finds the others, as FACK does from four on and early retransmit up to three.
    fn probe_repairs(&self, scene: &Scene<'_>, detector: usize) -> bool {
        let detector = &self.plan.detectors[detector];
        if matches!(scene.own, Outcome::Probe { .. }) {
            // The sender's own did, or what came after it is judged for itself.
            return true;
        }
        let few = few_out(scene.stand.wait.outstanding);
        let early = detector.early != EarlyRetransmit::Off && few;
        scene.lost == 1 || detector.rack || early || (detector.fack && scene.lost > 3)
    }

    /// Timeouts and retransmissions after the first, of a head that is sent again under the setting, too.
    fn later(
        &self,
        scene: &Scene<'_>,
        first: Outcome,
        variant: usize,
        detector: usize,
        tally: &mut Tally,
    ) {
        let timed_out = |outcome: Outcome| u32::from(matches!(outcome, Outcome::Timeout(_)));
        let mut own_doublings = scene.doublings + timed_out(scene.own);
        let mut doublings = scene.doublings + timed_out(first);
        let own_rack = self.plan.detectors[0].rack;
        let rack = self.plan.detectors[detector].rack;
        let mut last = scene.detections[scene.consumed - 1];
        // What the sender's own probe brought is part of its own outcome where the setting has no probe.
        let probed = |outcome: Outcome| matches!(outcome, Outcome::Probe { .. });
        let brought = usize::from(probed(scene.own) && !probed(first));
        for detection in scene.detections.iter().skip(scene.consumed + brought) {
            let at = detection.leg.at;
            let rto = self.doubled(variant, doublings);
            let own_rto = self.doubled(0, own_doublings);
            match detection.finder {
                Finder::Timeout => {
                    let own = Outcome::Timeout(at);
                    let later = at + self.longer(rto, own_rto);
                    let early = last
                        .leg
                        .rack_at
                        .filter(|early| rack && !own_rack && *early < at);
                    if detection.retransmission.need == Need::Spurious {
                        let gone = scene.stand.end.is_some_and(|end| later >= end);
                        let other = if gone {
                            Outcome::Acknowledged
                        } else {
                            Outcome::Timeout(later)
                        };
                        // After a spurious first retransmission the rate is down already.
                        let x = if scene.needed { scene.x } else { 0.0 };
                        tally.spurious(own, other, x, 1, 1);
                    } else {
                        let other =
                            early.map_or(Outcome::Timeout(later), Outcome::Acknowledgements);
                        tally.needed(own, other, scene.x, 0.0, detection.retransmission.waited);
                    }
                    own_doublings += 1;
                    doublings += u32::from(early.is_none());
                }
                Finder::Acknowledgements if own_rack && !rack => {
                    let fires = self.fires(last.leg.at, variant, doublings);
                    let timeout = Outcome::Timeout(fires.max(at));
                    let own = Outcome::Acknowledgements(at);
                    tally.needed(own, timeout, scene.x, 0.0, detection.retransmission.waited);
                    doublings += 1;
                }
                Finder::Acknowledgements | Finder::Probe => {}
            }
            last = *detection;
        }
        // The wait for what was sent last.
        if let Some(end) = scene.stand.end {
            let rto = self.doubled(variant, doublings);
            let own_rto = self.doubled(0, own_doublings).min(end - last.leg.at);
            let fires = self.fires(last.leg.at, variant, doublings);
            if rto < own_rto && fires < end {
                let timeout = Outcome::Timeout(fires);
                tally.spurious(Outcome::Acknowledged, timeout, scene.x, 0, 0);
            }
        }
    }
}

/// Round trips that slow start takes, after the first, to send so many segments.
fn rounds(segments: u32) -> f64 {
    (f64::from(segments.max(1)) + 1.0).log2().ceil() - 1.0
}
