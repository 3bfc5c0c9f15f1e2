//! Which of the emulations take part: all of them, or those that were asked for.

use core::fmt;

use super::profile::{self, MOST_PROFILES};

/// The word for the stacks of UNC 2007, Table I, with its values; and those stacks.
const STUDY: (&str, [&str; 4]) = (
    "unc-2007",
    [
        "linux-2.4",
        "windows-xp-unc2007",
        "solaris-10-unc2007",
        "freebsd-5-unc2007",
    ],
);

/// The emulations that take part. All of them unless some are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen(u32);

const _: () = assert!(MOST_PROFILES <= u32::BITS as usize);

impl Default for Chosen {
    fn default() -> Self {
        Chosen(u32::MAX >> (u32::BITS as usize - MOST_PROFILES))
    }
}

/// Why a choice was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenError {
    /// No emulation has this name; the names that there are.
    Unknown(String, Vec<&'static str>),
    /// No emulation is left.
    Nothing,
}

impl fmt::Display for ChosenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChosenError::Unknown(word, names) => write!(
                f,
                "no emulation is called {word:?}; there are {}, and {} for {}",
                names.join(", "),
                STUDY.0,
                STUDY.1.join(", ")
            ),
            ChosenError::Nothing => f.write_str("no emulation is left"),
        }
    }
}

impl std::error::Error for ChosenError {}

impl Chosen {
    /// The emulations that `words` name: a stack as tables call it (`linux-6`), a page of one (`freebsd-5-unc2007`), or
    /// `unc-2007` for the four of the study. `no-` before a name leaves it out. What is left out is left out of all
    /// where nothing else is named.
    ///
    /// # Errors
    /// When a word names no emulation, or none is left.
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Self, ChosenError> {
        let (mut with, mut without) = (0, 0);
        for word in words {
            let word = word.as_ref().trim();
            let (name, to) = match word.strip_prefix("no-") {
                Some(name) => (name, &mut without),
                None => (word, &mut with),
            };
            *to |= named(name)?;
        }
        let all = Chosen::default().0;
        let left = if with == 0 { all } else { with } & !without;
        if left == 0 {
            return Err(ChosenError::Nothing);
        }
        Ok(Chosen(left))
    }

    /// Whether the emulation with this number takes part.
    #[must_use]
    pub fn has(self, profile: usize) -> bool {
        self.0 >> profile & 1 == 1
    }

    /// The pages that take part, each once, in their order.
    #[must_use]
    pub fn pages(self) -> Vec<&'static str> {
        let mut pages: Vec<&'static str> = Vec::new();
        for (number, profile) in profile::all().iter().enumerate() {
            if self.has(number) && !pages.contains(&profile.page) {
                pages.push(profile.page);
            }
        }
        pages
    }
}

/// The emulations of one name.
fn named(name: &str) -> Result<u32, ChosenError> {
    let called = |profile: &profile::Profile| match name == STUDY.0 {
        true => STUDY.1.contains(&profile.page),
        false => name == profile.stack || name == profile.page,
    };
    let numbered = profile::all().iter().enumerate();
    let found = numbered.filter(|(_, profile)| called(profile));
    let bits = found.fold(0, |bits, (number, _)| bits | 1 << number);
    if bits != 0 {
        return Ok(bits);
    }
    let mut names: Vec<&'static str> = Vec::new();
    for profile in profile::all() {
        for name in [profile.stack, profile.page] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Err(ChosenError::Unknown(name.to_owned(), names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_all_its_pages_and_a_page_is_chosen_alone() {
        let pages = |words: &[&str]| Chosen::parse(words).unwrap().pages();
        assert_eq!(pages(&["freebsd-5-unc2007"]), ["freebsd-5-unc2007"]);
        assert_eq!(pages(&["windows-xp"]), ["windows-xp", "windows-xp-unc2007"]);
        let study = [
            "linux-2.4",
            "windows-xp-unc2007",
            "freebsd-5-unc2007",
            "solaris-10-unc2007",
        ];
        assert_eq!(pages(&["unc-2007"]), study);
        assert_eq!(pages(&["unc-2007", "no-solaris-10"]), study[..3]);
    }

    #[test]
    fn what_is_left_out_is_left_out_of_all() {
        let chosen = Chosen::parse(&["no-rfc"]).unwrap();
        assert!(chosen != Chosen::default() && !chosen.pages().contains(&"rfc"));
        assert_eq!(chosen.pages().len() + 1, Chosen::default().pages().len());
        assert_eq!(Chosen::parse::<&str>(&[]).unwrap(), Chosen::default());
    }

    #[test]
    fn an_unknown_name_and_an_empty_choice_are_refused() {
        let error = Chosen::parse(&["beos"]).unwrap_err().to_string();
        assert!(
            error.contains("beos") && error.contains("solaris-10"),
            "{error}"
        );
        assert_eq!(Chosen::parse(&["rfc", "no-rfc"]), Err(ChosenError::Nothing));
    }
}
