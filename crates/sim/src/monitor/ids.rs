//! How hosts count IP identifications.
//!
//! Linux counts per connection, since 2.4 with a SYN-ACK's of 0; Windows, old Linux, BSD of before 2003 and most embedded
//! stacks count all that the host sends, Windows up to 2000 in its machine's byte order; OpenBSD and FreeBSD draw;
//! RFC 6864 §4.1 allows any value where packets cannot be fragmented, and many send 0. A card that cuts a segment counts
//! on from the identification that it was given, in either byte order.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rexmit_time::{Duration, Stream, Streams, Time};

use super::follow;
use super::packet::{ip_at, Ends, Tcp};
use super::{Captures, Rewriting};

/// Segments that a card cut from one leave within this time of each other.
pub(super) const BURST: Duration = Duration::from_micros(20);

/// Gives each packet the identification that its host would, the same at every point.
pub(super) fn assign(captures: &mut Captures, kind: Rewriting, streams: &Streams) {
    let all = follow::sent(captures);
    let mut hosts: BTreeMap<Ipv4Addr, HostIds> = BTreeMap::new();
    for sent in &all {
        let src = sent.head.src;
        let host = hosts.entry(src).or_insert_with(|| {
            let mut stream = streams.stream("identifications", u64::from(src.to_bits()));
            HostIds::new(Way::of(kind, &mut stream), stream)
        });
        let id = host.next(sent);
        for &(capture, place) in &sent.sights {
            let seen = &mut captures[capture];
            seen.packets[place].set_id(ip_at(seen.link), id);
        }
    }
}

/// A way to identify packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Connection,
    Host,
    Swapped,
    Random,
    Zero,
    /// Those of a burst are so far apart; what the host counts is bursts, or the segments too.
    Stepped {
        step: u16,
        by_segment: bool,
        by_connection: bool,
    },
}

impl Way {
    fn of(kind: Rewriting, stream: &mut Stream) -> Self {
        match kind {
            Rewriting::IdsHost => Way::Host,
            Rewriting::IdsSwapped => Way::Swapped,
            Rewriting::IdsRandom => Way::Random,
            Rewriting::IdsZero => Way::Zero,
            Rewriting::IdsStepped => Way::stepped(stream),
            Rewriting::KeepAlives | Rewriting::Floods => Way::Connection,
            _ => match stream.below(12) {
                0..4 => Way::Connection,
                4..7 => Way::Host,
                7 => Way::Swapped,
                8 => Way::Random,
                9 => Way::Zero,
                _ => Way::stepped(stream),
            },
        }
    }

    fn stepped(stream: &mut Stream) -> Self {
        let mut coin = || stream.below(2) == 0;
        Way::Stepped {
            step: if coin() { 1 } else { 256 },
            by_segment: coin(),
            by_connection: coin(),
        }
    }
}

/// A host and its counters.
struct HostIds {
    way: Way,
    stream: Stream,
    counter: u16,
    connections: BTreeMap<Ends, u16>,
    /// The segment before: when, by whom, the number behind it, and its identification.
    last: Option<(Time, Ends, u32, u16)>,
}

impl HostIds {
    fn new(way: Way, mut stream: Stream) -> Self {
        HostIds {
            way,
            counter: stream.next_u64() as u16,
            stream,
            connections: BTreeMap::new(),
            last: None,
        }
    }

    fn next(&mut self, sent: &follow::SentPacket) -> u16 {
        match self.way {
            Way::Connection => {
                let answers = sent
                    .head
                    .tcp
                    .is_some_and(|tcp| tcp.flags & 2 != 0 && tcp.flags & 16 != 0);
                if answers && sent.head.id == 0 {
                    0
                } else {
                    self.count(sent.head.tcp, true)
                }
            }
            Way::Host => self.count(None, false),
            Way::Swapped => self.count(None, false).swap_bytes(),
            Way::Random => self.stream.next_u64() as u16,
            Way::Zero => 0,
            Way::Stepped {
                step,
                by_segment,
                by_connection,
            } => {
                let cut = sent
                    .head
                    .tcp
                    .and_then(|tcp| self.continues(&tcp, sent.time));
                let id = match cut {
                    Some(before) => {
                        if by_segment {
                            self.count(sent.head.tcp, by_connection);
                        }
                        before.wrapping_add(step)
                    }
                    None => self.count(sent.head.tcp, by_connection),
                };
                self.last = sent
                    .head
                    .tcp
                    .filter(|tcp| tcp.payload > 0)
                    .map(|tcp| (sent.time, tcp.ends, tcp.seq.wrapping_add(tcp.payload), id));
                id
            }
        }
    }

    /// The identification of the segment that this one was cut off from.
    fn continues(&self, tcp: &Tcp, time: Time) -> Option<u16> {
        let (at, ends, next, id) = self.last?;
        let follows = tcp.payload > 0 && ends == tcp.ends && next == tcp.seq;
        (follows && time.since(at) <= BURST).then_some(id)
    }

    fn count(&mut self, tcp: Option<Tcp>, by_connection: bool) -> u16 {
        let counter = match tcp {
            Some(tcp) if by_connection => {
                let first = self.stream.next_u64() as u16;
                self.connections.entry(tcp.ends).or_insert(first)
            }
            _ => &mut self.counter,
        };
        *counter = counter.wrapping_add(1);
        *counter
    }
}
