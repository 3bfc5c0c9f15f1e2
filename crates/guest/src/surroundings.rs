//! What all cells of a boot have in common.

use std::path::Path;

use anyhow::Result;
use rexmit_plan::{Cell, Programs};

use crate::preflight::Kernel;
use crate::report::Report;

/// What all cells of a boot have in common.
pub struct Surroundings<'a> {
    /// Programs of the host.
    pub programs: &'a Programs,
    /// The shared folder.
    pub share: &'a Path,
    /// Where rows go.
    pub report: &'a Report,
    /// Major and minor version of the kernel.
    pub series: (u32, u32),
    /// What the kernel has.
    pub kernel: &'a Kernel,
}

impl Surroundings<'_> {
    /// Says what `cell` is doing now.
    pub fn doing(&self, cell: &Cell, what: &str) -> Result<()> {
        let doing = format!("{}: {what}", cell.label);
        self.report.doing(Some(cell.id), doing)
    }
}
