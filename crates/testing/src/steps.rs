//! Packet scripts as text: `101 data 10000+1000; 151 ack 10000 sack 11000-12000,13000-14000 echo 101`.

/// A step of a script: when it happens, in milliseconds, and words with a value each, of which the first says what it is.
#[derive(Clone, Debug)]
pub struct Step<'t> {
    /// When.
    pub at: f64,
    words: Vec<(&'t str, &'t str)>,
}

/// The steps of a script.
///
/// # Panics
/// When it is none.
pub fn steps(text: &str) -> impl Iterator<Item = Step<'_>> {
    text.split(';').map(|step| {
        let mut words = step.split_whitespace();
        let at = words.next().and_then(|at| at.parse().ok());
        let pairs = core::iter::from_fn(|| Some((words.next()?, words.next().expect("a value"))));
        let words = pairs.collect();
        Step {
            at: at.unwrap_or_else(|| panic!("when is {step:?}?")),
            words,
        }
    })
}

impl<'t> Step<'t> {
    /// What happens.
    #[must_use]
    pub fn what(&self) -> &'t str {
        self.words[0].0
    }

    /// The numbers behind a word: pairs stand with commas between them, and one number is a pair with zero.
    #[must_use]
    pub fn pairs(&self, word: &str) -> Vec<(u32, u32)> {
        let found = self.words.iter().find(|(other, _)| *other == word);
        let values = found.map_or("", |(_, value)| *value).split(',');
        let pair = |value: &str| {
            let (one, two) = value.split_once(['-', '+']).unwrap_or((value, "0"));
            let number = |text: &str| {
                text.parse()
                    .unwrap_or_else(|_| panic!("{text:?} in {self:?}"))
            };
            (number(one), number(two))
        };
        values.filter(|value| !value.is_empty()).map(pair).collect()
    }

    /// The number, or the pair, behind a word.
    #[must_use]
    pub fn pair(&self, word: &str) -> (u32, u32) {
        self.pairs(word)[0]
    }

    /// The milliseconds behind a word, if it is there.
    #[must_use]
    pub fn ms(&self, word: &str) -> Option<f64> {
        let found = self.words.iter().find(|(other, _)| *other == word)?;
        Some(found.1.parse().expect("milliseconds"))
    }
}
