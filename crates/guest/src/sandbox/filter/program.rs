//! What no build needs, and attackers do.

use super::super::seccomp::{Rule, When};
use super::refuse;

/// The network is empty: what sockets would still reach are the doors of daemons, the hypervisor (AF_VSOCK) and seldom
/// used code of the kernel. Pairs of sockets remain.
#[rustfmt::skip]
const CALLS: &[libc::c_long] = &[
    // Namespaces and mounts.
    libc::SYS_unshare, libc::SYS_setns, libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot,
    libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount,
    libc::SYS_fspick, libc::SYS_mount_setattr, libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_reboot, libc::SYS_kexec_load, libc::SYS_kexec_file_load, libc::SYS_init_module, libc::SYS_finit_module,
    libc::SYS_delete_module, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_acct, libc::SYS_syslog,
    libc::SYS_quotactl, libc::SYS_quotactl_fd, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_settimeofday,
    libc::SYS_clock_settime, libc::SYS_clock_adjtime, libc::SYS_adjtimex, libc::SYS_sethostname,
    libc::SYS_setdomainname, libc::SYS_vhangup,
    // Keys, and what the kernel runs, waits for or watches on a program's behalf.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key, libc::SYS_bpf, libc::SYS_perf_event_open,
    libc::SYS_userfaultfd, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    // Sockets.
    libc::SYS_socket,
];

pub(super) fn refused() -> Vec<Rule> {
    CALLS
        .iter()
        .map(|call| refuse(*call, When::Always))
        .collect()
}
