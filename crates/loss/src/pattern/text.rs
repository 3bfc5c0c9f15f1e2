//! What a pattern says, and how it is written.

use core::fmt;

/// Packets by position: which of a transfer are dropped.
///
/// Written as `data 3 5..7 5#2 -1 fin; ack 2 4..9`: after `data` the server's packets, after `ack` the client's; `none`
/// (or nothing) drops none. Clauses may come in either order.
///
/// | item | packets |
/// |---|---|
/// | `3` | the third segment, when it is sent first |
/// | `-1` | the last segment, by the response's Content-Length; `-2` the one before it |
/// | `5..7`, `-3..-1`, `5..-1` | all from one to the other, both included |
/// | `5#2`, `5..7#2`, `-1#2` | as before, when sent for the second time: the first resend |
/// | `5#2..4` | the second to the fourth time |
/// | `fin` | a FIN without data; `fin#2` its first resend |
///
/// # Positions
/// `data`: a response, head and body, is cut into pieces of the largest payload that the connection has sent so far (so
/// of full segments); a packet belongs to the piece in which its first byte lies. It is the k-th time when that byte
/// was sent k − 1 times before, lost or not. A packet with the end of one response and the beginning of the next belongs
/// to the first.
///
/// `ack`: packets of the client that carry nothing but an acknowledgement, counted from 1 behind each request. What
/// comes before a request (the third packet of the handshake), the request and the FIN are not among them.
///
/// Positions count from a response's head, and those from behind need its Content-Length: until the head is complete
/// nothing is dropped. Positions that a transfer does not have drop nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub(super) data: Vec<DataItem>,
    pub(super) acks: Vec<(u64, u64)>,
}

/// One item of the `data` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataItem {
    pub which: Which,
    /// First and last transmission, from 1.
    pub transmissions: (u32, u32),
}

/// Which packets an item means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// From one position to another; never 0, negative ones from behind.
    Positions(i64, i64),
    /// A FIN without data.
    Fin,
}

impl Pattern {
    /// Whether it drops nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.acks.is_empty()
    }

    /// Whether packets of the client are dropped, so that the rule must see them.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        !self.acks.is_empty()
    }

    /// Whether the piece at `position` of `total` is dropped at this transmission; both count from 1.
    #[must_use]
    pub fn drops_data(&self, position: u64, total: u64, transmission: u32) -> bool {
        self.data.iter().any(|item| {
            item.has(transmission)
                && matches!(item.which, Which::Positions(from, to)
                    if resolve(from, total) <= position && position <= resolve(to, total))
        })
    }

    /// Whether a FIN without data is dropped at this transmission.
    #[must_use]
    pub fn drops_fin(&self, transmission: u32) -> bool {
        self.data
            .iter()
            .any(|item| item.which == Which::Fin && item.has(transmission))
    }

    /// Whether the client's acknowledgement of this number is dropped.
    #[must_use]
    pub fn drops_ack(&self, number: u64) -> bool {
        self.acks
            .iter()
            .any(|&(from, to)| from <= number && number <= to)
    }

    /// How many of `total` segments are dropped when they are sent first.
    pub(crate) fn first_losses(&self, total: u64) -> u64 {
        (1..=total)
            .filter(|&position| self.drops_data(position, total, 1))
            .count() as u64
    }
}

impl DataItem {
    fn has(&self, transmission: u32) -> bool {
        let (first, last) = self.transmissions;
        first <= transmission && transmission <= last
    }
}

/// A position counted from the front; 0 when it lies before the first.
fn resolve(position: i64, total: u64) -> u64 {
    match u64::try_from(position) {
        Ok(position) => position,
        Err(_) => (total + 1).saturating_sub(position.unsigned_abs()),
    }
}

impl fmt::Display for Pattern {
    /// As it is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        if !self.data.is_empty() {
            f.write_str("data")?;
            for item in &self.data {
                write!(f, " {item}")?;
            }
        }
        if !self.acks.is_empty() {
            f.write_str(if self.data.is_empty() { "ack" } else { "; ack" })?;
            for &(from, to) in &self.acks {
                f.write_str(" ")?;
                range(f, from, to)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for DataItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.which {
            Which::Positions(from, to) => range(f, from, to)?,
            Which::Fin => f.write_str("fin")?,
        }
        if self.transmissions != (1, 1) {
            f.write_str("#")?;
            range(f, self.transmissions.0, self.transmissions.1)?;
        }
        Ok(())
    }
}

fn range<T: fmt::Display + PartialEq + Copy>(
    f: &mut fmt::Formatter<'_>,
    from: T,
    to: T,
) -> fmt::Result {
    if from == to {
        write!(f, "{from}")
    } else {
        write!(f, "{from}..{to}")
    }
}
