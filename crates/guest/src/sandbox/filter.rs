//! What a program may ask of the host's kernel.

use super::seccomp::{Action, Compiled, Rule, When};

/// A filter on system calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// For programs of any kind, such as compilers: all but what only the sandbox or an attack would ask for.
    Program,
}

impl Filter {
    pub(super) fn compile(self) -> Compiled {
        match self {
            Self::Program => Compiled::new(&refused(), Action::Allow),
        }
    }
}

/// What no build needs: new namespaces and mounts, sockets (the network is empty; what is left are the doors of daemons,
/// of the hypervisor and of seldom used code), other programs' keys and the parts of the kernel where most ways out were.
const REFUSED: &[libc::c_long] = &[
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Keys, and what the kernel runs or waits for on a program's behalf.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    // Sockets but for pairs.
    libc::SYS_socket,
];

fn refused() -> Vec<Rule> {
    let fail = |call, when, error| Rule {
        call,
        when,
        action: Action::Fail(error),
    };
    // linux/sched.h: all that begin with CLONE_NEW. CLONE_NEWTIME is a signal's number for clone(2).
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ]
    .into_iter()
    .fold(0, |all, flag| all | flag.unsigned_abs());
    let tty = |request: libc::Ioctl| {
        let request = u32::try_from(request).expect("requests have 32 bits");
        fail(libc::SYS_ioctl, When::Is(1, request), libc::EPERM)
    };
    let mut rules = vec![
        fail(libc::SYS_clone, When::HasAny(0, namespaces), libc::EPERM),
        // Its flags lie in memory, where no filter can look. The C library goes on to clone.
        fail(libc::SYS_clone3, When::Always, libc::ENOSYS),
        // To type into the caller's terminal.
        tty(libc::TIOCSTI),
        tty(TIOCLINUX),
    ];
    rules.extend(
        REFUSED
            .iter()
            .map(|call| fail(*call, When::Always, libc::EPERM)),
    );
    rules
}

/// asm-generic/ioctls.h
const TIOCLINUX: libc::Ioctl = 0x541c;
