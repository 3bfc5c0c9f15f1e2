//! libpcap's filter language: expressions compiled and run by libpcap itself, where it is installed.
//!
//! The library is opened when a filter is asked for, so that the module needs no libpcap to be built or loaded.

use core::ffi::{c_char, c_int, c_long, c_void, CStr};
use std::ffi::CString;
use std::ptr;
use std::sync::{Arc, OnceLock};

use libloading::Library;
use pyo3::prelude::*;
use rexmit_wire::capture::Frame;
use rexmit_wire::LinkType;

use crate::error::Error;

/// The names of libpcap: Debian's, that of its own build system, and that of development packages.
const NAMES: [&str; 3] = ["libpcap.so.0.8", "libpcap.so.1", "libpcap.so"];

/// As tcpdump's default: packets may be longer or shorter.
const SNAPLEN: c_int = 262_144;

/// `PCAP_NETMASK_UNKNOWN`, pcap/pcap.h: no expression asks for the network's broadcast address.
const NETMASK: u32 = 0xffff_ffff;

/// `struct bpf_program`, pcap/bpf.h.
#[repr(C)]
struct Code {
    len: u32,
    instructions: *mut c_void,
}

/// `struct pcap_pkthdr`, pcap/pcap.h. Filters look at the lengths alone.
#[repr(C)]
struct Header {
    seconds: c_long,
    micros: c_long,
    captured: u32,
    len: u32,
}

/// The functions of libpcap that are called, as pcap/pcap.h declares them.
struct Pcap {
    open_dead: unsafe extern "C" fn(c_int, c_int) -> *mut c_void,
    compile: unsafe extern "C" fn(*mut c_void, *mut Code, *const c_char, c_int, u32) -> c_int,
    last_error: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    close: unsafe extern "C" fn(*mut c_void),
    free_code: unsafe extern "C" fn(*mut Code),
    run: unsafe extern "C" fn(*const Code, *const Header, *const u8) -> c_int,
    /// Their code is there as long as this is.
    _library: Library,
}

impl Pcap {
    /// libpcap, opened once; none where it is not installed.
    fn get() -> Option<&'static Pcap> {
        static PCAP: OnceLock<Option<Pcap>> = OnceLock::new();
        PCAP.get_or_init(Pcap::open).as_ref()
    }

    fn open() -> Option<Pcap> {
        // SAFETY: libpcap does nothing when it is loaded.
        let library = NAMES
            .iter()
            .find_map(|name| unsafe { Library::new(name) }.ok())?;
        // SAFETY: the types are those of pcap/pcap.h, which are the same since libpcap 0.8.
        unsafe {
            Some(Pcap {
                open_dead: *library.get(b"pcap_open_dead\0").ok()?,
                compile: *library.get(b"pcap_compile\0").ok()?,
                last_error: *library.get(b"pcap_geterr\0").ok()?,
                close: *library.get(b"pcap_close\0").ok()?,
                free_code: *library.get(b"pcap_freecode\0").ok()?,
                run: *library.get(b"pcap_offline_filter\0").ok()?,
                _library: library,
            })
        }
    }

    /// Compiles for a link type. An error is libpcap's message.
    fn program(&'static self, expression: &CStr, link: LinkType) -> Result<Program, String> {
        let mut code = Code {
            len: 0,
            instructions: ptr::null_mut(),
        };
        // SAFETY: a handle is used between its opening and its closing; `code` and `expression` outlive the call, and the
        // message is copied before the handle is closed.
        let failed = unsafe {
            let handle = (self.open_dead)(dlt(link), SNAPLEN);
            if handle.is_null() {
                return Err("out of memory".to_owned());
            }
            let compiled = (self.compile)(handle, &mut code, expression.as_ptr(), 1, NETMASK);
            let failed = (compiled != 0).then(|| {
                let message = CStr::from_ptr((self.last_error)(handle));
                message.to_string_lossy().into_owned()
            });
            (self.close)(handle);
            failed
        };
        match failed {
            Some(message) => Err(message),
            None => Ok(Program { pcap: self, code }),
        }
    }
}

/// The number by which libpcap knows a link type in memory (DLT_), where it is another than in files
/// (LINKTYPE_, pcap-common.c) on Linux.
fn dlt(link: LinkType) -> c_int {
    match link.0 {
        100 => 11, // ATM_RFC1483
        101 => 12, // RAW
        102 => 15, // SLIP_BSDOS
        103 => 16, // PPP_BSDOS
        106 => 19, // ATM_CLIP
        other => c_int::from(other),
    }
}

/// An expression compiled for one link type.
struct Program {
    pcap: &'static Pcap,
    code: Code,
}

// SAFETY: a program is not changed after it was compiled, and running one changes nothing.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    fn passes(&self, frame: &Frame<'_>) -> bool {
        let header = Header {
            seconds: 0,
            micros: 0,
            captured: frame.data.len() as u32,
            len: frame.original_len,
        };
        // SAFETY: the code is what libpcap compiled, and it reads at most `captured` bytes of the data.
        unsafe { (self.pcap.run)(&self.code, &header, frame.data.as_ptr()) != 0 }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: compiled by this library, freed once.
        unsafe { (self.pcap.free_code)(&mut self.code) }
    }
}

/// An expression, and the programs that it is for the link types that came so far.
pub struct Filter {
    pcap: &'static Pcap,
    text: Arc<CString>,
    programs: Vec<(LinkType, Result<Program, String>)>,
    /// The place in `programs` of the last frame's.
    last: usize,
    told: FilterCounts,
}

/// What a filter has done.
#[derive(Clone, Debug, Default)]
pub struct FilterCounts {
    /// Frames that did not pass.
    pub left_out: u64,
    /// Frames of link types for which there is no program, which do not pass either.
    unjudged: u64,
    /// Whether any was judged.
    judged: bool,
}

impl Filter {
    /// An expression as tcpdump takes it.
    pub fn new(text: &str) -> Result<Self, Error> {
        /// What captures mostly have: Ethernet, IP, Linux's cooked packets, 802.11. An expression may have a meaning for one
        /// of them alone.
        const USUAL: [LinkType; 4] = [LinkType(1), LinkType(101), LinkType(113), LinkType(105)];
        let Some(pcap) = Pcap::get() else {
            return Err(Error::Library("libpcap is not installed"));
        };
        let text = CString::new(text)
            .map_err(|_| Error::plan("a filter cannot have a NUL character in it"))?;
        let tried = USUAL.map(|link| pcap.program(&text, link).err());
        match tried.into_iter().collect::<Option<Vec<_>>>() {
            Some(errors) => Err(Error::Plan(errors.into_iter().next().unwrap_or_default())),
            None => Ok(Filter {
                pcap,
                text: Arc::new(text),
                programs: Vec::new(),
                last: 0,
                told: FilterCounts::default(),
            }),
        }
    }

    /// Whether a frame passes.
    #[inline]
    pub fn passes(&mut self, frame: &Frame<'_>) -> bool {
        if self
            .programs
            .get(self.last)
            .is_none_or(|(link, _)| *link != frame.link)
        {
            self.turn_to(frame.link);
        }
        let passes = match &self.programs[self.last].1 {
            Ok(program) => {
                self.told.judged = true;
                program.passes(frame)
            }
            Err(_) => {
                self.told.unjudged += 1;
                false
            }
        };
        self.told.left_out += u64::from(!passes);
        passes
    }

    #[cold]
    fn turn_to(&mut self, link: LinkType) {
        let known = self.programs.iter().position(|(of, _)| *of == link);
        self.last = known.unwrap_or_else(|| {
            let program = self.pcap.program(&self.text, link);
            self.programs.push((link, program));
            self.programs.len() - 1
        });
    }

    /// Frames that did not pass.
    pub fn left_out(&self) -> u64 {
        self.told.left_out
    }

    /// Why no frame could be judged at all, if so.
    pub fn error(&self) -> Option<String> {
        let (link, error) = self.failures().next()?;
        (!self.told.judged).then(|| {
            let text = self.text.to_string_lossy();
            format!("the filter {text} does not compile for packets of link type {link}: {error}")
        })
    }

    /// Link types whose frames could not be judged, while others could.
    pub fn warning(&self) -> Option<String> {
        let (link, error) = self.failures().next()?;
        let frames = self.told.unjudged;
        Some(format!(
            "the filter does not compile for packets of link type {link} ({error}): {frames} packets are left out for it"
        ))
    }

    fn failures(&self) -> impl Iterator<Item = (LinkType, &str)> {
        let programs = self.programs.iter();
        programs.filter_map(|(link, program)| Some((*link, program.as_ref().err()?.as_str())))
    }
}

impl Clone for Filter {
    /// The same expression; nothing is judged yet.
    fn clone(&self) -> Self {
        Filter {
            pcap: self.pcap,
            text: Arc::clone(&self.text),
            programs: Vec::new(),
            last: 0,
            told: FilterCounts::default(),
        }
    }
}

/// Raises ValueError, with libpcap's message, for an expression that does not compile for any usual link type, and
/// ImportError where libpcap is not installed.
#[pyfunction]
pub fn check_filter(text: &str) -> Result<(), Error> {
    Filter::new(text).map(|_| ())
}
