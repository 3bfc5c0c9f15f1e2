//! How long hosts waited for the addresses of names: questions of DNS over UDP and their answers. That is before a connection
//! begins, and belongs to none.
//!
//! It is of one file alone, as all that a decoder knows, so that files can be read apart.

use core::net::IpAddr;
use std::collections::BTreeMap;

use rexmit_time::{Duration, Time};
use rexmit_wire::dns::Datagram;
use serde::{Deserialize, Serialize};

/// Names that are asked for at a time and remembered; with more, all are forgotten.
const MOST: usize = 1 << 12;
/// Types of records of one name that are asked for at a time and remembered.
const MOST_KINDS: usize = 8;
/// Look-ups that are named: the longest.
const MOST_NAMED: usize = 256;
/// Whoever gets no answer asks again within this time (RFC 1035 §4.2.1: after 2 to 5 s), or waits no more.
const AGAIN: Duration = Duration::from_secs(5);
/// Whoever does not ask again for as long as this may have got an answer that did not come by.
const SOON: Duration = Duration::from_secs(1);
/// A name that was not asked for as long as this is looked up anew.
const ANEW: Duration = Duration::from_secs(60);

/// A name that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// Who asked.
    pub asker: IpAddr,
    /// Who was asked last, or answered.
    pub server: IpAddr,
    /// For which name; none if the capture cut it off.
    pub name: Option<String>,
    /// The first question.
    pub start: Time,
    /// From there to the last of the answers; without one, until nobody waited any more.
    pub waited: Duration,
    /// Questions, those that were asked again counted.
    pub questions: u32,
    /// All were answered, be it with an error.
    pub answered: bool,
}

/// What tells look-ups of one host apart: the name. If that was cut off, the port that it asked from: a resolver asks for all
/// types of records from one, and again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LookupKey {
    Name(String),
    From(u16),
}

impl LookupKey {
    /// And what tells its answers apart: the type of the records, or else the number of the question.
    fn split(datagram: &Datagram) -> (Self, u16) {
        match &datagram.question {
            Some((name, kind)) => (LookupKey::Name(name.clone()), *kind),
            None => (LookupKey::From(datagram.port), datagram.id),
        }
    }
}

/// A look-up that goes on.
#[derive(Debug)]
struct OpenLookup {
    lookup: Lookup,
    /// The last question.
    asked: Time,
    /// Types of records, or numbers of questions, whose answer is not there.
    kinds: Vec<u16>,
}

impl OpenLookup {
    fn begun(at: Time, datagram: &Datagram) -> Self {
        OpenLookup {
            lookup: Lookup {
                asker: datagram.asker,
                server: datagram.server,
                name: datagram.question.as_ref().map(|(name, _)| name.clone()),
                start: at,
                waited: Duration::ZERO,
                questions: 0,
                answered: false,
            },
            asked: at,
            kinds: Vec::new(),
        }
    }

    fn ask(&mut self, at: Time, datagram: &Datagram, kind: u16) {
        self.asked = at;
        self.lookup.server = datagram.server;
        self.lookup.questions = self.lookup.questions.saturating_add(1);
        if !self.kinds.contains(&kind) && self.kinds.len() < MOST_KINDS {
            self.kinds.push(kind);
        }
    }

    /// The look-up, to which no answer came by `now`.
    fn given_up(&self, now: Time) -> Lookup {
        let again = self.asked.since(self.lookup.start) >= SOON;
        let until = if again {
            now.min(self.asked + AGAIN)
        } else {
            self.asked
        };
        Lookup {
            waited: until.since(self.lookup.start).max(Duration::ZERO),
            ..self.lookup.clone()
        }
    }
}

/// The look-ups of a file.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    open: BTreeMap<(IpAddr, LookupKey), OpenLookup>,
    ended: Longest,
}

impl Lookups {
    /// A question or an answer.
    pub fn learn(&mut self, at: Time, datagram: &Datagram) {
        let (asked, kind) = LookupKey::split(datagram);
        let key = (datagram.asker, asked);
        if datagram.answer.is_none() {
            if self.open.len() >= MOST {
                self.open.clear();
            }
            let open = self
                .open
                .entry(key)
                .or_insert_with(|| OpenLookup::begun(at, datagram));
            if at.since(open.asked) > ANEW {
                let old = core::mem::replace(open, OpenLookup::begun(at, datagram));
                self.ended.take(old.given_up(at));
            }
            open.ask(at, datagram, kind);
        } else if let Some(open) = self.open.get_mut(&key) {
            open.lookup.server = datagram.server;
            open.kinds.retain(|open| *open != kind);
            if open.kinds.is_empty() {
                let mut lookup = open.lookup.clone();
                lookup.waited = at.since(lookup.start).max(Duration::ZERO);
                lookup.answered = true;
                self.ended.take(lookup);
                self.open.remove(&key);
            }
        }
    }

    /// The longest, with those that go on until `now`.
    pub fn longest(&self, now: Time) -> Longest {
        let mut longest = self.ended.clone();
        let open = self.open.values();
        open.for_each(|open| longest.take(open.given_up(now)));
        longest
    }
}

/// The longest of some look-ups, those first that took longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Longest(pub Vec<Lookup>);

impl Longest {
    /// One more.
    pub fn take(&mut self, lookup: Lookup) {
        let before = |one: &Lookup| (one.waited, lookup.start) >= (lookup.waited, one.start);
        let place = self.0.partition_point(before);
        if place < MOST_NAMED {
            self.0.insert(place, lookup);
            self.0.truncate(MOST_NAMED);
        }
    }

    /// Those of another file.
    pub fn add(&mut self, other: &Longest) {
        other.0.iter().for_each(|one| self.take(one.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn datagram(name: &str, kind: u16, answer: Option<Vec<IpAddr>>) -> Datagram {
        let [asker, server] = [2, 9].map(|last| IpAddr::from([10, 0, 0, last]));
        Datagram {
            asker,
            server,
            port: 40_000,
            id: 0,
            question: Some((name.to_owned(), kind)),
            answer,
        }
    }

    fn cut(port: u16, id: u16, answer: Option<Vec<IpAddr>>) -> Datagram {
        Datagram {
            port,
            id,
            question: None,
            ..datagram("", 1, answer)
        }
    }

    /// How long each took, how many questions it had, and whether it was answered.
    fn seen(lookups: &Lookups, now: u64) -> Vec<(String, i64, u32, bool)> {
        let each = lookups.longest(ms(now)).0.into_iter();
        each.map(|one| {
            let waited = one.waited.as_nanos() / 1_000_000;
            (
                one.name.unwrap_or_default(),
                waited,
                one.questions,
                one.answered,
            )
        })
        .collect()
    }

    #[test]
    fn a_look_up_lasts_from_its_first_question_to_its_last_answer() {
        let mut lookups = Lookups::default();
        lookups.learn(ms(0), &datagram("a", 1, None));
        lookups.learn(ms(1), &datagram("a", 28, None));
        lookups.learn(ms(30), &datagram("a", 1, Some(Vec::new())));
        lookups.learn(ms(5_001), &datagram("a", 28, None));
        lookups.learn(ms(5_020), &datagram("a", 28, Some(Vec::new())));
        lookups.learn(ms(6_000), &datagram("b", 1, None));
        lookups.learn(ms(6_040), &datagram("b", 1, Some(Vec::new())));
        lookups.learn(ms(6_050), &datagram("b", 1, Some(Vec::new())));
        let expected = [("a".into(), 5_020, 3, true), ("b".into(), 40, 1, true)];
        assert_eq!(seen(&lookups, 7_000), expected);
    }

    #[test]
    fn names_that_were_cut_off_are_told_apart_by_who_asks() {
        let mut lookups = Lookups::default();
        lookups.learn(ms(0), &cut(7, 1, None));
        lookups.learn(ms(1), &cut(7, 2, None));
        lookups.learn(ms(2), &cut(8, 1, None));
        lookups.learn(ms(20), &cut(8, 1, Some(Vec::new())));
        lookups.learn(ms(30), &cut(7, 2, Some(Vec::new())));
        lookups.learn(ms(40), &cut(7, 3, Some(Vec::new())));
        lookups.learn(ms(50), &cut(7, 1, Some(Vec::new())));
        let expected = [("".into(), 50, 2, true), ("".into(), 18, 1, true)];
        assert_eq!(seen(&lookups, 7_000), expected);
    }

    #[test]
    fn whoever_asks_no_more_waits_no_more() {
        let mut lookups = Lookups::default();
        lookups.learn(ms(0), &datagram("a", 1, None));
        assert_eq!(seen(&lookups, 800), [("a".into(), 0, 1, false)]);
        lookups.learn(ms(3_000), &datagram("a", 1, None));
        assert_eq!(seen(&lookups, 90_000), [("a".into(), 8_000, 2, false)]);
        lookups.learn(ms(90_000), &datagram("a", 1, None));
        lookups.learn(ms(90_010), &datagram("a", 1, Some(Vec::new())));
        let expected = [("a".into(), 8_000, 2, false), ("a".into(), 10, 1, true)];
        assert_eq!(seen(&lookups, 99_000), expected);
    }

    #[test]
    fn no_more_are_kept_than_are_named() {
        let mut lookups = Lookups::default();
        for number in 0..2 * MOST_NAMED as u64 {
            let name = format!("n{number}");
            lookups.learn(ms(0), &datagram(&name, 1, None));
            lookups.learn(ms(number), &datagram(&name, 1, Some(Vec::new())));
        }
        let all = seen(&lookups, 10_000);
        assert_eq!(all.len(), MOST_NAMED);
        assert_eq!(all[0].1, 2 * MOST_NAMED as i64 - 1);
        assert_eq!(all[MOST_NAMED - 1].1, MOST_NAMED as i64);
    }
}
