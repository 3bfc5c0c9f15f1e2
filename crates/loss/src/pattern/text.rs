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
/// | `5#2`, `5..7#2`, `-1#2` | as before, when sent for the second time: the first retransmission |
/// | `5#2..4` | the second to the fourth time |
/// | `fin` | a FIN without data; `fin#2` its first retransmission |
/// | `syn-ack` | after `data`, the SYN-ACK; `syn-ack#2` its first retransmission |
/// | `syn` | after `ack`, the SYN; `syn#1..2` its first two transmissions |
/// | `request` | after `ack`, a packet of a request; `request#2` its first retransmission |
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
///
/// # Paths and bursts
/// A clause may begin with `path P`, with `burst B`, or with both in this order: `path 1 burst 2 data -2..-1`.
///
/// Of stretches that were [told](crate::Told) a position is the n-th packet of new data, of those whose first byte was never
/// sent before on any path. A clause of one path and one burst counts the packets on that path whose first byte lies in that
/// stretch; one without a path counts those on all paths in the order in which they are sent; one without a burst counts
/// through all of them. Positions from behind are those of the rehearsal. A packet sent again under its own sequence numbers
/// belongs to the packet in which its first byte went first on that subflow, and is its k-th transmission when that byte
/// went k − 1 times before there. Data that go again under other sequence numbers take no position: a re-injection is
/// never dropped. `ack` counts on the clause's path, behind the first packet of the clause's burst until that of the next;
/// without a burst, behind the first packet of data.
///
/// Of HTTP responses `burst B` is the connection's B-th response and behind `ack` its B-th request; `path P` is the P-th
/// subflow of a Multipath TCP connection, and plain TCP has path 1 alone. On a path the n-th packet of new data of a
/// response is meant, of which the next transmissions are those of its first byte on that subflow; data that go again on
/// another path have no position there. Clauses without a path go on counting pieces of the response, wherever they are
/// sent. See [`Pattern::needs_rehearsal`] for what cannot be told on a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub(crate) data: Vec<DataItem>,
    pub(crate) client: Vec<ClientItem>,
}

/// Within what the positions of a clause count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// On this path alone, from 1; on all together where nothing is said.
    pub path: Option<u32>,
    /// Within this burst, from 1; within the whole connection where nothing is said.
    pub burst: Option<u32>,
}

impl Scope {
    /// All of a connection.
    pub const ALL: Scope = Scope {
        path: None,
        burst: None,
    };

    /// Whether a packet on `path` in `burst` lies within it.
    #[must_use]
    pub fn has(self, path: u32, burst: u32) -> bool {
        self.path.is_none_or(|own| own == path) && self.burst.is_none_or(|own| own == burst)
    }
}

/// One item of a `data` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataItem {
    pub scope: Scope,
    pub which: Which,
    /// First and last transmission, from 1.
    pub transmissions: (u32, u32),
}

/// One item of an `ack` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientItem {
    pub scope: Scope,
    pub which: Client,
}

/// Which packets of the client's an item means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Acknowledgements from one number to another, from 1.
    Acks(u64, u64),
    /// The SYN, from one transmission to another.
    Syn(u32, u32),
    /// Packets of a request, from one transmission to another.
    Request(u32, u32),
}

/// Which packets an item means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// From one position to another; never 0, negative ones from behind.
    Positions(i64, i64),
    /// A FIN without data.
    Fin,
    /// The SYN-ACK.
    SynAck,
}

impl Pattern {
    /// Whether it drops nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.client.is_empty()
    }

    /// Whether packets of the client are dropped, so that the rule must see them.
    #[must_use]
    pub fn needs_client(&self) -> bool {
        !self.client.is_empty()
    }

    /// Whether a clause names a path or a burst.
    #[must_use]
    pub fn has_scopes(&self) -> bool {
        self.scopes().any(|scope| scope != Scope::ALL)
    }

    /// The scope of every item.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> + '_ {
        let data = self.data.iter().map(|item| item.scope);
        data.chain(self.client.iter().map(|item| item.scope))
    }

    /// The same of a connection that has one path and one burst: what a clause names of them is all there is.
    #[must_use]
    pub fn without_scopes(mut self) -> Self {
        for item in &mut self.data {
            item.scope = Scope::ALL;
        }
        for item in &mut self.client {
            item.scope = Scope::ALL;
        }
        self
    }

    /// Whether a FIN is among what it names.
    #[must_use]
    pub fn names_fin(&self) -> bool {
        self.data.iter().any(|item| item.which == Which::Fin)
    }

    /// Whether the piece at `position` of `total` is dropped at this transmission; both count from 1.
    ///
    /// Items with a path or a burst are not asked.
    #[must_use]
    pub fn drops_data(&self, position: u64, total: u64, transmission: u32) -> bool {
        self.data
            .iter()
            .any(|item| item.scope == Scope::ALL && item.drops(position, total, transmission))
    }

    /// Whether a packet on `path` in `burst` is dropped at this transmission, whose position within a scope, and how many
    /// there are, `numbers` says; `None` where it has none.
    pub(crate) fn drops_at(
        &self,
        path: u32,
        burst: u32,
        transmission: u32,
        numbers: impl Fn(Scope) -> Option<(u64, u64)>,
    ) -> bool {
        self.data.iter().any(|item| {
            item.scope.has(path, burst)
                && numbers(item.scope)
                    .is_some_and(|(position, total)| item.drops(position, total, transmission))
        })
    }

    /// The number by which an acknowledgement on `path` behind `burst` is named, if it is: `number` says which it has
    /// within a scope.
    pub(crate) fn lost_ack(
        &self,
        path: u32,
        burst: u32,
        number: impl Fn(Scope) -> u64,
    ) -> Option<u64> {
        self.client
            .iter()
            .filter(|item| item.scope.has(path, burst))
            .map(|item| (item, number(item.scope)))
            .find(|(item, number)| item.has(*number))
            .map(|(_, number)| number)
    }

    /// Whether a packet of the client's request on `path`, the `burst`-th, is dropped at this transmission.
    pub(crate) fn drops_request(&self, path: u32, burst: u32, transmission: u32) -> bool {
        self.client.iter().any(|item| {
            let Client::Request(first, last) = item.which else {
                return false;
            };
            item.scope.has(path, burst) && (first..=last).contains(&transmission)
        })
    }

    /// Whether the client's SYN is dropped at this transmission.
    #[must_use]
    pub fn drops_syn(&self, transmission: u32) -> bool {
        self.client.iter().any(|item| {
            matches!(item.which, Client::Syn(first, last) if (first..=last).contains(&transmission))
        })
    }

    /// Whether the server's SYN-ACK is dropped at this transmission.
    #[must_use]
    pub fn drops_syn_ack(&self, transmission: u32) -> bool {
        self.data
            .iter()
            .any(|item| item.which == Which::SynAck && item.has(transmission))
    }

    /// The first item, as it is written, that only a run with a rehearsal can heed: one of a path that counts from behind
    /// or is a FIN.
    #[must_use]
    pub fn needs_rehearsal(&self) -> Option<String> {
        let item = self.data.iter().find(|item| {
            item.scope.path.is_some() && (item.counts_back() || item.which == Which::Fin)
        })?;
        let alone = Pattern {
            data: vec![*item],
            client: Vec::new(),
        };
        Some(alone.to_string())
    }

    /// Whether a FIN without data is dropped at this transmission.
    #[must_use]
    pub fn drops_fin(&self, transmission: u32) -> bool {
        self.data.iter().any(|item| {
            item.scope == Scope::ALL && item.which == Which::Fin && item.has(transmission)
        })
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

    /// Whether it names the packet at `position` of `total` at this transmission; both count from 1.
    pub fn drops(&self, position: u64, total: u64, transmission: u32) -> bool {
        self.has(transmission)
            && self
                .range(total)
                .is_some_and(|(from, to)| from <= position && position <= to)
    }

    /// Its first and last position of `total`, counted from the front; 0 for one before the first.
    pub fn range(&self, total: u64) -> Option<(u64, u64)> {
        match self.which {
            Which::Positions(from, to) => Some((resolve(from, total), resolve(to, total))),
            Which::Fin | Which::SynAck => None,
        }
    }

    /// Whether it counts from behind.
    pub fn counts_back(&self) -> bool {
        matches!(self.which, Which::Positions(from, to) if from < 0 || to < 0)
    }
}

impl ClientItem {
    /// Whether it names the acknowledgement of this number.
    pub fn has(&self, number: u64) -> bool {
        matches!(self.which, Client::Acks(first, last) if (first..=last).contains(&number))
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
        let mut last = None;
        for item in &self.data {
            clause(f, &mut last, (item.scope, "data"))?;
            write!(f, " {item}")?;
        }
        for item in &self.client {
            clause(f, &mut last, (item.scope, "ack"))?;
            match item.which {
                Client::Acks(first, last) => {
                    f.write_str(" ")?;
                    range(f, first, last)?;
                }
                Client::Syn(first, last) => {
                    f.write_str(" syn")?;
                    transmissions(f, (first, last))?;
                }
                Client::Request(first, last) => {
                    f.write_str(" request")?;
                    transmissions(f, (first, last))?;
                }
            }
        }
        Ok(())
    }
}

/// Begins a clause unless the last one goes on.
fn clause(
    f: &mut fmt::Formatter<'_>,
    last: &mut Option<(Scope, &'static str)>,
    this: (Scope, &'static str),
) -> fmt::Result {
    if *last == Some(this) {
        return Ok(());
    }
    if last.replace(this).is_some() {
        f.write_str("; ")?;
    }
    if this.0 != Scope::ALL {
        write!(f, "{} ", this.0)?;
    }
    f.write_str(this.1)
}

impl fmt::Display for Scope {
    /// As it stands before `data` or `ack`; nothing for all of a connection.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path, self.burst) {
            (None, None) => Ok(()),
            (Some(path), None) => write!(f, "path {path}"),
            (None, Some(burst)) => write!(f, "burst {burst}"),
            (Some(path), Some(burst)) => write!(f, "path {path} burst {burst}"),
        }
    }
}

impl fmt::Display for DataItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.which {
            Which::Positions(from, to) => range(f, from, to)?,
            Which::Fin => f.write_str("fin")?,
            Which::SynAck => f.write_str("syn-ack")?,
        }
        transmissions(f, self.transmissions)
    }
}

/// Nothing for the first alone.
fn transmissions(f: &mut fmt::Formatter<'_>, (first, last): (u32, u32)) -> fmt::Result {
    if (first, last) == (1, 1) {
        return Ok(());
    }
    f.write_str("#")?;
    range(f, first, last)
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
