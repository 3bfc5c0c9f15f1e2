//! What is dropped of a cell's transfers.

use anyhow::{anyhow, Result};
use rexmit_loss::pattern::Pattern;
use rexmit_loss::{Drops, Mode};
use rexmit_time::Duration;
use serde::{Deserialize, Serialize};

/// What is dropped; the tag is `rule`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase")]
pub enum Loss {
    /// The last segments of each transfer.
    Tail(TailLoss),
    /// Packets by their position.
    Pattern(PatternLoss),
}

/// The last segments of each transfer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TailLoss {
    /// Segments of data dropped at the tail.
    pub segments: u32,
    /// How the tail is found.
    pub mode: Mode,
    /// Longest time that `hold` keeps packets without any new one.
    pub hold_limit_ns: u64,
}

/// Packets by their position.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternLoss {
    /// Which.
    pub pattern: String,
}

/// What was asked to be dropped, as tables have it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Asked {
    pub lost_segments: u32,
    loss_mode: Mode,
    loss_pattern: Option<String>,
}

impl Loss {
    /// What is asked for. Positions of a pattern are found by sequence number.
    pub(crate) fn asked(&self) -> Asked {
        let (lost_segments, loss_mode, loss_pattern) = match self {
            Loss::Tail(tail) => (tail.segments, tail.mode, None),
            Loss::Pattern(loss) => (0, Mode::Sequence, Some(loss.pattern.clone())),
        };
        Asked {
            lost_segments,
            loss_mode,
            loss_pattern,
        }
    }

    /// What is dropped of a response, its connection's one burst on its one path.
    ///
    /// # Errors
    /// When a limit is longer than 292 years or a pattern's text is none.
    pub(crate) fn of_response(&self) -> Result<Drops> {
        Ok(match self {
            Loss::Tail(tail) => Drops::Tail {
                segments: tail.segments,
                mode: tail.mode,
                hold_limit: Duration::from_nanos(i64::try_from(tail.hold_limit_ns)?),
            },
            Loss::Pattern(loss) => Drops::Pattern(loss.parse()?.without_scopes()),
        })
    }

    /// Whether the rule must see the client's packets too.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        match self {
            Loss::Tail(_) => false,
            Loss::Pattern(loss) => loss.parse().is_ok_and(|pattern| pattern.needs_client()),
        }
    }
}

impl PatternLoss {
    /// What its text says.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(&self) -> Result<Pattern> {
        let parsed: Result<Pattern, _> = self.pattern.parse();
        parsed.map_err(|error| anyhow!("the loss pattern {:?}: {error}", self.pattern))
    }
}
