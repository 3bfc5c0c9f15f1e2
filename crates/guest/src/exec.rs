//! Runs one command of the host inside the guest and passes on what it writes.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::kernel::causes::Log;
use crate::net::{Manner, Namespace, Network};
use crate::outlet::Stream;
use crate::preflight::Kernel;
use crate::report::Report;
use rexmit_plan::Exec;
use rexmit_time::Streams;
use serde_json::json;

/// Exit status of a command that cannot be run, as shells have it.
const NOT_FOUND: i32 = 127;
/// How long (virtual time) output of processes that the command left behind is waited for.
const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// Runs `exec`; its output goes to `stdout` and `stderr` in the shared folder as it comes. Returns its exit status,
/// 128+n if signal n ended it. `release` is the kernel's.
pub fn run(exec: &Exec, share: &Path, release: &str, report: &Report) -> Result<i32> {
    let network = exec
        .network
        .as_ref()
        .map(|plan| {
            Kernel::look(release)?.require_network(plan)?;
            let network = Network::set_up(plan, Manner::default())?;
            if let Some(line) = &network.line {
                line.pass_all(plan, &Streams::new(0));
            }
            anyhow::Ok(network)
        })
        .transpose()?;
    let Some((program, arguments)) = exec.argv.split_first() else {
        bail!("no command to run")
    };
    let own = exec
        .alone
        .then(|| Namespace::create("command"))
        .transpose()?;
    let mut command = match (&network, exec.host.as_deref()) {
        (Some(network), Some("h1")) => network.h1.namespace.command(program),
        (Some(network), Some("h2")) => network.h2.namespace.command(program),
        (None, None) => match &own {
            Some(own) => own.command(program),
            None => Command::new(program),
        },
        (_, host) => bail!("no such host: {}", host.unwrap_or("(none)")),
    };
    let scratch = share.join("scratch");
    std::fs::create_dir_all(&scratch)?;
    command
        .args(arguments)
        .current_dir(&exec.cwd)
        .env_clear()
        .envs(&exec.env)
        .env("REXMIT_SCRATCH", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if !exec.cwd.is_dir() {
        let folder = exec.cwd.display();
        let said =
            format!("rexmit: the guest has no folder {folder}: /run, /dev and /proc are its own\n");
        Stream::open(share, "stderr")?.write_all(said.as_bytes())?;
        return Ok(NOT_FOUND);
    }
    report.doing(None, exec.argv.join(" "))?;
    // A tree that the patch does not fit has no record.
    let record = exec.causes > 0 && Log::Causes.is_kept();
    if record {
        Log::Causes.start(exec.causes)?;
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let said = format!("{program}: {error}\n");
            Stream::open(share, "stderr")?.write_all(said.as_bytes())?;
            return Ok(NOT_FOUND);
        }
    };
    let (done, copied) = mpsc::channel();
    pass_on(child.stdout.take(), share, "stdout", done.clone())?;
    pass_on(child.stderr.take(), share, "stderr", done)?;
    let status = child.wait()?;
    for _ in 0..2 {
        // Both ends of the pipes are closed, or a daemon still holds them.
        if let Ok(Err(error)) = copied.recv_timeout(LEFT_BEHIND) {
            report.fault(&format!("{error:#}"))?;
            return Err(error);
        }
    }
    if record {
        report.event("causes", &json!({"text": Log::Causes.text()?}))?;
    }
    Ok(status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// Starts a thread that appends what comes `from` the command to a file of the shared folder. The host stops the whole
/// kernel while it has much to read, so that nothing here waits for it.
fn pass_on(
    from: Option<impl Read + Send + 'static>,
    share: &Path,
    name: &'static str,
    done: Sender<Result<()>>,
) -> Result<()> {
    let Some(mut from) = from else {
        bail!("a pipe is missing")
    };
    let mut file = Stream::open(share, name)?;
    thread::spawn(move || {
        let copied = copy(&mut from, &mut file);
        // The command is not to wait for somebody who reads.
        drop(from);
        let _ = done.send(copied.with_context(|| format!("cannot pass on what comes on {name}")));
    });
    Ok(())
}

fn copy(from: &mut impl Read, to: &mut Stream) -> Result<()> {
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => to.write_all(&buffer[..length])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}
