//! `machine`: runs an unmodified kernel image in an emulated machine whose clock counts instructions, inside a
//! [`sandbox`](crate::sandbox).
//!
//! With `--state` the machine goes on from where another one of the same kind paused; without, it boots, and its state is
//! left in the shared folder when it pauses.

#![expect(clippy::disallowed_methods, reason = "it is standard output")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::signal::{kill, Signal};
use nix::unistd::{pipe, Pid};

use super::{intake, order, ports, qmp};
use crate::boot::{self, Common};
use crate::sandbox::{
    c_string, Descriptors, Filter, Identity, Layout, Place, Program, Sandbox, View, PATH,
};
use crate::share::Share;

/// What stands where in the sandbox, besides [`Layout`].
const INITRD: &str = "/.rexmit-initrd";
const FILES: &str = "/.rexmit-files";
const STATE: &str = "/.rexmit-state";
/// What the emulator's status becomes where the guest did not switch off: a kernel that panicked or restarted.
const NOT_SWITCHED_OFF: i32 = 1;

struct Options {
    common: Common,
    emulator: PathBuf,
    initrd: PathBuf,
    state: Option<PathBuf>,
    files: Option<PathBuf>,
    words: Vec<String>,
}

fn parse(arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let (mut emulator, mut initrd) = (PathBuf::new(), PathBuf::new());
    let (mut state, mut files, mut words) = (None, None, Vec::new());
    let common = Common::read(arguments, |name, arguments| {
        let value = match name {
            "qemu" | "initrd" | "state" | "files" | "word" => arguments.value()?,
            _ => return Ok(false),
        };
        match name {
            "qemu" => emulator = PathBuf::from(value),
            "initrd" => initrd = PathBuf::from(value),
            "state" => state = Some(PathBuf::from(value)),
            "files" => files = Some(PathBuf::from(value)),
            _ => words.push(value.string()?),
        }
        Ok(true)
    })?;
    let there = |path: Option<PathBuf>, name: &str| {
        path.map(|path: PathBuf| boot::absolute(&path, name))
            .transpose()
    };
    Ok(Options {
        common: common.whole()?,
        emulator: boot::absolute(&emulator, "qemu")?,
        initrd: boot::absolute(&initrd, "initrd")?,
        state: there(state, "state")?,
        files: there(files, "files")?,
        words,
    })
}

/// Boots or goes on, as the arguments say, and waits; the exit status is 0 after the guest switched off, or when its
/// state is kept.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    let options = parse(arguments)?;
    options.common.begin()?;
    if options.common.core.is_none() {
        order::stay_here()?;
    }
    let state = options.state.is_some();
    let folder = &options.common.share;
    let sandbox = Sandbox {
        view: view(&options),
        identity: Identity::kernel(),
        filter: Filter::Program,
        program: Program {
            files: vec![c_string(&options.emulator)?],
            name: &options.emulator,
            arguments: command_line(&options)?,
            environment: [format!("PATH={PATH}"), "HOME=/".into()]
                .into_iter()
                .map(c_string)
                .collect::<Result<_>>()?,
            folder: Path::new("/"),
            descriptors: Descriptors::These {
                input: ORDERS,
                output: ANSWERS,
                others: vec![SENT, CONSOLE],
            },
            fixed_layout: true,
        },
        prepare: &|identity| {
            let share = Share::set_up(folder, options.common.limits)?;
            identity.give(folder)?;
            let ours = Ours::begin()?;
            Ok(Box::new(move |emulator| {
                watch(ours, share, emulator, state)
            }))
        },
    };
    Ok(match sandbox.run()? {
        ports::SWITCHED_OFF_STATUS => 0,
        0 if state => NOT_SWITCHED_OFF,
        other => other,
    })
}

/// The descriptors that the emulator gets: orders, answers, what the guest sends, the kernel's console.
const ORDERS: RawFd = 100;
const ANSWERS: RawFd = 101;
const SENT: RawFd = 102;
const CONSOLE: RawFd = 103;

/// The launcher's ends of the pipes to and from the emulator.
struct Ours {
    orders: File,
    answers: File,
    sent: File,
}

impl Ours {
    /// Makes the pipes; the other ends get the numbers that the emulator is told.
    fn begin() -> Result<Self> {
        let (orders_out, orders) = pipe()?;
        let (answers, answers_in) = pipe()?;
        let (sent, sent_in) = pipe()?;
        // For writing only, as the emulator opens it.
        let console = OpenOptions::new()
            .append(true)
            .open("/proc/self/fd/1")
            .context("standard output")?;
        for (from, to) in [
            (orders_out, ORDERS),
            (answers_in, ANSWERS),
            (sent_in, SENT),
            (console.into(), CONSOLE),
        ] {
            // SAFETY: plain numbers; nothing else has these.
            Errno::result(unsafe { libc::dup2(from.as_raw_fd(), to) })?;
        }
        Ok(Self {
            orders: orders.into(),
            answers: answers.into(),
            sent: sent.into(),
        })
    }
}

/// Threads that speak with the emulator and take what the guest sends; what is given back waits for the end of both.
fn watch(ours: Ours, share: Share, emulator: Pid, state: bool) -> Box<dyn FnOnce()> {
    let Ours {
        orders,
        answers,
        sent,
    } = ours;
    for descriptor in [ORDERS, ANSWERS, SENT, CONSOLE] {
        // The emulator has its own by now: what it writes is to end with it.
        let _ = nix::unistd::close(descriptor);
    }
    let end = move |what: &str, error: anyhow::Error| {
        eprintln!("rexmit-guest: {what}: {error:#}");
        // One that has ended needs no signal.
        let _ = kill(emulator, Signal::SIGKILL);
    };
    thread::spawn(move || {
        let talked = qmp::Talk::begin(orders, answers).and_then(|mut talk| {
            order::main_loop_first(emulator)?;
            talk.go_on()?;
            if state {
                // Kept open to the end: an emulator whose orders end may take that for one.
                std::mem::forget(talk);
                Ok(())
            } else {
                talk.keep(&format!("cat >{}/state", Layout::SHARE))
            }
        });
        if let Err(error) = talked {
            end("no word with the machine", error);
        }
    });
    let taking = thread::spawn(move || {
        let taken = intake::take_all(sent, &share, Path::new(Layout::SHARE));
        if let Err(error) = taken {
            end("what the guest sends", error);
        }
    });
    crate::share::keep_outputs_short();
    Box::new(move || {
        let _ = taking.join();
    })
}

/// The kernel's own arguments: what is asked of any of them, so that time comes from the instruction counter alone.
const WORDS: &[&str] = &[
    // Errors only: each character of the console costs an exit from translated code.
    "console=ttyS0",
    "loglevel=4",
    "panic=-1",
    // The counter is what all clocks of this machine follow.
    "tsc=reliable",
    "clocksource=tsc",
    "no_timer_check",
    // No boot like another otherwise: addresses would follow from what was measured at the start.
    "nokaslr",
    "norandmaps",
    "nowatchdog",
    "audit=0",
];

fn command_line(options: &Options) -> Result<Vec<CString>> {
    let memory = options.common.memory_mb;
    let append = WORDS
        .iter()
        .copied()
        .chain(options.words.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let mut words: Vec<String> = [
        // Nothing but what is named here: no disk, no network, no display.
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-name",
        "rexmit,debug-threads=on",
        "-S",
        "-machine",
        "pc,hpet=off,usb=off",
        "-accel",
        "tcg,thread=single",
        // An instruction takes 1 ns; a machine with nothing to do is at its next timer at once.
        "-icount",
        "shift=0,sleep=off",
        "-rtc",
        "base=2025-01-01T00:00:00,clock=vm",
        "-cpu",
        "qemu64,+arat",
        "-smp",
        "1",
        "-device",
        "isa-debug-exit,iobase=0xf4,iosize=1",
        "-device",
        "pvpanic",
        "-chardev",
        "stdio,id=orders,signal=off",
        "-mon",
        "chardev=orders,mode=control",
        "-kernel",
        Layout::KERNEL,
        "-initrd",
        INITRD,
    ]
    .map(Into::into)
    .into();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("-m", format!("{memory}M"));
    add("-append", append);
    for (id, descriptor) in [("console", CONSOLE), ("sent", SENT)] {
        add("-add-fd", format!("fd={descriptor},set={descriptor}"));
        add(
            "-chardev",
            format!("file,id={id},path=/dev/fdset/{descriptor},append=on"),
        );
    }
    add("-serial", "chardev:console".into());
    add("-device", "isa-debugcon,iobase=0xe9,chardev=sent".into());
    let item = |name: &str, file: &str| format!("name=opt/rexmit/{name},file={file}");
    add(
        "-fw_cfg",
        item("plan", &format!("{}/plan.json", Layout::SHARE)),
    );
    add(
        "-fw_cfg",
        format!("name=opt/rexmit/seed,string={:016x}", options.common.seed),
    );
    let files = if options.files.is_some() {
        FILES
    } else {
        "/dev/null"
    };
    add("-fw_cfg", item("files", files));
    if options.state.is_some() {
        add("-incoming", format!("exec:cat {STATE}"));
        add("-action", "panic=shutdown".into());
    } else {
        add("-action", "panic=pause".into());
    }
    [options.emulator.to_string_lossy().into_owned()]
        .into_iter()
        .chain(words)
        .map(c_string)
        .collect()
}

fn view(options: &Options) -> View {
    let readable = |from: &Path, to: &str| Place::Readable {
        from: from.to_owned(),
        to: to.into(),
    };
    let mut places = vec![
        readable(&options.common.kernel, Layout::KERNEL),
        readable(&options.initrd, INITRD),
        Place::Writable {
            from: options.common.share.clone(),
            to: Layout::SHARE.into(),
        },
    ];
    places.extend(options.state.iter().map(|from| readable(from, STATE)));
    places.extend(options.files.iter().map(|from| readable(from, FILES)));
    View {
        places,
        shown: Vec::new(),
    }
}
