//! A part of a corpus: many connections over one network, captured on the way, and every retransmission's cause recorded by
//! the kernel that made it.

use std::collections::BTreeMap;

use anyhow::{bail, Result};
use serde::Deserialize;

/// No time of a part is longer: a day.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// One part of a corpus. It has a kernel of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, which the names of its captures begin with.
    pub name: String,
    /// Records that each of the kernel's logs has room for; 0 leaves them off.
    pub causes: u32,
    /// Bytes kept of a packet, from its IP header on.
    pub snap_bytes: u32,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// What each direction of each link does.
    pub ways: Ways,
    /// When that changes, in the order of time.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// When ends of bursts are lost, in the order of time.
    #[serde(default)]
    pub tails: Vec<Tails>,
    /// Both hosts leave segmentation to their interfaces, so that captures have super-segments.
    pub offload: bool,
    /// Least retransmission timeout, by the hosts' routes to each other, which know whole milliseconds.
    #[serde(default)]
    pub rto_min_ns: Option<u64>,
    /// Set on both hosts and read back.
    pub sysctls: BTreeMap<String, String>,
    /// Set on both hosts and read back.
    pub congestion_control: String,
    /// Who speaks with whom.
    pub connections: Vec<Conversation>,
    /// A read or write that waits longer gives its connection up.
    pub patience_ns: u64,
    /// How long packets are captured after the last connection is done.
    pub settling_ns: u64,
}

/// netem's arguments for each direction of both links, such as `limit 50 delay 10ms loss 1% rate 5mbit`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ways {
    /// From h1 to the switch.
    pub h1_out: String,
    /// From the switch to h1.
    pub h1_in: String,
    /// From h2 to the switch.
    pub h2_out: String,
    /// From the switch to h2.
    pub h2_in: String,
    /// In the switch, before the link to h1. A netem that duplicates has to stand alone: 6.1.192
    /// refuses one below another.
    #[serde(default)]
    pub port_to_h1: Option<String>,
    /// In the switch, before the link to h2.
    #[serde(default)]
    pub port_to_h2: Option<String>,
}

/// One direction of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From h1 to the switch.
    H1Out,
    /// From the switch to h1.
    H1In,
    /// From h2 to the switch.
    H2Out,
    /// From the switch to h2.
    H2In,
}

/// From some time on a way behaves otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// After the part's start.
    pub at_ns: u64,
    /// Which way.
    pub way: Way,
    /// netem's arguments from then on.
    pub netem: String,
}

/// For a while, packets that a host's TCP has marked as the end of what it has to send (PSH) or as its last (FIN) are lost
/// on entry to the host's link: tails of bursts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tails {
    /// After the part's start.
    pub from_ns: u64,
    /// Until then.
    pub until_ns: u64,
    /// Whose packets.
    pub side: Side,
    /// Those with FIN, else those with PSH.
    pub fin: bool,
}

/// A host under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Where captures are called those of the sender.
    H1,
    /// Where captures are called those of the receiver.
    H2,
}

/// One connection: requests and responses, one after another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// When the client connects, after the part's start.
    pub start_ns: u64,
    /// Who listens; the other one connects.
    pub server: Side,
    /// What is said.
    pub exchanges: Vec<Exchange>,
    /// Both ends send at once, however little (`TCP_NODELAY`).
    #[serde(default)]
    pub nodelay: bool,
    /// `SO_RCVBUF` of the client, which bounds the window that it offers.
    #[serde(default)]
    pub client_receive_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF` of the server.
    #[serde(default)]
    pub server_receive_buffer_bytes: Option<u32>,
    /// How the client reads; as fast as it can where nothing is said.
    #[serde(default)]
    pub reading: Option<Pace>,
    /// How the server writes; as fast as it can where nothing is said.
    #[serde(default)]
    pub writing: Option<Pace>,
    /// When the client stops reading, in the order of bytes.
    #[serde(default)]
    pub client_stops: Vec<Stop>,
    /// When the server does.
    #[serde(default)]
    pub server_stops: Vec<Stop>,
    /// The server takes no connection before data come, for so long (`TCP_DEFER_ACCEPT`).
    #[serde(default)]
    pub defer_accept_s: Option<u32>,
    /// One end ends the connection before all is said.
    #[serde(default)]
    pub cut: Option<Cut>,
    /// Who closes first.
    pub closer: End,
    /// How long it waits before that.
    pub close_ns: u64,
}

impl Conversation {
    /// Its ends do what programs with two threads cannot.
    fn is_duplex_with_behaviour(&self) -> bool {
        let stops = self.client_stops.len() + self.server_stops.len();
        (stops > 0 || self.cut.is_some()) && self.exchanges.iter().any(|one| one.duplex)
    }
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Who connects.
    Client,
    /// Who listens.
    Server,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// How long the client waits before its request.
    pub think_ns: u64,
    /// Length of the request.
    pub request_bytes: u64,
    /// How long the server waits before its response.
    pub serve_ns: u64,
    /// Length of the response.
    pub response_bytes: u64,
    /// Request and response go at the same time.
    #[serde(default)]
    pub duplex: bool,
}

/// A time in which an end reads nothing.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// It begins when so many bytes were read, all told.
    pub after_bytes: u64,
    /// How long it lasts.
    pub pause_ns: u64,
}

/// How and when an end cuts its connection.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Who does.
    pub by: End,
    /// When it has read and written so many bytes, all told.
    pub after_bytes: u64,
    /// And has waited so long.
    pub wait_ns: u64,
    /// By a reset, else by closing the socket: what the peer says after that is answered by a reset.
    pub resets: bool,
}

/// A program that stops now and then.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// So much in one go.
    pub chunk_bytes: u32,
    /// Then so long nothing.
    pub pause_ns: u64,
}

impl Part {
    /// Whether every number is one that can be reckoned with, and the name one of a file.
    ///
    /// # Errors
    /// With the first that is not.
    pub fn check(&self) -> Result<()> {
        if self.name.is_empty() || self.name.contains(['/', '\0']) {
            bail!("{:?} is no name for a file", self.name);
        }
        let times = self
            .connections
            .iter()
            .flat_map(|c| {
                let paces = [c.reading, c.writing].into_iter().flatten();
                let steps = c.exchanges.iter().flat_map(|e| [e.think_ns, e.serve_ns]);
                let stops = c.client_stops.iter().chain(&c.server_stops);
                steps
                    .chain(paces.map(|pace| pace.pause_ns))
                    .chain(stops.map(|stop| stop.pause_ns))
                    .chain(c.cut.map(|cut| cut.wait_ns))
                    .chain([c.start_ns, c.close_ns])
            })
            .chain(self.changes.iter().map(|change| change.at_ns))
            .chain(self.tails.iter().map(|tails| tails.until_ns))
            .chain([self.patience_ns, self.settling_ns])
            .chain(self.rto_min_ns);
        if let Some(long) = times.into_iter().find(|&time| time > LONGEST_NS) {
            bail!("a time of {long} ns: must be at most {LONGEST_NS}");
        }
        let disordered = |pair: &[Tails]| pair[0].until_ns >= pair[1].from_ns;
        if self.tails.windows(2).any(disordered)
            || self.tails.iter().any(|one| one.from_ns >= one.until_ns)
        {
            bail!("losses of tails must come one after another");
        }
        if self
            .connections
            .iter()
            .any(Conversation::is_duplex_with_behaviour)
        {
            bail!("a connection on which both ends speak at a time can neither stop nor be cut");
        }
        if self.connections.len() > 10_000 {
            bail!("{} connections: at most 10000", self.connections.len());
        }
        Ok(())
    }
}
