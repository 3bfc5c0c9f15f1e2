//! What a program may ask of the host's kernel: the calls of a list, some of them with some arguments only.
//!
//! A call that is on no list, one that is newer than this program among them, fails as if this kernel did not have it.

mod arguments;
mod common;
mod kernel;
mod program;

use super::seccomp::{Action, Compiled, Rule, Test};

/// A filter on system calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// For a user-mode kernel: what such kernels use. The programs in the guest are the kernel's traced children, whose calls
    /// it takes before the host's kernel looks at them: a filter neither sees nor slows them.
    Kernel,
    /// For compilers, scripts and emulators: what a container runtime lets programs call, less what none of them needs.
    Program,
}

impl Filter {
    pub(super) fn compile(self) -> Compiled {
        let (own, processes): (_, &[_]) = match self {
            Self::Kernel => (kernel::CALLS, &[]),
            Self::Program => (program::CALLS, program::PROCESS),
        };
        // The kernel knows at once which calls pass whatever their arguments are. Of the others, that it has to run the filter
        // for, many are frequent: they come first.
        let mut rules = arguments::rules(processes);
        rules.extend(common::CALLS.iter().chain(own).map(|call| allow(*call)));
        Compiled::new(&rules, MISSING)
    }
}

/// A refused call fails as if this kernel did not have it: what programs are prepared for, and fall back from.
const MISSING: Action = Action::Fail(libc::ENOSYS);

fn allow(call: libc::c_long) -> Rule {
    Rule {
        call,
        tests: Vec::new(),
        action: Action::Allow,
    }
}

fn allow_if(call: libc::c_long, test: Test) -> Rule {
    Rule {
        tests: vec![test],
        ..allow(call)
    }
}

fn refuse_if(call: libc::c_long, tests: &[Test], action: Action) -> Rule {
    Rule {
        call,
        tests: tests.to_vec(),
        action,
    }
}
