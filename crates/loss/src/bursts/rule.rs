//! The rule over all subflows of one connection.

use std::collections::VecDeque;
use std::net::IpAddr;

use rexmit_tcp::Need;
use rexmit_time::Time;
use rexmit_wire::mptcp::{self, Numbers};
use rexmit_wire::TcpPacket;

use super::stream::Stream;
use super::totals::Totals;
use crate::pattern::{is_pure_ack, Pattern, Scope};
use crate::subflow::{self, Subflow, SynAck};
use crate::{AckDropped, Carried, Decision, Event, PacketId, Rule, Span, Verdict};

/// How a burst rule is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is dropped.
    pub pattern: Pattern,
    /// Bytes of each burst, in the order in which they are written; the first byte of the first is the first that the
    /// server sends.
    pub bursts: Vec<u64>,
    /// The client's address on each path.
    pub clients: Vec<IpAddr>,
    /// Packets of new data by burst and path, of the same case without loss. Without it nothing is dropped, only
    /// counted: a rehearsal.
    pub totals: Option<Totals>,
}

/// Numbers of a packet among those of its path and burst, of its path, of its burst, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    path: u32,
    burst: u32,
    both: u64,
    of_path: u64,
    of_burst: u64,
    of_all: u64,
}

impl Place {
    /// The packet's number within `scope`, which it is in.
    fn within(&self, scope: Scope) -> u64 {
        match (scope.path, scope.burst) {
            (Some(_), Some(_)) => self.both,
            (Some(_), None) => self.of_path,
            (None, Some(_)) => self.of_burst,
            (None, None) => self.of_all,
        }
    }
}

/// Counts packets by path and burst, and says where each stands.
fn place(counts: &mut Totals, path: u32, burst: u32) -> Place {
    counts.count(path, burst);
    let (on_path, in_burst) = (Some(path), Some(burst));
    let within = |path, burst| counts.within(Scope { path, burst });
    Place {
        path,
        burst,
        both: within(on_path, in_burst),
        of_path: within(on_path, None),
        of_burst: within(None, in_burst),
        of_all: within(None, None),
    }
}

/// Drops packets of one connection's bursts, and of the client that they go to, by path, burst and position; see
/// [`paths`](crate::bursts).
///
/// It is given the packets of both directions, or, where the pattern names no acknowledgements, of the server alone: its
/// packets are those to one of the client's addresses. A rule is for one connection, the first whose SYN-ACK it sees, and
/// the subflows that join it.
#[derive(Debug)]
pub struct BurstRule {
    settings: Settings,
    counts: Totals,
    acks: Totals,
    subflows: Vec<Subflow<Place>>,
    /// Data sequence numbers of the server, where the connection is one of Multipath TCP.
    numbers: Option<Numbers>,
    stream: Stream,
    /// The last burst of which something was sent; 0 before the first.
    burst: u32,
    unmapped: u64,
    events: VecDeque<Event>,
}

/// A packet of the server with data, in its subflow.
struct Sent {
    subflow: usize,
    start: u64,
    /// Its first byte in the stream of all bursts.
    data: u64,
    burst: u32,
}

impl BurstRule {
    /// A rule that has seen nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let none = Totals::none(settings.bursts.len(), settings.clients.len());
        BurstRule {
            settings,
            counts: none.clone(),
            acks: none,
            subflows: Vec::new(),
            numbers: None,
            stream: Stream::default(),
            burst: 0,
            unmapped: 0,
            events: VecDeque::new(),
        }
    }

    /// Packets of new data that were sent so far, by burst and path.
    #[must_use]
    pub fn counts(&self) -> &Totals {
        &self.counts
    }

    /// The number of the path that this address of the client is on.
    fn path(&self, client: IpAddr) -> Option<u32> {
        let place = self.settings.clients.iter().position(|&own| own == client);
        place.map(|place| place as u32 + 1)
    }

    fn subflow(&self, packet: &TcpPacket<'_>) -> Option<usize> {
        let key = packet.flow();
        self.subflows.iter().position(|subflow| subflow.key == key)
    }

    /// A SYN of the server's: a subflow begins.
    fn open(&mut self, packet: &TcpPacket<'_>, path: u32) {
        let SynAck { joins, numbers } = SynAck::of(packet);
        let isn = packet.seq();
        if let Some(known) = self.subflow(packet) {
            if self.subflows[known].isn == isn || !joins {
                return;
            }
            // Its ports are taken again.
            self.subflows.remove(known);
        } else if self.subflows.is_empty() == joins {
            return;
        }
        if !joins {
            self.numbers = numbers;
        }
        self.subflows.push(Subflow::new(packet.flow(), path, isn));
    }

    /// Where the packet's first byte lies: in its subflow, and in the bursts.
    fn find(&mut self, packet: &TcpPacket<'_>) -> Option<Sent> {
        let index = self.subflow(packet)?;
        let dss = mptcp::dss(packet);
        let alone = self.subflows.len() == 1;
        let subflow = &mut self.subflows[index];
        let start = subflow.relative(packet.seq())?;
        if packet.payload_len() == 0 {
            subflow.reach(start + u64::from(packet.flags().fin()));
            return None;
        }
        let data = match &mut self.numbers {
            Some(numbers) => {
                if let Some(dss) = dss {
                    subflow.announce(start, &dss, numbers);
                }
                let data = subflow.data(start, alone);
                self.unmapped += u64::from(data.is_none());
                data?
            }
            None => subflow::plain(start),
        };
        let data = u64::try_from(data).ok()?;
        let mut end = 0;
        let burst = self.settings.bursts.iter().position(|bytes| {
            end += bytes;
            data < end
        })?;
        Some(Sent {
            subflow: index,
            start,
            data,
            burst: burst as u32 + 1,
        })
    }

    fn on_server(&mut self, packet: &TcpPacket<'_>, now: Time) -> Verdict {
        let Some(Sent {
            subflow: index,
            start,
            data,
            burst,
        }) = self.find(packet)
        else {
            return Verdict::Accept;
        };
        let len = packet.payload_len();
        let fin = packet.flags().fin();
        let data = data..data + u64::from(len);
        let subflow = &mut self.subflows[index];
        let path = subflow.path;
        let known = self.stream.has(data.start);
        let (position, transmission) = match subflow.sent(start) {
            Some(before) => before,
            None if known => (None, 1),
            None => (Some(place(&mut self.counts, path, burst)), 1),
        };
        self.burst = self.burst.max(burst);
        let dropped = drops(&self.settings, position, transmission);
        let end = start + u64::from(len);
        let highest = subflow.send(start, end, end + u64::from(fin), position);
        let retransmission = transmission > 1 || known;
        let passed = self.stream.has_passed(&data);
        let first = self.stream.first_sent(&data);
        let carried = Carried {
            flow: subflow.key,
            path,
            burst,
            position: position.map(|place| place.both),
            transmission,
            first_sent: first.map(|(at, _)| at),
            first_path: first.map(|(_, path)| path),
            reinjected: transmission == 1 && known,
            was_dropped: self.stream.was_dropped(&data),
            need: retransmission.then_some(if passed { Need::Spurious } else { Need::Needed }),
            span: Span {
                seq: packet.seq(),
                relative: start,
                len,
                fin,
            },
            highest,
            dropped,
            at: now,
            data,
        };
        self.stream.send(&carried.data, now, path, dropped);
        self.events.push_back(Event::Carried(Box::new(carried)));
        if dropped {
            Verdict::Drop
        } else {
            Verdict::Accept
        }
    }

    fn on_client(&mut self, packet: &TcpPacket<'_>, path: u32, now: Time) -> Verdict {
        if !is_pure_ack(packet) || self.burst == 0 {
            return Verdict::Accept;
        }
        let place = place(&mut self.acks, path, self.burst);
        let pattern = &self.settings.pattern;
        let named = pattern.lost_ack(path, place.burst, |scope| place.within(scope));
        let Some(number) = named.filter(|_| self.settings.totals.is_some()) else {
            return Verdict::Accept;
        };
        self.events.push_back(Event::AckDropped(AckDropped {
            flow: packet.flow(),
            number,
            at: now,
        }));
        Verdict::Drop
    }
}

/// Whether the pattern names the packet that stands at `position`, at this transmission.
fn drops(settings: &Settings, position: Option<Place>, transmission: u32) -> bool {
    let Some((place, totals)) = position.zip(settings.totals.as_ref()) else {
        return false;
    };
    let numbers = |scope| Some((place.within(scope), totals.within(scope)));
    let pattern = &settings.pattern;
    pattern.drops_at(place.path, place.burst, transmission, numbers)
}

impl Rule for BurstRule {
    fn on_packet(&mut self, _id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Verdict {
        let flow = packet.flow();
        if let Some(path) = self.path(flow.dst) {
            if packet.flags().syn() {
                self.open(packet, path);
                return Verdict::Accept;
            }
            return self.on_server(packet, now);
        }
        match self.path(flow.src) {
            Some(path) => self.on_client(packet, path, now),
            None => Verdict::Accept,
        }
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        None
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn finish(&mut self, _now: Time) {}

    /// Those of a Multipath TCP connection that no mapping said anything of.
    fn unmapped(&self) -> u64 {
        self.unmapped
    }
}
