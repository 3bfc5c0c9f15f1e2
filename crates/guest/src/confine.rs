//! `confine`: runs a program of this machine in a [`sandbox`](crate::sandbox), for builds of code from elsewhere.

use std::env;
use std::ffi::{CString, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use nix::unistd::getcwd;

use crate::sandbox::{
    c_string, die_with_parent, Descriptors, Filter, Identity, Layout, Place, Program, Sandbox,
    View, NO_SANDBOX, PATH,
};

/// What stands on the command line.
struct Options {
    write: Vec<PathBuf>,
    show: Vec<PathBuf>,
    command: Vec<OsString>,
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options {
        write: Vec::new(),
        show: Vec::new(),
        command: Vec::new(),
    };
    let real = |path: OsString| {
        fs::canonicalize(&path).with_context(|| Path::new(&path).display().to_string())
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("write") => options.write.push(real(arguments.value()?)?),
            Long("show") => options.show.push(real(arguments.value()?)?),
            Value(program) => {
                options.command.push(program);
                options.command.extend(arguments.raw_args()?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if options.command.is_empty() {
        bail!("no program to run: rexmit-guest confine [--write DIR]... [--show PATH]... -- PROGRAM ARGS...")
    }
    for path in options.write.iter().chain(&options.show) {
        if ["/", "/proc", "/dev", "/sys"]
            .iter()
            .any(|no| path == Path::new(no))
            || path.starts_with("/proc")
            || path.starts_with("/dev") && !path.starts_with("/dev/shm")
        {
            bail!("{} cannot be shown", path.display());
        }
    }
    if let Some(path) = options.write.iter().find(|path| !path.is_dir()) {
        bail!("--write {}: a folder is meant", path.display());
    }
    Ok(options)
}

/// Runs the program that the arguments name; its exit status.
pub fn run(arguments: lexopt::Parser) -> Result<i32> {
    match prepare(arguments) {
        Ok((options, folder)) => confined(options, &folder),
        Err(error) => {
            eprintln!("rexmit-guest: {error:#}");
            Ok(NO_SANDBOX)
        }
    }
}

fn prepare(arguments: lexopt::Parser) -> Result<(Options, PathBuf)> {
    die_with_parent()?;
    Ok((parse(arguments)?, getcwd().unwrap_or_else(|_| "/".into())))
}

fn confined(options: Options, folder: &Path) -> Result<i32> {
    let name = PathBuf::from(&options.command[0]);
    let mut places: Vec<_> = ["/tmp", "/dev/shm", Layout::HOME]
        .map(|to| Place::Memory {
            to: to.into(),
            bytes: None,
        })
        .into();
    let identity = Identity::caller(&options.write);
    places.extend(options.write.into_iter().map(|from| Place::Writable {
        to: from.clone(),
        from,
    }));
    let arguments: Result<_> = options.command.iter().map(c_string).collect();
    let sandbox = Sandbox {
        view: View {
            places,
            shown: options.show,
        },
        identity,
        filter: Filter::Program,
        program: Program {
            files: files(&name)?,
            name: &name,
            arguments: arguments?,
            environment: environment()?,
            folder,
            descriptors: Descriptors::All,
            fixed_layout: false,
        },
        prepare: &|_| Ok(Box::new(|_| Box::new(|| {}))),
    };
    sandbox.run()
}

/// Where a program of this name may lie, as the caller's PATH says.
fn files(name: &Path) -> Result<Vec<CString>> {
    if name.as_os_str().as_bytes().contains(&b'/') {
        return Ok(vec![c_string(name)?]);
    }
    let path = env::var_os("PATH").unwrap_or_else(|| PATH.into());
    env::split_paths(&path)
        .map(|folder| c_string(folder.join(name)))
        .collect()
}

/// The caller's, but for the folders of its own.
fn environment() -> Result<Vec<CString>> {
    let own = [("HOME", Layout::HOME), ("TMPDIR", "/tmp")];
    let callers = env::vars_os().filter(|(name, _)| own.iter().all(|(other, _)| name != other));
    let own = own.map(|(name, value)| (name.into(), value.into()));
    callers
        .chain(own)
        .map(|(name, value)| {
            let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
            Ok(CString::new(bytes)?)
        })
        .collect()
}
