//! Settings as text and back.

use rexmit_time::Duration;

/// A type that a setting can have.
pub trait Value: Sized {
    /// The value as text, which [`Value::parse`] reads back.
    fn text(&self) -> String;
    /// Reads a value; none where the text is none.
    fn parse(text: &str) -> Option<Self>;
    /// What may stand there, as in `one of off, immediate, delayed`.
    fn allowed() -> String;
}

impl Value for bool {
    fn text(&self) -> String {
        self.to_string()
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn allowed() -> String {
        "true or false".to_owned()
    }
}

impl Value for u32 {
    fn text(&self) -> String {
        self.to_string()
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn allowed() -> String {
        "a whole number from 0 to 4294967295".to_owned()
    }
}

impl Value for f64 {
    fn text(&self) -> String {
        self.to_string()
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse()
            .ok()
            .filter(|n: &f64| n.is_finite() && *n >= 0.0)
    }
    fn allowed() -> String {
        "a number, 0 or more".to_owned()
    }
}

impl Value for Option<u32> {
    fn text(&self) -> String {
        self.map_or("none".to_owned(), |n| n.to_string())
    }
    fn parse(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(None);
        }
        text.parse().ok().map(Some)
    }
    fn allowed() -> String {
        "a whole number, or none".to_owned()
    }
}

impl Value for [u32; 3] {
    fn text(&self) -> String {
        format!("{} {} {}", self[0], self[1], self[2])
    }
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(str::parse);
        let three = [
            words.next()?.ok()?,
            words.next()?.ok()?,
            words.next()?.ok()?,
        ];
        (words.next().is_none() && three.is_sorted()).then_some(three)
    }
    fn allowed() -> String {
        "three whole numbers, none less than the one before it, as in 4096 16384 4194304".to_owned()
    }
}

/// Units of time, the longest first.
const UNITS: [(&str, i64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Value for Duration {
    /// A whole number of the longest unit that leaves none over.
    fn text(&self) -> String {
        let nanos = self.as_nanos();
        let whole = UNITS.iter().find(|(_, unit)| nanos % unit == 0);
        whole.map_or(format!("{nanos}ns"), |(name, unit)| {
            format!("{}{name}", nanos / unit)
        })
    }
    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = text.split_at(digits);
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let all_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(part) || part.len() > 9 {
            return None;
        }
        let mut nanos = whole.parse::<i64>().ok()?.checked_mul(*unit)?;
        let mut place = *unit;
        for digit in part.bytes() {
            place /= 10;
            nanos = nanos.checked_add(i64::from(digit - b'0') * place)?;
        }
        Some(Duration::from_nanos(nanos))
    }
    fn allowed() -> String {
        "a time such as 200ms, 1.5s, 50us or 0s".to_owned()
    }
}

/// Makes an enum of [words](crate::words!) a [`Value`]; declares it where it is not declared elsewhere.
macro_rules! choices {
    (
        $(#[$about:meta])*
        pub enum $type:ident ($what:literal) {
            $($(#[$each:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $crate::words! {
            $(#[$about])*
            pub enum $type ($what) {
                $($(#[$each])* $variant = $word,)+
            }
        }

        $crate::settings::value::choices!($type);
    };
    ($type:ident) => {
        impl $crate::settings::Value for $type {
            fn text(&self) -> String {
                self.to_string()
            }
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn allowed() -> String {
                let words: Vec<&str> = Self::ALL.iter().map(|choice| choice.as_str()).collect();
                format!("one of {}", words.join(", "))
            }
        }
    };
}
pub(super) use choices;
