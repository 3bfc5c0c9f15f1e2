//! Filters on system calls, as programs of the kernel's classic BPF (seccomp(2)).

use std::io;

use anyhow::{Context, Result};

/// linux/audit.h: the only system calls that there are inside are those of 64-bit x86.
const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// asm/unistd.h: the numbers of x32's calls have this bit, with the same architecture.
const X32: u32 = 0x4000_0000;

/// What becomes of a call.
#[derive(Clone, Copy)]
pub enum Action {
    /// It is made.
    Allow,
    /// It fails with this error.
    Fail(libc::c_int),
}

/// A condition on one argument of the call, of which a filter sees the value and not what it points to.
#[derive(Clone, Copy)]
pub enum Test {
    /// The lower half of an argument is this.
    Is(u32, u32),
    /// The lower half of an argument has any of these bits.
    HasAny(u32, u32),
}

/// What becomes of a call of this number when all conditions hold.
#[derive(Clone)]
pub struct Rule {
    /// The call.
    pub call: libc::c_long,
    /// The conditions; without any the rule always holds.
    pub tests: Vec<Test>,
    /// What becomes of it.
    pub action: Action,
}

/// A filter that can be installed.
pub struct Compiled(Vec<libc::sock_filter>);

impl Compiled {
    /// The first rule that holds decides, `otherwise` where none does. A call of another architecture ends the process.
    pub fn new(rules: &[Rule], otherwise: Action) -> Self {
        const NUMBER: u32 = 0;
        const ARCHITECTURE: u32 = 4;
        let mut code = vec![
            load(ARCHITECTURE),
            jump(libc::BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
            end(libc::SECCOMP_RET_KILL_PROCESS),
            load(NUMBER),
            jump(libc::BPF_JGE, X32, 0, 1),
            end(libc::SECCOMP_RET_KILL_PROCESS),
        ];
        for rule in rules {
            code.extend(rule.compile(NUMBER));
        }
        code.push(end(otherwise.code()));
        Self(code)
    }

    /// Puts it on this process and all that it starts, for good. They must not be able to gain rights (no_new_privs).
    pub fn install(&self) -> Result<()> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.0.len()).context("the filter is too long")?,
            filter: self.0.as_ptr().cast_mut(),
        };
        // SAFETY: the program is live for the call, which copies it.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                0,
                &raw const program,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error()).context("cannot filter system calls");
        }
        Ok(())
    }
}

impl Action {
    fn code(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Fail(error) => libc::SECCOMP_RET_ERRNO | error.unsigned_abs(),
        }
    }
}

impl Rule {
    /// The rule's action if it holds; otherwise on with the number loaded, as before.
    fn compile(&self, number_at: u32) -> Vec<libc::sock_filter> {
        let number = u32::try_from(self.call).expect("numbers of calls are small");
        let left = |tests: usize| u8::try_from(2 * tests + 1).expect("a rule has few tests");
        let all = self.tests.len();
        let reload = (all > 0).then(|| load(number_at));
        let beyond = left(all) + u8::from(reload.is_some());
        let mut code = vec![jump(libc::BPF_JEQ, number, 0, beyond)];
        for (at, test) in self.tests.iter().enumerate() {
            let (kind, argument, value) = match *test {
                Test::Is(argument, value) => (libc::BPF_JEQ, argument, value),
                Test::HasAny(argument, bits) => (libc::BPF_JSET, argument, bits),
            };
            // struct seccomp_data: the arguments are 64 bits each, from offset 16, the lower half first.
            code.push(load(16 + 8 * argument));
            code.push(jump(kind, value, 0, left(all - at - 1)));
        }
        code.push(end(self.action.code()));
        code.extend(reload);
        code
    }
}

fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

fn jump(test: u32, value: u32, yes: u8, no: u8) -> libc::sock_filter {
    statement(libc::BPF_JMP | test | libc::BPF_K, value, yes, no)
}

fn end(result: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, result, 0, 0)
}

fn statement(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    let code = u16::try_from(code).expect("codes are small");
    libc::sock_filter { code, jt, jf, k }
}
