//! What user-mode kernels and programs both call, whatever the arguments are: what such calls can reach is bounded by the
//! namespaces and the view.

#[rustfmt::skip]
pub(super) const CALLS: &[libc::c_long] = &[
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise,
    libc::SYS_msync, libc::SYS_mincore, libc::SYS_memfd_create,
    // Processes and threads.
    libc::SYS_vfork, libc::SYS_fork, libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group,
    libc::SYS_wait4, libc::SYS_waitid, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_set_tid_address,
    libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_futex, libc::SYS_sched_yield, libc::SYS_sched_getaffinity,
    libc::SYS_setsid, libc::SYS_setpgid, libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgrp,
    libc::SYS_getpgid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid,
    libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrusage,
    libc::SYS_getcpu, libc::SYS_prlimit64, libc::SYS_getrlimit, libc::SYS_setrlimit, libc::SYS_arch_prctl,
    libc::SYS_membarrier, libc::SYS_restart_syscall, libc::SYS_seccomp,
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
    libc::SYS_dup2, libc::SYS_dup3, libc::SYS_pipe, libc::SYS_pipe2, libc::SYS_fcntl, libc::SYS_poll,
    libc::SYS_ppoll, libc::SYS_select, libc::SYS_pselect6, libc::SYS_epoll_create, libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl, libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_eventfd2, libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime, libc::SYS_signalfd4, libc::SYS_sendmsg, libc::SYS_recvmsg, libc::SYS_shutdown,
    // Files.
    libc::SYS_access, libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_stat, libc::SYS_lstat, libc::SYS_fstat,
    libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_getdents,
    libc::SYS_getdents64, libc::SYS_readlink, libc::SYS_readlinkat, libc::SYS_getcwd, libc::SYS_chdir,
    libc::SYS_fchdir, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_unlinkat, libc::SYS_link, libc::SYS_linkat,
    libc::SYS_symlink, libc::SYS_symlinkat, libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2,
    libc::SYS_chown, libc::SYS_fchown, libc::SYS_lchown, libc::SYS_fchownat, libc::SYS_truncate, libc::SYS_ftruncate,
    libc::SYS_fallocate, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_utimensat,
    libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range, libc::SYS_fadvise64, libc::SYS_sendfile,
    libc::SYS_copy_file_range, libc::SYS_flock, libc::SYS_umask,
];
