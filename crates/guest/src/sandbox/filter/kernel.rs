//! What user-mode kernels call besides: found by tracing Linux 6.1 and 6.12 with strace(1), and by reading
//! `arch/um/os-Linux` and `fs/hostfs/hostfs_user.c` of these and of later versions.

/// One process or more for each address space of the guest, which the kernel traces.
pub(super) const CALLS: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_modify_ldt,
    libc::SYS_get_thread_area,
    libc::SYS_set_thread_area,
];
