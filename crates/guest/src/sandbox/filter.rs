//! What a program may ask of the host's kernel.

mod kernel;
mod program;

use super::seccomp::{Action, Compiled, Rule, When};

/// A filter on system calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// For a user-mode kernel: what such kernels use, and nothing else. The programs in the guest are the kernel's traced
    /// children, whose calls it takes before the host's kernel looks at them: a filter neither sees nor slows them.
    Kernel,
    /// For programs of any kind, such as compilers: all but what only a sandbox or an attacker would ask for. No list of
    /// what every compiler, script and test calls would ever be complete.
    Program,
}

impl Filter {
    pub(super) fn compile(self) -> Compiled {
        let shared = [
            refuse(libc::SYS_clone, When::HasAny(0, namespaces())),
            // Its flags lie in memory, where no filter can look. The C library goes on to clone.
            refuse(libc::SYS_clone3, When::Always),
            // To type into the caller's terminal.
            refuse(libc::SYS_ioctl, When::Is(1, request(libc::TIOCSTI))),
            refuse(libc::SYS_ioctl, When::Is(1, request(TIOCLINUX))),
        ];
        let (own, otherwise): (Vec<_>, _) = match self {
            Self::Kernel => (kernel::allowed(), MISSING),
            Self::Program => (program::refused(), Action::Allow),
        };
        let rules: Vec<_> = shared.into_iter().chain(own).collect();
        Compiled::new(&rules, otherwise)
    }
}

/// A refused call fails as if this kernel did not have it: what programs are prepared for, and fall back from.
const MISSING: Action = Action::Fail(libc::ENOSYS);

fn refuse(call: libc::c_long, when: When) -> Rule {
    Rule {
        call,
        when,
        action: MISSING,
    }
}

/// linux/sched.h: the flags of clone(2) that begin with CLONE_NEW. CLONE_NEWTIME is none: its bit is a signal's number.
fn namespaces() -> u32 {
    [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ]
    .into_iter()
    .fold(0, |all, flag| all | flag.unsigned_abs())
}

fn request(number: libc::Ioctl) -> u32 {
    u32::try_from(number).expect("requests have 32 bits")
}

/// asm-generic/ioctls.h
const TIOCLINUX: libc::Ioctl = 0x541c;
