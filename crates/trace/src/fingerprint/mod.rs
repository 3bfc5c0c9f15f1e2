//! What a SYN or SYN-ACK says of the system that sent it.
//!
//! The emulated senders are told: a stack that the SYN refutes is not named. So that both name one system proves nothing.
//!
//! The form of a signature follows p0f's (`ttl:mss:window,scale:options`); the table is our own, small, and of systems whose
//! senders are emulated, and of today's. Libraries with larger tables exist (`huginn-net-tcp`); they bring a packet parser
//! of their own along.

mod known;
mod systems;

use core::fmt;

use rexmit_wire::headers::{OptionLayout, SynOptions};
use rexmit_wire::Headers;

pub(crate) use known::Known;
pub use systems::{system, Hint};

/// The kinds of options that stacks put into a SYN (RFC 9293 §3.2, RFC 7323, RFC 2018).
mod kind {
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const SCALE: u8 = 3;
    pub const SACK: u8 = 4;
    pub const STAMPS: u8 = 8;
}

/// Segments of IPv4 and IPv6 on Ethernet.
const ETHERNET: [u32; 2] = [1460, 1440];

/// How the window of a SYN was reckoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynWindow {
    /// So many segments.
    Segments(u16),
    /// So many segments less their timestamps.
    Stamped(u16),
    /// So many bytes.
    Bytes(u16),
}

/// What of a SYN or SYN-ACK differs from system to system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The TTL that it set out with: the next of 32, 64, 128 and 255.
    pub ttl: u8,
    /// The segment size offered.
    pub mss: Option<u16>,
    /// The window.
    pub window: SynWindow,
    /// The window in bytes.
    pub bytes: u16,
    /// The scale of the window.
    pub scale: Option<u8>,
    /// The options in their order.
    pub options: OptionLayout,
    /// It answers another: options that the other did not offer are missing.
    pub answer: bool,
    /// What the other offered, where that is known.
    pub offered: Option<Offered>,
    /// IPv4's "don't fragment".
    pub dont_fragment: bool,
}

/// The options that a SYN offered besides the segment size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    scale: bool,
    sack: bool,
    stamps: bool,
}

impl Offered {
    /// What a SYN with these options offered; nothing is known of one that the capture holds in part.
    #[must_use]
    pub fn by(syn: &SynOptions) -> Option<Self> {
        (!syn.cut).then_some(Offered {
            scale: syn.window_scale.is_some(),
            sack: syn.sack_permitted,
            stamps: syn.timestamps,
        })
    }

    /// Whether there was anything.
    fn any(self) -> bool {
        self.scale || self.sack || self.stamps
    }

    fn has(self, kind: u8) -> bool {
        match kind {
            kind::SCALE => self.scale,
            kind::SACK => self.sack,
            kind::STAMPS => self.stamps,
            _ => false,
        }
    }
}

impl Signature {
    /// The signature of a packet with SYN; none of others.
    #[must_use]
    pub fn of(headers: &Headers) -> Option<Self> {
        let syn = headers.syn?;
        let first = [32, 64, 128].into_iter().find(|ttl| headers.ttl <= *ttl);
        let bytes = headers.window;
        let of = |size: u16| (size > 0 && bytes > 0 && bytes % size == 0).then(|| bytes / size);
        let mss = syn.mss.unwrap_or(0);
        let window = match (of(mss), of(mss.saturating_sub(12))) {
            (Some(segments), _) => SynWindow::Segments(segments),
            (None, Some(segments)) if syn.timestamps => SynWindow::Stamped(segments),
            _ => SynWindow::Bytes(bytes),
        };
        Some(Signature {
            ttl: first.unwrap_or(255),
            mss: syn.mss,
            window,
            bytes,
            scale: syn.window_scale,
            options: syn.layout,
            answer: headers.flags.ack(),
            offered: None,
            dont_fragment: headers.dont_fragment,
        })
    }

    /// The segment sizes that its window may have been reckoned with: that offered, less the room of timestamps, and those of
    /// Ethernet, as a router on the way may have lowered the offer.
    fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        let stamped = self.kinds().any(|kind| kind == kind::STAMPS);
        let offered = self.mss.map_or(536, u32::from);
        let lowered = ETHERNET.into_iter().filter(move |size| *size > offered);
        let whole = core::iter::once(offered).chain(lowered);
        whole.flat_map(move |size| {
            let without = stamped.then_some(size.saturating_sub(12));
            core::iter::once(size)
                .chain(without)
                .filter(|size| *size > 0)
        })
    }

    /// The kinds of its options in order, padding left out.
    fn kinds(&self) -> impl Iterator<Item = u8> + '_ {
        let kinds = self.options.options().iter().map(|(kind, _)| *kind);
        kinds.filter(|kind| *kind != kind::NOP && *kind != kind::END)
    }
}

/// The characters that nearly every signature has room in.
const WRITTEN: usize = 64;

impl Signature {
    /// As text, which is laid out once and not as it grows.
    pub(crate) fn written(&self) -> String {
        use fmt::Write as _;
        let mut text = String::with_capacity(WRITTEN);
        write!(text, "{self}").expect("a string takes all that is written to it");
        text
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.ttl)?;
        match self.mss {
            Some(mss) => write!(f, "{mss}:")?,
            None => f.write_str("-:")?,
        }
        match self.window {
            SynWindow::Segments(segments) => write!(f, "mss*{segments}")?,
            SynWindow::Stamped(segments) => write!(f, "(mss-12)*{segments}")?,
            SynWindow::Bytes(bytes) => write!(f, "{bytes}")?,
        }
        match self.scale {
            Some(scale) => write!(f, ",{scale}:")?,
            None => f.write_str(",-:")?,
        }
        for (index, (kind, _)) in self.options.options().iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match *kind {
                kind::END => f.write_str("eol")?,
                kind::NOP => f.write_str("nop")?,
                kind::MSS => f.write_str("mss")?,
                kind::SCALE => f.write_str("ws")?,
                kind::SACK => f.write_str("sok")?,
                kind::STAMPS => f.write_str("ts")?,
                other => write!(f, "?{other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
