//! The words that every table, event and message uses for what a sender does.

use core::fmt;

/// A word outside the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What the word should have named, as in `mechanism`.
    pub what: &'static str,
    /// The word.
    pub word: String,
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}: {:?}", self.what, self.word)
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum of words, each variant with the word for it, in one place: `as_str`, `ALL`, Display, FromStr and serde's form;
/// and its `meaning`, where that stands behind each word.
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $type:ident ($what:literal) {
            $($variant:ident = $word:literal: $meaning:literal,)+
        }
    ) => {
        $crate::words! {
            $(#[$about])*
            pub enum $type ($what) {
                $(#[doc = $meaning] $variant = $word,)+
            }
        }

        impl $type {
            /// What it means.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $($type::$variant => $meaning),+ }
            }
        }
    };
    (
        $(#[$about:meta])*
        pub enum $type:ident ($what:literal) {
            $($(#[$each:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize,
        )]
        pub enum $type {
            $($(#[$each])* #[serde(rename = $word)] $variant,)+
        }

        impl $type {
            /// Every word, in order.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The word as it stands in tables.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }
        }

        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::core::str::FromStr for $type {
            type Err = $crate::UnknownWord;
            fn from_str(word: &str) -> Result<Self, $crate::UnknownWord> {
                match word {
                    $($word => Ok($type::$variant),)+
                    _ => Err($crate::UnknownWord { what: $what, word: word.to_owned() }),
                }
            }
        }
    };
}

words! {
    /// What made a sender send bytes again.
    pub enum Mechanism ("mechanism") {
        /// The retransmission timeout itself (RFC 6298 §5.4).
        Rto = "rto",
        /// Retransmissions that follow a timeout (go-back-N in slow start).
        RtoRecovery = "rto-recovery",
        /// The third duplicate acknowledgement (RFC 5681 §3.2).
        FastRetransmit = "fast-retransmit",
        /// Further retransmissions of a recovery that the SACK scoreboard steers (RFC 6675).
        SackRecovery = "sack-recovery",
        /// Forward acknowledgement: the span of the SACK blocks stands for duplicate acknowledgements.
        Fack = "fack",
        /// Early Retransmit: a lower threshold when little is outstanding (RFC 5827).
        EarlyRetransmit = "early-retransmit",
        /// RACK's time-based detection (RFC 8985 §6).
        Rack = "rack",
        /// A tail loss probe (RFC 8985 §7).
        Tlp = "tlp",
        /// Multipath TCP: sent again on another subflow (RFC 8684 §3.3.6).
        MptcpReinject = "mptcp-reinject",
        /// Cannot be told.
        Unknown = "unknown",
    }
}

words! {
    /// Whether a retransmission was needed.
    pub enum Need ("need") {
        /// Every earlier copy was lost.
        Needed = "needed",
        /// An earlier copy arrived.
        Spurious = "spurious",
        /// Cannot be told.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_design() {
        let all: Vec<&str> = Mechanism::ALL.iter().map(|m| m.as_str()).collect();
        assert_eq!(
            all.join(" "),
            "rto rto-recovery fast-retransmit sack-recovery fack early-retransmit rack tlp mptcp-reinject unknown"
        );
        let all: Vec<&str> = Need::ALL.iter().map(|m| m.as_str()).collect();
        assert_eq!(all.join(" "), "needed spurious unknown");
    }

    #[test]
    fn serde_display_and_from_str_agree() {
        for m in Mechanism::ALL {
            assert_eq!(serde_json::to_string(m).unwrap(), format!("\"{m}\""));
            assert_eq!(m.to_string().parse::<Mechanism>().as_ref(), Ok(m));
        }
        for n in Need::ALL {
            assert_eq!(serde_json::to_string(n).unwrap(), format!("\"{n}\""));
            assert_eq!(n.to_string().parse::<Need>().as_ref(), Ok(n));
        }
    }

    #[test]
    fn other_words_are_refused_by_name() {
        let error = "RTO".parse::<Mechanism>().unwrap_err();
        assert_eq!(error.to_string(), "unknown mechanism: \"RTO\"");
    }
}
