//! Calls that pass or fail by their arguments. Where the argument that counts lies in memory, where no filter can look,
//! the call is on no list: clone3(2), openat2(2).

use super::super::seccomp::{Action, Rule, Test};
use super::{allow, allow_if, refuse_if, MISSING};

/// The rules, for a program that may make these calls of prctl(2) besides [`PROCESS`].
pub(super) fn rules(processes: &[libc::c_int]) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (call, tests) in set_id() {
        rules.push(refuse_if(call, &tests, Action::Fail(libc::EPERM)));
        rules.push(allow(call));
    }
    rules.extend([
        refuse_if(libc::SYS_clone, &[Test::HasAny(0, namespaces())], MISSING),
        allow(libc::SYS_clone),
        // A pair of streams stays a pair. A pair of datagram sockets could send to any other socket by its path.
        refuse_if(
            libc::SYS_socketpair,
            &[Test::HasAny(1, bits(libc::SOCK_DGRAM))],
            MISSING,
        ),
        allow_if(libc::SYS_socketpair, Test::Is(0, bits(libc::AF_UNIX))),
        // To ask; else it may only switch off the random layout, or say that it is a 32-bit machine or an old kernel.
        allow_if(libc::SYS_personality, Test::Is(0, u32::MAX)),
        refuse_if(
            libc::SYS_personality,
            &[Test::HasAny(0, !PERSONALITIES)],
            MISSING,
        ),
        allow(libc::SYS_personality),
    ]);
    rules.extend(
        REQUESTS
            .iter()
            .map(|request| allow_if(libc::SYS_ioctl, Test::Is(1, *request))),
    );
    rules.extend(
        PROCESS
            .iter()
            .chain(processes)
            .map(|what| allow_if(libc::SYS_prctl, Test::Is(0, bits(*what)))),
    );
    rules
}

/// The calls that give a file its mode, and when it would be a program that runs as its owner or group: such a file
/// outlives the sandbox and serves whoever runs it outside. Its mode is an argument that open(2) looks at only where it
/// makes a file, so that anything may stand there otherwise.
fn set_id() -> Vec<(libc::c_long, Vec<Test>)> {
    let mode = |argument| Test::HasAny(argument, libc::S_ISUID | libc::S_ISGID);
    let makes = |argument| {
        Test::HasAny(
            argument,
            bits(libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY),
        )
    };
    vec![
        (libc::SYS_openat, vec![makes(2), mode(3)]),
        (libc::SYS_open, vec![makes(1), mode(2)]),
        (libc::SYS_creat, vec![mode(1)]),
        (libc::SYS_chmod, vec![mode(1)]),
        (libc::SYS_fchmod, vec![mode(1)]),
        (libc::SYS_fchmodat, vec![mode(2)]),
        (libc::SYS_fchmodat2, vec![mode(2)]),
        (libc::SYS_mkdir, vec![mode(1)]),
        (libc::SYS_mkdirat, vec![mode(2)]),
        (libc::SYS_mknod, vec![mode(1)]),
        (libc::SYS_mknodat, vec![mode(2)]),
    ]
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

/// linux/personality.h: PER_LINUX32, UNAME26, ADDR_NO_RANDOMIZE.
const PERSONALITIES: u32 = 0x0008 | 0x0002_0000 | 0x0004_0000;

/// Of the thousands of requests of ioctl(2) those that ask and set what a terminal, a pipe or a regular file has. What is
/// missed on purpose types into the caller's terminal (TIOCSTI, TIOCLINUX) or gives it another driver (TIOCSETD).
#[rustfmt::skip]
const REQUESTS: &[u32] = &[
    // asm-generic/ioctls.h: TCGETS, TCSETS, TCSETSW, TCSETSF, TCSBRK, TCXONC, TCFLSH, and TCGETS2 to TCSETSF2.
    0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540a, 0x540b, 0x802c_542a, 0x402c_542b, 0x402c_542c, 0x402c_542d,
    // TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ, TIOCGSID.
    0x540f, 0x5410, 0x5411, 0x5413, 0x5429,
    // FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC.
    0x541b, 0x5421, 0x5450, 0x5451, 0x5452,
    // linux/fs.h: FICLONE, FICLONERANGE, FS_IOC_FIEMAP, FS_IOC_GETFLAGS.
    0x4004_9409, 0x4020_940d, 0xc020_660b, 0x8008_6601,
];

/// linux/prctl.h: of the many things that prctl(2) does, those that change how a process is named, traced and ended.
const PROCESS: &[libc::c_int] = &[
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_SET_SECCOMP,
];

fn bits(number: libc::c_int) -> u32 {
    number.unsigned_abs()
}
