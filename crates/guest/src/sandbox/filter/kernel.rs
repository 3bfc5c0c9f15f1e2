//! What user-mode kernels use: found by tracing Linux 6.1 and 6.12 with strace(1), and by reading `arch/um/os-Linux` and
//! `fs/hostfs/hostfs_user.c` of these and of later versions.

use super::super::seccomp::{Action, Rule, When};

/// Whatever their arguments are: what they can reach is bounded by the namespaces and the view.
#[rustfmt::skip]
const CALLS: &[libc::c_long] = &[
    // Its memory and the guest's.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise,
    libc::SYS_msync, libc::SYS_mincore, libc::SYS_memfd_create,
    // Its processes and threads: one or more for each address space of the guest, which it traces.
    libc::SYS_clone, libc::SYS_vfork, libc::SYS_fork, libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit,
    libc::SYS_exit_group, libc::SYS_wait4, libc::SYS_waitid, libc::SYS_ptrace, libc::SYS_kill, libc::SYS_tkill,
    libc::SYS_tgkill, libc::SYS_set_tid_address, libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_futex,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_setsid, libc::SYS_setpgid, libc::SYS_getpid,
    libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgrp, libc::SYS_getpgid, libc::SYS_getuid, libc::SYS_geteuid,
    libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_getgroups,
    libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrusage, libc::SYS_getcpu, libc::SYS_prlimit64,
    libc::SYS_getrlimit, libc::SYS_setrlimit, libc::SYS_arch_prctl, libc::SYS_modify_ldt, libc::SYS_get_thread_area,
    libc::SYS_set_thread_area, libc::SYS_personality, libc::SYS_membarrier, libc::SYS_restart_syscall,
    libc::SYS_seccomp,
    // Signals, timers and time.
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigpending, libc::SYS_rt_sigtimedwait, libc::SYS_sigaltstack, libc::SYS_pause, libc::SYS_alarm,
    libc::SYS_setitimer, libc::SYS_getitimer, libc::SYS_timer_create, libc::SYS_timer_settime,
    libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep, libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday,
    libc::SYS_time, libc::SYS_getrandom,
    // Descriptors, and waiting for them.
    libc::SYS_read, libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64,
    libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_lseek, libc::SYS_close, libc::SYS_close_range, libc::SYS_dup,
    libc::SYS_dup2, libc::SYS_dup3, libc::SYS_pipe, libc::SYS_pipe2, libc::SYS_fcntl, libc::SYS_ioctl, libc::SYS_poll,
    libc::SYS_ppoll, libc::SYS_select, libc::SYS_pselect6, libc::SYS_epoll_create, libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl, libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_eventfd2, libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime, libc::SYS_signalfd4, libc::SYS_socketpair, libc::SYS_sendmsg, libc::SYS_recvmsg,
    libc::SYS_shutdown,
    // Files, for hostfs and its own.
    libc::SYS_open, libc::SYS_openat, libc::SYS_creat, libc::SYS_access, libc::SYS_faccessat, libc::SYS_faccessat2,
    libc::SYS_stat, libc::SYS_lstat, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs,
    libc::SYS_fstatfs, libc::SYS_getdents, libc::SYS_getdents64, libc::SYS_readlink, libc::SYS_readlinkat,
    libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_mkdir, libc::SYS_mkdirat, libc::SYS_rmdir,
    libc::SYS_unlink, libc::SYS_unlinkat, libc::SYS_link, libc::SYS_linkat, libc::SYS_symlink, libc::SYS_symlinkat,
    libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_mknod, libc::SYS_mknodat, libc::SYS_chmod,
    libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_chown, libc::SYS_fchown, libc::SYS_lchown, libc::SYS_fchownat,
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_utime, libc::SYS_utimes,
    libc::SYS_futimesat, libc::SYS_utimensat, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range,
    libc::SYS_fadvise64, libc::SYS_sendfile, libc::SYS_copy_file_range, libc::SYS_flock, libc::SYS_umask,
];

/// linux/prctl.h: of the many things that prctl(2) does, those that change how a process is named, traced and ended.
const PROCESS: [libc::c_int; 7] = [
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_SET_SECCOMP,
];

pub(super) fn allowed() -> Vec<Rule> {
    let allow = |call, when| Rule {
        call,
        when,
        action: Action::Allow,
    };
    let prctl = PROCESS.map(|what| allow(libc::SYS_prctl, When::Is(0, what.unsigned_abs())));
    CALLS
        .iter()
        .map(|call| allow(*call, When::Always))
        .chain(prctl)
        .collect()
}
