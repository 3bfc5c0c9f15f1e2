//! The list of settings to replay, and what it means for a sender of a given stack.

use core::fmt;
use std::sync::{Arc, Mutex, RwLock};

use rexmit_tcp::estimator::{Batch, Variant};
use rexmit_tcp::settings::{EarlyRetransmit, Settings, Tlp};
use rexmit_time::Duration;

use super::judge::Recycled;
use super::setting::{Setting, SettingError, Threshold};

/// What is replayed unless something else is asked for: each parameter of UNC 2007 for itself, its Smart-Config, and what
/// came after it.
const DEFAULT: &str =
    "k=2 k=3 k=6 min_rto=100ms min_rto=400ms a=1/2 a=1/32 b=1/2 d=2 d=3 d=4 smart tlp no-tlp rack \
                       no-rack rto_min=5ms rto_min=50ms undo frto";

/// The list of settings to replay.
#[derive(Debug)]
pub struct Plan {
    names: Vec<String>,
    settings: Vec<Setting>,
    /// Settings before this one get a row for each connection; the others, a grid, are only summed up.
    detailed: usize,
    /// What the list means for each stack that was met.
    compiled: RwLock<Vec<Stack>>,
    /// Memory that judges have left.
    recycled_all: Mutex<Vec<Recycled>>,
}

/// The settings of a stack, whether SACK was negotiated, and what the list means for it.
type Stack = (Arc<Settings>, bool, Arc<Compiled>);

/// Rooms kept: one for each thread at work is enough.
const MOST_RECYCLED: usize = 64;

/// Stacks remembered; of more, each sender's is worked out anew.
const MOST_STACKS: usize = 256;

impl Default for Plan {
    fn default() -> Self {
        Plan::parse(&["default"]).unwrap_or_else(|_| Plan::of(Vec::new(), 0))
    }
}

impl Plan {
    /// The settings that `words` name: each is one setting, `default` (some twenty useful ones), or `grid` (UNC 2007's:
    /// k 2, 4, 6, 8 × minRTO 100, 200, 400, 800, 1000 ms × a 1, 1/2 … 1/32, section V-B; b, whose values it does not print,
    /// has those of a).
    ///
    /// # Errors
    /// When a word names no setting.
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Self, SettingError> {
        let mut named: Vec<(String, Setting)> = Vec::new();
        let mut grid = false;
        let mut add = |name: &str| -> Result<(), SettingError> {
            let setting = Setting::parse(name)?;
            if named.iter().all(|(known, _)| known != name) {
                named.push((name.to_owned(), setting));
            }
            Ok(())
        };
        for word in words {
            match word.as_ref().trim() {
                "default" => DEFAULT.split_whitespace().try_for_each(&mut add)?,
                "grid" => grid = true,
                name => add(name)?,
            }
        }
        let detailed = named.len();
        if grid {
            named.extend(all_of_grid().map(|setting| (setting.to_string(), setting)));
        }
        Ok(Plan::of(named, detailed))
    }

    fn of(named: Vec<(String, Setting)>, detailed: usize) -> Self {
        let (names, settings) = named.into_iter().unzip();
        Plan {
            names,
            settings,
            detailed,
            compiled: RwLock::default(),
            recycled_all: Mutex::default(),
        }
    }

    /// The settings' names, in order; [`crate::rows::WhatIf::setting`] is an index of them.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The settings, in order.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// How many of the settings, from the first on, get a row for each connection; the others are only summed up.
    #[must_use]
    pub fn detailed(&self) -> usize {
        self.detailed
    }

    /// Memory for a judge.
    pub(super) fn recycled(&self) -> Recycled {
        self.recycled_all
            .lock()
            .ok()
            .and_then(|mut recycled_all| recycled_all.pop())
            .unwrap_or_default()
    }

    /// Takes memory back.
    pub(super) fn take_back(&self, recycled: Recycled) {
        if let Ok(mut recycled_all) = self.recycled_all.lock() {
            if recycled_all.len() < MOST_RECYCLED {
                recycled_all.push(recycled);
            }
        }
    }

    /// What the list means for a sender with the settings `own`, and with SACK or without it.
    pub(super) fn compiled(&self, own: &Arc<Settings>, sack: bool) -> Arc<Compiled> {
        let same =
            |stack: &Stack| stack.1 == sack && (Arc::ptr_eq(&stack.0, own) || stack.0 == *own);
        if let Ok(stacks) = self.compiled.read() {
            if let Some((.., compiled)) = stacks.iter().find(|stack| same(stack)) {
                return Arc::clone(compiled);
            }
        }
        let compiled = Arc::new(Compiled::new(Settings::clone(own), sack, &self.settings));
        if let Ok(mut stacks) = self.compiled.write() {
            if stacks.len() < MOST_STACKS {
                stacks.push((Arc::clone(own), sack, Arc::clone(&compiled)));
            }
        }
        compiled
    }
}

fn all_of_grid() -> impl Iterator<Item = Setting> {
    let ks = [2, 4, 6, 8].into_iter();
    ks.flat_map(|k| {
        [100, 200, 400, 800, 1_000].into_iter().flat_map(move |ms| {
            (0..=5).flat_map(move |a| {
                (0..=5).map(move |b| Setting {
                    k: Some(k),
                    min_rto: Some(Duration::from_millis(ms)),
                    a: Some(a),
                    b: Some(b),
                    ..Setting::default()
                })
            })
        })
    })
}

/// A list of settings put over one stack.
pub(super) struct Compiled {
    /// The stack's own settings.
    pub own: Settings,
    /// Estimators before their first sample; the stack's own is the first.
    pub batch: Batch,
    /// The smallest deviation or timeout of each estimator.
    pub minima: Vec<Duration>,
    /// How losses are found; the stack's own way is the first.
    pub detectors: Vec<Detector>,
    /// Of each setting: which estimator and which detector.
    pub choices: Vec<Choice>,
}

/// Which estimator and which detector a setting has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub variant: usize,
    pub detector: usize,
}

/// How losses are found, other than by timeouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Detector {
    /// SACK is negotiated; without it, no mechanism is on that needs it.
    pub sack: bool,
    pub threshold: Threshold,
    pub tlp: Tlp,
    pub rack: bool,
    pub fack: bool,
    pub early: EarlyRetransmit,
    pub undo: bool,
    pub frto: bool,
}

impl Detector {
    fn of(own: &Settings, sack: bool) -> Self {
        Detector {
            sack,
            threshold: Threshold::Fixed(own.loss.dupack_threshold),
            tlp: own.loss.tlp,
            rack: own.loss.rack,
            fack: own.loss.fack,
            early: own.loss.early_retransmit,
            undo: own.congestion.undo,
            frto: own.loss.frto,
        }
    }

    fn with(self, setting: &Setting) -> Self {
        Detector {
            sack: setting.sack.unwrap_or(self.sack),
            threshold: setting.d.unwrap_or(self.threshold),
            tlp: match (setting.tlp, self.tlp) {
                (Some(false), _) => Tlp::Off,
                (Some(true), Tlp::Off) => Tlp::Rfc8985,
                (_, own) => own,
            },
            rack: setting.rack.unwrap_or(self.rack),
            fack: self.fack,
            early: self.early,
            undo: setting.undo.unwrap_or(self.undo),
            frto: setting.frto.unwrap_or(self.frto),
        }
    }

    /// Without SACK there is no RACK (RFC 8985 §4), no FACK, and no probe (`tcp_schedule_loss_probe`).
    fn as_far_as_sack_goes(self) -> Self {
        Detector {
            tlp: if self.sack { self.tlp } else { Tlp::Off },
            rack: self.rack && self.sack,
            fack: self.fack && self.sack,
            ..self
        }
    }
}

impl Compiled {
    fn new(own: Settings, sack: bool, settings: &[Setting]) -> Self {
        let detector = Detector::of(&own, sack);
        let mut variants = vec![Variant::of(&own)];
        let mut detectors = vec![detector.as_far_as_sack_goes()];
        let choices = settings
            .iter()
            .map(|setting| Choice {
                variant: index_of(&mut variants, with(Variant::of(&own), setting)),
                detector: index_of(&mut detectors, detector.with(setting).as_far_as_sack_goes()),
            })
            .collect();
        Compiled {
            batch: Batch::new(&own, &variants),
            minima: variants.iter().map(|variant| variant.min_rto).collect(),
            own,
            detectors,
            choices,
        }
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("detectors", &self.detectors)
            .field("estimators", &self.minima.len())
            .finish_non_exhaustive()
    }
}

fn with(own: Variant, setting: &Setting) -> Variant {
    Variant {
        srtt_shift: setting.b.unwrap_or(own.srtt_shift),
        rttvar_shift: setting.a.unwrap_or(own.rttvar_shift),
        srtt_factor: setting.m.unwrap_or(own.srtt_factor),
        rttvar_factor: setting.k.unwrap_or(own.rttvar_factor),
        min_rto: setting.min_rto.unwrap_or(own.min_rto),
        initial_rto: setting.init_rto.unwrap_or(own.initial_rto),
        // Linux has a constant of its own for it (RFC 6298 §5.7); others have one timeout for both.
        fallback_rto: setting
            .init_rto
            .filter(|_| own.fallback_rto == own.initial_rto)
            .unwrap_or(own.fallback_rto),
    }
}

fn index_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter()
        .position(|other| *other == item)
        .unwrap_or_else(|| {
            list.push(item);
            list.len() - 1
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_unc_2007() {
        let plan = Plan::parse(&["grid"]).unwrap();
        assert_eq!(plan.names().len(), 4 * 5 * 6 * 6);
        assert_eq!(plan.detailed(), 0);
        assert_eq!(plan.names()[0], "k=2,min_rto=100ms,a=1,b=1");
        assert_eq!(plan.names()[719], "k=8,min_rto=1000ms,a=1/32,b=1/32");
    }

    #[test]
    fn a_setting_is_replayed_once_under_the_name_given_first() {
        let plan = Plan::parse(&["rto_min=50ms", "default", "smart"]).unwrap();
        assert_eq!(plan.names()[0], "rto_min=50ms");
        assert_eq!(
            plan.names().iter().filter(|name| *name == "smart").count(),
            1
        );
        assert_eq!(plan.detailed(), plan.names().len());
        assert!(Plan::parse(&["k=2", "nonsense"]).is_err());
    }

    #[test]
    fn what_a_stack_has_already_is_its_own_estimator_and_detector() {
        let plan = Plan::parse(&["k=4", "d=3", "tlp", "no-tlp", "rack", "min_rto=200ms"]).unwrap();
        let own = |name: &str| -> Vec<bool> {
            let page = rexmit_tcp::stacks::page(name).unwrap();
            let compiled = plan.compiled(&Arc::new(page.settings), true);
            let same = |choice: &Choice| choice.variant == 0 && choice.detector == 0;
            compiled.choices.iter().map(same).collect()
        };
        assert_eq!(own("linux-6.12"), [true, true, true, false, true, true]);
        assert_eq!(
            own("windows-xp-unc2007"),
            [true, false, false, true, false, true]
        );
        assert_eq!(plan.compiled.read().unwrap().len(), 2);
    }
}
