//! What programs call besides, after the default profile of Docker (`profiles/seccomp/default.json` of Moby).
//!
//! Left out of that profile: what reads or writes another process (ptrace, process_vm_readv, kcmp) or opens one
//! (pidfd_getfd); sockets other than pairs, for the network is empty, and what they would still reach are the doors of
//! daemons, the hypervisor (AF_VSOCK) and seldom used code of the kernel; System V and POSIX queues and memory; io_uring
//! and asynchronous reads, which pass by a filter or are used by nothing here; memfd_secret; extended attributes to be
//! set, whose names lie in memory: a capability is one; and all that only root may call.

#[rustfmt::skip]
pub(super) const CALLS: &[libc::c_long] = &[
    // Memory.
    libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mlockall, libc::SYS_munlockall,
    libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect,
    // Processes and threads.
    libc::SYS_getsid, libc::SYS_times, libc::SYS_capget, libc::SYS_capset, libc::SYS_get_robust_list,
    libc::SYS_futex_waitv, libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_getpriority,
    libc::SYS_setpriority, libc::SYS_ioprio_get, libc::SYS_ioprio_set, libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam, libc::SYS_sched_setparam, libc::SYS_sched_getscheduler, libc::SYS_sched_setscheduler,
    libc::SYS_sched_getattr, libc::SYS_sched_setattr, libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min, libc::SYS_sched_rr_get_interval,
    // To give up what is not there: the rights to become another are gone.
    libc::SYS_setuid, libc::SYS_setgid, libc::SYS_setreuid, libc::SYS_setregid, libc::SYS_setresuid,
    libc::SYS_setresgid, libc::SYS_setgroups, libc::SYS_setfsuid, libc::SYS_setfsgid,
    libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self,
    // Signals and timers.
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_signalfd, libc::SYS_timerfd_gettime,
    // Descriptors, and waiting for them.
    libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_splice, libc::SYS_tee, libc::SYS_eventfd,
    libc::SYS_epoll_pwait2, libc::SYS_inotify_init, libc::SYS_inotify_init1, libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch, libc::SYS_sendto, libc::SYS_recvfrom, libc::SYS_recvmmsg, libc::SYS_sendmmsg,
    libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_getsockopt,
    // Files.
    libc::SYS_sync, libc::SYS_syncfs, libc::SYS_readahead, libc::SYS_getxattr, libc::SYS_lgetxattr,
    libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr, libc::SYS_removexattr,
    libc::SYS_lremovexattr, libc::SYS_fremovexattr,
];

/// linux/prctl.h: what is asked, and what concerns nobody but the process and what it starts.
pub(super) const PROCESS: &[libc::c_int] = &[
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_SECCOMP,
    libc::PR_GET_KEEPCAPS,
    libc::PR_GET_SECUREBITS,
    libc::PR_CAPBSET_READ,
    libc::PR_CAP_AMBIENT,
    libc::PR_GET_CHILD_SUBREAPER,
    libc::PR_SET_CHILD_SUBREAPER,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_THP_DISABLE,
    libc::PR_SET_THP_DISABLE,
    libc::PR_SET_VMA,
];
