//! The program that sets up hosts and runs transfers inside a kernel of their own.
//!
//! One static binary with several callings: `boot` starts a user-mode kernel on the host, `machine` an image in an emulated
//! machine, the same file is either kernel's process 1, `live` does the same on the host's own kernel, and `confine` runs a
//! build of foreign code.

mod bench;
mod boot;
mod capture;
mod client;
mod clock;
mod confine;
mod exec;
mod filter;
mod firewall;
mod init;
mod interfaces;
mod kernel;
mod live;
mod machine;
mod net;
mod netlink;
mod nfqueue;
mod opener;
mod outlet;
mod page;
mod preflight;
mod priority;
mod real_time;
mod report;
mod sandbox;
mod server;
mod settings;
mod share;
mod source;
mod spawn;
mod surroundings;
mod tcpfilter;
mod transfers;
mod truth;
mod watch;

use anyhow::{bail, Result};

fn main() {
    let status = dispatch().unwrap_or_else(|error| {
        eprintln!("rexmit-guest: {error:#}");
        2
    });
    std::process::exit(status);
}

fn dispatch() -> Result<i32> {
    if std::process::id() == 1 && init::is_called() {
        // Words of its command line that a kernel does not know become arguments of its first process.
        init::run();
    }
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        Some(lexopt::Arg::Value(name)) if name == "boot" => boot::run(arguments),
        Some(lexopt::Arg::Value(name)) if name == "machine" => machine::launch::run(arguments),
        Some(lexopt::Arg::Value(name)) if name == "live" => live::run(arguments),
        Some(lexopt::Arg::Value(name)) if name == "confine" => confine::run(arguments),
        Some(lexopt::Arg::Value(name)) if name == "tcpfilter" => tcpfilter::run(arguments),
        _ => bail!(
            "usage: rexmit-guest boot --kernel PATH --share DIR [--core N] [--seed HEX] [--memory 256M] \
             [--share-limit 4096M] [--scratch-limit 1024M]
       rexmit-guest machine --qemu PROGRAM --kernel IMAGE --initrd FILE --share DIR [--state FILE] [--files FILE] \
             [--word WORD]... [--core N] [--seed HEX] [--memory 256M] [--share-limit 4096M] [--scratch-limit 1024M]
       rexmit-guest live --share DIR [--core N] [--share-limit 4096M] [--scratch-limit 1024M]
       rexmit-guest confine [--write DIR]... [--show PATH]... -- PROGRAM ARGS...
       rexmit-guest tcpfilter N|--pattern TEXT [--queue 0] [--mode sequence|hold] [--json]"
        ),
    }
}
