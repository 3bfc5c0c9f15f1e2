//! Starts programs.
//!
//! The new process has this one's memory until it executes its program, as after vfork(2): a copy would cost a fault for each
//! page that either writes. What posix_spawn(3) of the C library does to all 64 signals is left out: this program handles
//! none that another process sends.

use std::ffi::{CString, OsString};
use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sched::{clone, CloneFlags};
use nix::unistd::{pipe2, Pid};

/// More than is needed up to the program's own.
const STACK_BYTES: usize = 64 << 10;

/// A program to be started.
pub struct Program {
    words: Vec<CString>,
    environment: Vec<CString>,
}

impl Program {
    /// With this environment.
    pub fn new(
        path: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self> {
        let variables = environment.into_iter().map(|(name, value)| {
            let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
            Ok(CString::new(bytes)?)
        });
        Ok(Self {
            environment: variables.collect::<Result<_>>()?,
            words: vec![CString::new(path.as_os_str().as_bytes())?],
        })
    }

    /// Adds an argument.
    pub fn argument(&mut self, word: impl Into<OsString>) -> Result<()> {
        self.words.push(CString::new(word.into().into_vec())?);
        Ok(())
    }

    /// Starts it with standard input, output and errors. The new process first does what `prepare` says: system calls alone.
    pub fn start(
        &self,
        files: [BorrowedFd<'_>; 3],
        mut prepare: impl FnMut() -> Result<(), Errno>,
    ) -> Result<Child> {
        let words = pointers(&self.words);
        let environment = pointers(&self.environment);
        let mut failed = None;
        let mut begin = || -> isize {
            let mut execute = || -> Result<(), Errno> {
                for (to, from) in (0..).zip(&files) {
                    // SAFETY: the descriptors are open.
                    Errno::result(unsafe { libc::dup2(from.as_raw_fd(), to) })?;
                }
                prepare()?;
                // SAFETY: a signal's number and what every program starts with; Rust's own ignores it.
                unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
                // SAFETY: lists of terminated strings that are live, and that end with null.
                unsafe { libc::execve(words[0], words.as_ptr(), environment.as_ptr()) };
                Err(Errno::last())
            };
            failed = execute().err();
            // SAFETY: ends this process, without what the one that waits for it has yet to do at its end.
            unsafe { libc::_exit(127) }
        };
        let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
        let mut stack = vec![0; STACK_BYTES];
        // SAFETY: until it has executed its program or has ended, this thread waits, and so does all that it borrows. It
        // makes system calls alone.
        let pid = unsafe { clone(Box::new(&mut begin), &mut stack, flags, Some(libc::SIGCHLD)) };
        let child = Child {
            pid: pid.context("clone")?,
            ended: None,
        };
        match failed {
            None => Ok(child),
            Some(error) => {
                let _ = { child }.wait();
                let program = self.words[0].to_string_lossy();
                Err(error).with_context(|| format!("cannot run {program}"))
            }
        }
    }

    /// Runs it to its end without input: how it ended, what it wrote, and what it wrote as errors.
    pub fn output(&self) -> Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
        let nothing = std::fs::File::open("/dev/null").context("/dev/null")?;
        let [(out, out_end), (err, err_end)] = [pipe2(OFlag::O_CLOEXEC)?, pipe2(OFlag::O_CLOEXEC)?];
        let files = [&OwnedFd::from(nothing), &out_end, &err_end];
        let mut child = self.start(files.map(std::os::fd::AsFd::as_fd), || Ok(()))?;
        drop((out_end, err_end));
        let (output, errors) = read_both(out, err)?;
        Ok((child.wait()?, output, errors))
    }
}

/// What comes from two pipes until both are closed.
fn read_both(first: OwnedFd, second: OwnedFd) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut pipes = [first, second].map(|pipe| (Some(std::fs::File::from(pipe)), Vec::new()));
    let mut buffer = vec![0; 64 << 10];
    while pipes.iter().any(|(pipe, _)| pipe.is_some()) {
        let open: Vec<BorrowedFd<'_>> = pipes
            .iter()
            .filter_map(|(pipe, _)| pipe.as_ref().map(std::os::fd::AsFd::as_fd))
            .collect();
        let mut asked: Vec<_> = open
            .into_iter()
            .map(|pipe| PollFd::new(pipe, PollFlags::POLLIN))
            .collect();
        match poll(&mut asked, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            other => other.context("poll")?,
        };
        let ready: Vec<RawFd> = asked
            .iter()
            .filter(|one| one.any() == Some(true))
            .map(|one| std::os::fd::AsFd::as_fd(one).as_raw_fd())
            .collect();
        for (pipe, read) in &mut pipes {
            let Some(file) = pipe
                .as_mut()
                .filter(|file| ready.contains(&file.as_raw_fd()))
            else {
                continue;
            };
            match file.read(&mut buffer)? {
                0 => *pipe = None,
                length => read.extend(&buffer[..length]),
            }
        }
    }
    let [(_, said), (_, errors)] = pipes;
    Ok((said, errors))
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    let words = words.iter().map(|word| word.as_ptr());
    words.chain([std::ptr::null()]).collect()
}

/// A program that was started.
pub struct Child {
    pid: Pid,
    ended: Option<ExitStatus>,
}

impl Child {
    /// Its number.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.look(libc::WNOHANG)
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.look(0)? {
                return Ok(status);
            }
        }
    }

    fn look(&mut self, options: libc::c_int) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            let mut status = 0;
            // SAFETY: a child of this process, and a live number.
            let pid = unsafe { libc::waitpid(self.pid.as_raw(), &raw mut status, options) };
            match Errno::result(pid) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => self.ended = Some(ExitStatus::from_raw(status)),
                Err(error) => return Err(error).context("waitpid"),
            }
        }
        Ok(self.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        let environment = [(OsString::from("WORD"), OsString::from("one"))];
        let mut program = Program::new(Path::new("/bin/sh"), environment).unwrap();
        program.argument("-c").unwrap();
        program.argument(script).unwrap();
        program
    }

    #[test]
    fn a_program_has_its_environment_and_is_heard_to_its_end() {
        let many = "i=0; while [ $i -lt 9000 ]; do echo $WORD; echo two >&2; echo two >&2; i=$((i + 1)); done; exit 3";
        let (status, said, errors) = shell(many).output().unwrap();
        assert_eq!(status.code(), Some(3));
        assert_eq!((said.len(), errors.len()), (9000 * 4, 18_000 * 4));
        assert!(said.starts_with(b"one\n"));
    }

    #[test]
    fn what_cannot_be_run_is_named() {
        let none = Program::new(Path::new("/nowhere/nginx"), []).unwrap();
        let error = format!("{:#}", none.output().unwrap_err());
        assert!(
            error.starts_with("cannot run /nowhere/nginx: ENOENT"),
            "{error}"
        );
        let kept = Err(Errno::EPERM);
        let program = shell("exit 0");
        let null = std::fs::File::open("/dev/null").unwrap();
        let files = [std::os::fd::AsFd::as_fd(&null); 3];
        assert!(program.start(files, || kept).is_err());
    }

    #[test]
    fn an_end_is_seen_once_and_kept() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let files = [std::os::fd::AsFd::as_fd(&null); 3];
        let mut child = shell("kill -SEGV $$").start(files, || Ok(())).unwrap();
        while child.ended().unwrap().is_none() {}
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGSEGV));
    }
}
