//! Reads a pattern from its text.

use core::fmt;
use core::str::FromStr;

use super::text::{Client, ClientItem, DataItem, Pattern, Scope, Which};

/// What is wrong with a pattern's text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The word at fault, empty at the end of the text.
    pub found: String,
    /// Where it begins, in characters from 1.
    pub column: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            found,
            column,
            expected,
        } = self;
        if found.is_empty() {
            write!(f, "ends too early, expected {expected}")
        } else {
            write!(f, "{found:?} at column {column}, expected {expected}")
        }
    }
}

impl std::error::Error for PatternError {}

const CLAUSE: &str = "path, burst, data or ack";
const SCOPED: &str = "data or ack";
const BURST_OR_CLAUSE: &str = "burst, data or ack";
const NUMBER: &str = "a number from 1";
const DATA: &str =
    "a position such as 5, -1 (the last), 5..7, fin, syn-ack, or 5#2 (its second transmission)";
const DATA_RANGE: &str = "a range that does not run backwards";
const TRANSMISSIONS: &str = "a transmission from 1 or a range such as #2..4 behind #";
const ACKS: &str = "an acknowledgement's number such as 3 or 4..9, syn, request, or syn#2";
const UNSCOPED: &str = "syn and syn-ack without a path and a burst";

/// A word of the text and its column.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    column: usize,
}

impl Word<'_> {
    fn wrong(self, expected: &'static str) -> PatternError {
        PatternError {
            found: self.text.to_owned(),
            column: self.column,
            expected,
        }
    }
}

/// Words are set apart by spaces; `;` is a word of its own.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::new();
    let mut begin = None;
    for (column, (at, c)) in text.char_indices().enumerate() {
        let ends = c == ';' || c.is_whitespace();
        if ends {
            if let Some((from, column)) = begin.take() {
                found.push(Word {
                    text: &text[from..at],
                    column,
                });
            }
            if c == ';' {
                found.push(Word {
                    text: ";",
                    column: column + 1,
                });
            }
        } else if begin.is_none() {
            begin = Some((at, column + 1));
        }
    }
    if let Some((from, column)) = begin {
        found.push(Word {
            text: &text[from..],
            column,
        });
    }
    found
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let words = words(text);
        let mut pattern = Pattern::default();
        if let [] | [Word { text: "none", .. }] = words[..] {
            return Ok(pattern);
        }
        for clause in words.split(|word| word.text == ";") {
            let (scope, clause, expected) = scope(clause)?;
            let Some((name, items)) = clause.split_first() else {
                return Err(end_of(text).wrong(expected));
            };
            let expected = match name.text {
                "data" => DATA,
                "ack" => ACKS,
                _ => return Err(name.wrong(expected)),
            };
            if items.is_empty() {
                return Err(behind(*name).wrong(expected));
            }
            for item in items {
                if expected == DATA {
                    pattern.data.push(data_item(*item, scope)?);
                } else {
                    pattern.client.push(client_item(*item, scope)?);
                }
            }
        }
        Ok(pattern)
    }
}

/// The place behind the last character.
fn end_of(text: &str) -> Word<'_> {
    let column = text.chars().count() + 1;
    Word { text: "", column }
}

/// The place behind a word.
fn behind(word: Word<'_>) -> Word<'_> {
    let column = word.column + word.text.chars().count();
    Word { text: "", column }
}

/// The path and the burst that a clause begins with, what follows them, and what should.
fn scope<'a, 't>(
    clause: &'a [Word<'t>],
) -> Result<(Scope, &'a [Word<'t>], &'static str), PatternError> {
    let mut scope = Scope::ALL;
    let mut rest = clause;
    let mut expected = CLAUSE;
    for (name, then) in [("path", BURST_OR_CLAUSE), ("burst", SCOPED)] {
        let Some((first, behind_it)) = rest.split_first() else {
            break;
        };
        if first.text != name {
            continue;
        }
        let Some((number, others)) = behind_it.split_first() else {
            return Err(behind(*first).wrong(NUMBER));
        };
        let value = range(number.text)
            .filter(|&(from, to): &(u32, u32)| from == to && from > 0)
            .filter(|_| !number.text.contains(".."));
        let (value, _) = value.ok_or_else(|| number.wrong(NUMBER))?;
        if name == "path" {
            scope.path = Some(value);
        } else {
            scope.burst = Some(value);
        }
        (rest, expected) = (others, then);
    }
    if rest.is_empty() && !clause.is_empty() {
        return Err(behind(clause[clause.len() - 1]).wrong(expected));
    }
    Ok((scope, rest, expected))
}

/// What stands before `#`, and the transmissions behind it: the first where there is none.
fn transmissions(word: Word<'_>) -> Result<(&str, (u32, u32)), PatternError> {
    let Some((which, times)) = word.text.split_once('#') else {
        return Ok((word.text, (1, 1)));
    };
    let times = range(times).filter(|&(from, to): &(u32, u32)| 1 <= from && from <= to);
    Ok((which, times.ok_or_else(|| word.wrong(TRANSMISSIONS))?))
}

fn data_item(word: Word<'_>, scope: Scope) -> Result<DataItem, PatternError> {
    let (which, transmissions) = transmissions(word)?;
    let which = match which {
        "fin" => Which::Fin,
        "syn-ack" if scope == Scope::ALL => Which::SynAck,
        "syn-ack" => return Err(word.wrong(UNSCOPED)),
        _ => {
            let (from, to): (i64, i64) = range(which).ok_or_else(|| word.wrong(DATA))?;
            if from == 0 || to == 0 {
                return Err(word.wrong(DATA));
            }
            // Where one end counts from the front and the other from behind, only a transfer shows which comes first.
            if (from < 0) == (to < 0) && from > to {
                return Err(word.wrong(DATA_RANGE));
            }
            Which::Positions(from, to)
        }
    };
    Ok(DataItem {
        scope,
        which,
        transmissions,
    })
}

fn client_item(word: Word<'_>, scope: Scope) -> Result<ClientItem, PatternError> {
    let which = match transmissions(word)? {
        ("syn", (from, to)) if scope == Scope::ALL => Client::Syn(from, to),
        ("syn", _) => return Err(word.wrong(UNSCOPED)),
        ("request", (from, to)) => Client::Request(from, to),
        _ => {
            let (from, to) = range(word.text).ok_or_else(|| word.wrong(ACKS))?;
            if from == 0 || from > to {
                return Err(word.wrong(ACKS));
            }
            Client::Acks(from, to)
        }
    };
    Ok(ClientItem { scope, which })
}

/// `A` or `A..B`.
fn range<T: FromStr + Copy>(text: &str) -> Option<(T, T)> {
    let number = |text: &str| -> Option<T> {
        // FromStr takes a plus sign, which no pattern prints.
        (!text.starts_with('+'))
            .then(|| text.parse().ok())
            .flatten()
    };
    match text.split_once("..") {
        None => number(text).map(|one| (one, one)),
        Some((from, to)) => Some((number(from)?, number(to)?)),
    }
}
