//! Stacks by name: pages of settings, each value with its source.

use core::fmt;
use std::collections::BTreeMap;

use crate::near::nearest;
use crate::settings::{SettingError, Settings};

mod freebsd;
mod linux_2_4;
mod linux_3_10;
mod linux_4_1;
mod linux_6;
mod page;
mod rfc;
mod solaris;
mod sysctl;
#[cfg(test)]
mod tests;
mod windows;
mod xnu;

pub use page::Page;
pub use sysctl::Ignored;

/// All stacks, in order of their names' lines and ages.
const PAGES: &[fn() -> Page] = &[
    linux_2_4::page,
    linux_3_10::page,
    linux_4_1::page,
    linux_6::page_6_1,
    linux_6::page_6_12,
    windows::xp,
    windows::xp_unc2007,
    windows::eleven,
    freebsd::five,
    freebsd::five_unc2007,
    freebsd::fourteen,
    freebsd::fourteen_rack,
    xnu::macos_15,
    solaris::ten,
    solaris::ten_unc2007,
    rfc::page,
];

/// The pages of all stacks.
pub fn all() -> impl Iterator<Item = Page> {
    PAGES.iter().map(|page| page())
}

/// The page of the stack `name`.
///
/// # Errors
/// When there is no such stack.
pub fn page(name: &str) -> Result<Page, StackError> {
    let unknown = || {
        let names: Vec<&'static str> = all().map(|page| page.name).collect();
        StackError::Unknown {
            name: name.to_owned(),
            meant: nearest(name, names.iter().copied()),
            names: names.clone(),
        }
    };
    all().find(|page| page.name == name).ok_or_else(unknown)
}

/// The settings of the stack `name` with `sysctls` and then `overrides` put over them, and what of the sysctls has no
/// effect on it.
///
/// # Errors
/// When there is no such stack, setting or sysctl, when a value is none of its setting, or when the values together
/// make no stack.
pub fn build(
    name: &str,
    overrides: &BTreeMap<String, String>,
    sysctls: &BTreeMap<String, String>,
) -> Result<(Settings, Vec<Ignored>), StackError> {
    let page = page(name)?;
    let mut settings = page.settings.clone();
    let mut ignored = Vec::new();
    for (name, value) in sysctls {
        ignored.extend(sysctl::apply(&page, &mut settings, name, value)?);
    }
    for (name, value) in overrides {
        settings.set(name, value).map_err(StackError::Setting)?;
    }
    settings.check().map_err(StackError::Together)?;
    Ok((settings, ignored))
}

/// Why there is no such stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackError {
    /// No stack has this name.
    Unknown {
        /// The name given.
        name: String,
        /// The name perhaps meant.
        meant: Option<&'static str>,
        /// All names.
        names: Vec<&'static str>,
    },
    /// A setting was refused.
    Setting(SettingError),
    /// A sysctl was refused, for this reason.
    Sysctl(String),
    /// Each value may stand, but not together, for this reason.
    Together(String),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackError::Unknown { name, meant, names } => match meant {
                Some(meant) => write!(f, "there is no stack {name}; did you mean {meant}?"),
                None => write!(
                    f,
                    "there is no stack {name}; there are {}",
                    names.join(", ")
                ),
            },
            StackError::Setting(error) => error.fmt(f),
            StackError::Sysctl(reason) | StackError::Together(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for StackError {}
