//! Process 1 of a guest kernel: mounts what programs expect, does what the plan says, switches the kernel off.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are the kernel's own: settings and records"
)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use nix::mount::{mount, MsFlags};
use nix::sys::reboot::{reboot, RebootMode};
use serde_json::json;

use crate::preflight::Kernel;
use crate::report::Report;
use crate::sandbox::Layout;
use crate::surroundings::Surroundings;
use crate::{clock, exec, interfaces, machine, outlet, transfers, truth};
use rexmit_plan::{Plan, VERSION};

/// Whether this first process of a system is the guest's, not one of somebody's container.
pub fn is_called() -> bool {
    machine::here() || std::env::args().len() == 1
}

/// Runs the plan in the shared folder and powers off; never returns.
///
/// What goes wrong before the plan's events can be written goes to the console.
pub fn run() -> ! {
    if let Err(error) = run_plan() {
        give_up(&format!("{error:#}"));
    }
    switch_off()
}

/// Says on the console why the guest cannot go on, and switches off.
pub fn give_up(why: &str) -> ! {
    println!("rexmit-guest: {why}");
    switch_off()
}

fn switch_off() -> ! {
    if machine::here() {
        machine::ports::switch_off();
    }
    let Err(error) = reboot(RebootMode::RB_POWER_OFF);
    // Process 1 that ends makes the kernel panic, which the host sees as what it is.
    println!("rexmit-guest: cannot switch off: {error}");
    std::process::exit(1);
}

fn run_plan() -> Result<()> {
    if machine::here() {
        machine::start()?;
    } else {
        mount_all()?;
    }
    allow_all_congestion_controls()?;
    nix::unistd::sethostname("rexmit")?;
    carry_out(Path::new(Layout::SHARE), give_up)
}

/// Does what the plan in the shared folder says; `failed` is called where nothing can be told any more.
pub fn carry_out(share: &Path, failed: fn(&str) -> !) -> Result<()> {
    let report = Report::create(share)?;
    if !report.is_fresh()? {
        // User-mode Linux reboots by executing itself again: the same plan would run for ever.
        let why = "the guest rebooted";
        report.fault(why)?;
        bail!(why);
    }
    let release = nix::sys::utsname::uname()?
        .release()
        .to_string_lossy()
        .into_owned();
    report.event(
        "hello",
        &json!({"version": VERSION, "kernel": release, "virtual_ns": clock::now().as_nanos()}),
    )?;
    let plan = Plan::parse(&fs::read_to_string(share.join("plan.json")).context("plan.json")?)?;
    if let Some(version) = &plan.interfaces {
        let series = interfaces::series(version);
        let none = || anyhow!("{version} is no version of Linux, such as 3.2");
        interfaces::limit_to(series.ok_or_else(none)?);
    }
    let period = Duration::from_secs_f64(plan.heartbeat_s.clamp(0.001, 1e6));
    report.start_heartbeat(period, failed);

    let status = match &plan.exec {
        Some(command) => exec::run(command, share, &release, &report)?,
        None if !plan.parts.is_empty() => {
            let kernel = Kernel::look(&release)?;
            let mut failed = false;
            for part in &plan.parts {
                if let Err(error) = truth::run(part, &plan.programs, &kernel, share, &report) {
                    failed = true;
                    let body = json!({"part": part.name, "message": format!("{error:#}")});
                    report.event("part-error", &body)?;
                }
            }
            i32::from(failed)
        }
        None => {
            let kernel = Kernel::look(&release)?;
            if let Some(ask) = &plan.ask {
                report.event("kernel-has", &kernel.answer(ask)?)?;
            }
            let around = Surroundings {
                programs: &plan.programs,
                share,
                report: &report,
                series: interfaces::series(&release).unwrap_or_default(),
                kernel: &kernel,
            };
            let mut bench = None;
            let mut failed = false;
            for cell in &plan.cells {
                if let Err(error) = transfers::run(cell, &mut bench, &around) {
                    failed = true;
                    let body = json!({"cell": cell.id, "message": format!("{error:#}")});
                    report.event("cell-error", &body)?;
                }
            }
            i32::from(failed)
        }
    };
    outlet::publish_all(share)?;
    report.event(
        "exit",
        &json!({"status": status, "virtual_ns": clock::now().as_nanos()}),
    )
}

/// Lets every namespace choose any congestion control that is built in: outside the first one the kernel refuses those
/// that it calls restricted (`tcp_set_default_congestion_control`).
fn allow_all_congestion_controls() -> Result<()> {
    const FOLDER: &str = "/proc/sys/net/ipv4";
    let available = fs::read_to_string(format!("{FOLDER}/tcp_available_congestion_control"))?;
    fs::write(
        format!("{FOLDER}/tcp_allowed_congestion_control"),
        available,
    )
    .context("cannot allow all congestion controls")
}

/// Fresh kernel file systems and room to write; the host's files stay below, read-only.
fn mount_all() -> Result<()> {
    let fresh = |kind: &str, to: &str, options: &str| {
        mount(Some(kind), to, Some(kind), MsFlags::empty(), Some(options))
            .with_context(|| format!("cannot mount {kind} on {to}"))
    };
    // Files of root belong to nobody where the caller is not root: a set-user-ID program would give rights away.
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>).context("cannot remount /")?;
    fresh("proc", "/proc", "")?;
    fresh("sysfs", "/sys", "")?;
    fresh("devtmpfs", "/dev", "mode=755")?;
    fs::create_dir_all("/dev/shm")?;
    fresh("tmpfs", "/dev/shm", "mode=1777")?;
    fresh("tmpfs", "/run", "mode=755")?;
    fresh("tmpfs", Layout::MEMORY, "mode=755")?;
    for folder in ["/tmp", "/var"] {
        writable(folder).with_context(|| format!("cannot lay a writable layer over {folder}"))?;
    }
    mount(
        Some("none"),
        Layout::SHARE,
        Some("hostfs"),
        MsFlags::empty(),
        Some(Layout::SHARE),
    )
    .context("cannot mount the shared folder")
}

/// Lays memory over a folder of the host: what is written there stays in the guest.
fn writable(folder: &str) -> Result<()> {
    if !Path::new(folder).is_dir() {
        return Ok(());
    }
    let name = folder.trim_start_matches('/');
    let (upper, work) = (
        format!("{}/{name}", Layout::MEMORY),
        format!("{}/{name}.work", Layout::MEMORY),
    );
    fs::create_dir_all(&upper)?;
    fs::create_dir_all(&work)?;
    let options = format!("lowerdir={folder},upperdir={upper},workdir={work}");
    mount(
        Some("overlay"),
        folder,
        Some("overlay"),
        MsFlags::empty(),
        Some(options.as_str()),
    )?;
    Ok(())
}
