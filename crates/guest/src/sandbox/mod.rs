//! Runs one program of this machine so that it can read most files, write few, and reach nothing else.
//!
//! Its root is a [`view`] of this machine's files, recursively read-only, with known [`secrets`] hidden. It has
//! [`namespaces`] of its own for all that Linux has namespaces for, an [`identity`] that is not the host's root, no
//! [`rights`] that reach beyond files, and a [`filter`] on its system calls. What this promises and what it does not
//! stands in docs/explanation/sandbox.md.

mod filter;
mod identity;
pub mod namespaces;
mod process;
mod rights;
pub mod seccomp;
mod secrets;
pub mod view;

use std::path::{Path, PathBuf};

use anyhow::Result;
use nix::unistd::Pid;

pub use filter::Filter;
pub use identity::Identity;
pub use process::{c_string, die_with_parent, Descriptors, Program, NO_SANDBOX, PATH};
pub use view::{Place, View};

/// Where things stand inside the sandbox. Fixed, because the kernel's command line must not differ between boots.
pub struct Layout;

impl Layout {
    /// The shared folder, the only place that leads to a host file that can be written.
    pub const SHARE: &'static str = "/rexmit";
    /// This program, the guest's process 1.
    pub const INIT: &'static str = "/.rexmit-init";
    /// A tmpfs for the guest's memory and the kernel program's own files.
    pub const MEMORY: &'static str = "/.rexmit-memory";
    /// The kernel program.
    pub const KERNEL: &'static str = "/.rexmit-kernel";
    /// The empty home of a confined program.
    pub const HOME: &'static str = "/.rexmit-home";
}

/// All that distinguishes one sandbox from another.
pub struct Sandbox<'a> {
    /// What it shows of this machine's files.
    pub view: View,
    /// As whom the program runs.
    pub identity: Identity,
    /// What it may ask of the host's kernel.
    pub filter: Filter,
    /// The program.
    pub program: Program<'a>,
    /// What is done in the new mount namespace before its view is made; what that gives is told which process the program
    /// is.
    pub prepare: &'a dyn Fn(&Identity) -> Result<Watch>,
}

/// Looks after the program from the process above it. What it gives back is done when the program has ended.
pub type Watch = Box<dyn FnOnce(Pid) -> Box<dyn FnOnce()>>;

impl Sandbox<'_> {
    /// Runs the program to its end; its exit status, 128+n if signal n ended it, [`NO_SANDBOX`] where the sandbox could not
    /// be made (standard error says why).
    pub fn run(&self) -> Result<i32> {
        namespaces::run(self)
    }
}

/// `path` below another root.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
