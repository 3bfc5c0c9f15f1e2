//! The rights (capabilities) of what runs inside, given up for good.

use std::io;

use anyhow::{Context, Result};
use nix::sys::prctl;

/// What is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Nothing.
    None,
    /// To pass over the permissions of files whose owner and group have a name in the user namespace.
    Files,
}

/// linux/capability.h
const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// linux/securebits.h; each has its lock one bit higher.
const NOROOT: libc::c_ulong = 1 << 0;
const NO_SETUID_FIXUP: libc::c_ulong = 1 << 2;
const KEEP_CAPS_LOCKED: libc::c_ulong = 1 << 5;
const NO_CAP_AMBIENT_RAISE: libc::c_ulong = 1 << 6;

/// Keeps the rights when the user changes.
pub(super) fn keep_across_identities() -> Result<()> {
    // This also keeps access(2), which hostfs asks, from putting rights aside.
    prctl_number(libc::PR_SET_SECUREBITS, NO_SETUID_FIXUP).context("cannot set secure bits")
}

/// Gives up all rights but `rights`, in every set, for this process and all that it starts: being user 0 gives none back,
/// nor does a set-user-ID file.
pub(super) fn keep_only(rights: Rights) -> Result<()> {
    let kept = match rights {
        Rights::None => 0,
        Rights::Files => 1 << CAP_DAC_OVERRIDE,
    };
    set_capabilities(u64::MAX >> (63 - last_capability()), kept)
        .context("cannot inherit rights")?;
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    if rights == Rights::Files {
        ambient(libc::PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE)?;
    }
    for capability in 0..=last_capability() {
        prctl_number(libc::PR_CAPBSET_DROP, capability).context("cannot bound rights")?;
    }
    let bits = NOROOT | NO_SETUID_FIXUP | NO_CAP_AMBIENT_RAISE;
    prctl_number(libc::PR_SET_SECUREBITS, bits | bits << 1 | KEEP_CAPS_LOCKED)
        .context("cannot lock secure bits")?;
    set_capabilities(kept, kept).context("cannot give up rights")?;
    prctl::set_no_new_privs().context("no_new_privs")
}

/// The highest capability that this kernel knows.
fn last_capability() -> libc::c_ulong {
    let known = |capability: &libc::c_ulong| {
        // SAFETY: prctl with plain numbers.
        unsafe { libc::prctl(libc::PR_CAPBSET_READ, *capability, 0, 0, 0) >= 0 }
    };
    (0..63).take_while(known).last().unwrap_or(0)
}

/// Permitted and effective become what of `held` is permitted now, inheritable becomes `inheritable`.
fn set_capabilities(held: u64, inheritable: u64) -> io::Result<()> {
    let header = [CAPABILITY_VERSION_3, 0];
    let mut sets = [0_u32; 6];
    // SAFETY: version 3 reads and writes two 32-bit words of header and six of sets.
    if unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let half =
        |set: u64, word: usize| u32::try_from(set >> (32 * word) & 0xffff_ffff).expect("32 bits");
    for word in 0..2 {
        // Effective, permitted, inheritable.
        let permitted = sets[3 * word + 1] & half(held, word);
        sets[3 * word] = permitted;
        sets[3 * word + 1] = permitted;
        sets[3 * word + 2] = half(inheritable, word) & permitted;
    }
    // SAFETY: as above.
    if unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn ambient(what: libc::c_int, capability: libc::c_ulong) -> Result<()> {
    // SAFETY: prctl with plain numbers.
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, what, capability, 0, 0) };
    if result != 0 {
        return Err(io::Error::last_os_error()).context("cannot set ambient rights");
    }
    Ok(())
}

fn prctl_number(what: libc::c_int, number: libc::c_ulong) -> io::Result<()> {
    // SAFETY: prctl with plain numbers.
    if unsafe { libc::prctl(what, number, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
