//! The plan: all that an engine is to do, in one versioned file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use serde::Deserialize;

use crate::{Cell, NetworkPlan, Part};

/// The version of the plan that is read here, and of the events that answer it.
pub const VERSION: u32 = 1;

/// A plan: either cells to run or one command to execute.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`VERSION`].
    pub version: u32,
    /// Virtual seconds between heartbeats.
    #[serde(default = "default_heartbeat_s")]
    pub heartbeat_s: f64,
    /// The programs of the host that the guest uses.
    #[serde(default)]
    pub programs: Programs,
    /// Cells, in the order they run.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Parts of a corpus instead of cells.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// One command instead of cells.
    pub exec: Option<Exec>,
    /// A question instead of cells: what the kernel has.
    #[serde(default)]
    pub ask: Option<Ask>,
    /// For tests: the guest is to speak no interface of its kernel that is newer than this version of Linux, such as 3.2.
    #[serde(default)]
    pub interfaces: Option<String>,
}

fn default_heartbeat_s() -> f64 {
    5.0
}

/// Where the programs are that the guest runs; `null` for one that is not installed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    tc: Option<PathBuf>,
    nginx: Option<PathBuf>,
    curl: Option<PathBuf>,
    lynx: Option<PathBuf>,
    openssl: Option<PathBuf>,
}

macro_rules! program {
    ($($name:ident)+) => {
        impl Programs {
            $(
                #[doc = concat!("Where `", stringify!($name), "` is.")]
                ///
                /// # Errors
                /// When it is not installed.
                pub fn $name(&self) -> Result<&Path> {
                    self.$name.as_deref().ok_or_else(|| anyhow!("{} is not installed", stringify!($name)))
                }
            )+
        }
    };
}

program!(tc nginx curl lynx openssl);

/// One command of the host, run inside the guest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working folder.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// A network to set up first.
    pub network: Option<NetworkPlan>,
    /// On which host of that network the command runs.
    pub host: Option<String>,
    /// Whether the command has a network namespace of its own, with nothing in it but the loopback.
    #[serde(default)]
    pub alone: bool,
    /// How many records of causes there is room for; 0: none are kept.
    #[serde(default)]
    pub causes: u32,
}

/// A question about the kernel.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Which of these settings do hosts have?
    pub sysctls: Vec<String>,
    /// Which of these algorithms can be chosen?
    pub congestion_controls: Vec<String>,
}

impl Plan {
    /// Reads a plan from its text.
    ///
    /// # Errors
    /// When the text is no plan, or one of another version.
    pub fn parse(text: &str) -> Result<Self> {
        let plan: Self = serde_json::from_str(text).context("the plan cannot be read")?;
        if plan.version != VERSION {
            bail!(
                "the plan has version {}, this program reads version {VERSION}",
                plan.version
            );
        }
        for cell in &plan.cells {
            cell.check()
                .with_context(|| format!("the plan's cell {} ({})", cell.id, cell.label))?;
        }
        for part in &plan.parts {
            part.check()
                .with_context(|| format!("the plan's part {}", part.name))?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests;
