//! The kernel's modules, in the order in which rexmit wrote them down.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// Loads what `list` names, a file a line. One that the kernel refuses is told of on the console: whether it is missed
/// will show.
pub fn load(list: &Path) -> Result<()> {
    let folder = list.with_file_name("modules.d");
    for name in fs::read_to_string(list)?.lines() {
        let path = folder.join(name);
        let image = fs::read(&path).with_context(|| path.display().to_string())?;
        match insert(&image) {
            // Freed: the guest's memory is small.
            Ok(()) | Err(Errno::EEXIST) => fs::remove_file(&path)?,
            Err(error) => println!("rexmit-guest: the kernel refuses the module {name}: {error}"),
        }
    }
    Ok(())
}

/// init_module(2); finit_module is of Linux 3.8.
fn insert(image: &[u8]) -> Result<(), Errno> {
    let parameters = CString::default();
    // SAFETY: both outlive the call, which copies them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_init_module,
            image.as_ptr(),
            image.len(),
            parameters.as_ptr(),
        )
    };
    Errno::result(result).map(drop)
}
