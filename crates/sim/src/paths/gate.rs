//! The loss rule at the server, and all that is told of the connection's packets.

use std::net::IpAddr;

use rexmit_loss::paths::{PathRule, Totals};
use rexmit_loss::{Carried, Event, PacketId, Rule, Verdict};
use rexmit_plan::{
    comment, Captured, Direction, PathLog, PathPacket, PathSender, PathStory, PathWatched,
    SocketInfo,
};
use rexmit_tcp::multipath::Options;
use rexmit_tcp::{Mechanism, Segment};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};

use super::ends::End;
use super::options::Keys;
use crate::bytes;
use crate::run::Captures;

/// What is wanted besides rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    /// The rule judges the client's packets too.
    pub both: bool,
    pub log: bool,
    pub captures: bool,
}

/// What was seen of a connection.
pub struct Seen {
    pub watched: PathWatched,
    pub totals: Totals,
    pub packets: Option<Vec<PathPacket>>,
    pub captures: Option<Captures>,
}

/// The gate of one connection.
pub struct Gate {
    rule: PathRule,
    wants: Wants,
    story: PathStory,
    log: PathLog,
    captures: Option<Captures>,
    keys: Option<Keys>,
    next: u64,
    /// The packet at hand.
    bytes: Vec<u8>,
}

/// A packet as it leaves its host.
pub struct Leaving<'a> {
    /// 0 the server, 1 the client.
    pub from: usize,
    pub path: usize,
    pub key: FlowKey,
    pub segment: &'a Segment,
    pub options: &'a Options,
    pub mechanism: Option<Mechanism>,
}

impl Gate {
    pub fn new(rule: PathRule, wants: Wants, story: PathStory, keys: Option<Keys>) -> Self {
        Gate {
            rule,
            wants,
            story,
            log: PathLog::default(),
            captures: wants.captures.then(Captures::default),
            keys,
            next: 0,
            bytes: Vec::new(),
        }
    }

    /// Ends the measurement.
    pub fn finish(mut self) -> Seen {
        Seen {
            watched: self.story.finish(),
            totals: self.rule.counts().clone(),
            packets: self.wants.log.then(|| self.log.take()),
            captures: self.captures,
        }
    }

    fn render(&mut self, leaving: &Leaving<'_>) {
        let mut extra = Vec::new();
        if let Some(keys) = &self.keys {
            let Leaving { from, path, .. } = *leaving;
            keys.write(&mut extra, from, path, leaving.segment, leaving.options);
        }
        self.bytes.clear();
        bytes::with_options(&mut self.bytes, &leaving.key, leaving.segment, &extra);
        if self.captures.is_some() {
            let len = leaving.segment.len as usize;
            self.bytes.resize(self.bytes.len() + len, b'x');
        }
    }

    /// A packet leaves its host; whether it goes on. `server` is the server's end.
    pub fn on_sent(&mut self, now: Time, leaving: &Leaving<'_>, server: &End) -> bool {
        let by_server = leaving.from == 0;
        let judged = by_server || self.wants.both;
        if !judged && !self.wants.log && self.captures.is_none() {
            return true;
        }
        self.render(leaving);
        let id = PacketId(self.next);
        self.next += 1;
        let whole = match self.captures {
            Some(_) => self.bytes.len(),
            None => self.bytes.len() + leaving.segment.len as usize,
        };
        let Ok(packet) = TcpPacket::parse_captured(&self.bytes, whole) else {
            return true;
        };
        let mut dropped = false;
        let mut told = None;
        let mut carried = None;
        if judged {
            dropped = self.rule.on_packet(id, &packet, now) == Verdict::Drop;
            let mut asked = Asked { leaving, server };
            while let Some(event) = self.rule.poll_event() {
                if let Event::Carried(one) = &event {
                    carried = Some((**one).clone());
                }
                // The sender that is asked always knows.
                told = self.story.event(&event, &mut asked).ok().flatten().or(told);
            }
        }
        if by_server {
            self.story.packet(&packet);
        }
        if self.wants.log {
            let direction = direction(leaving.from);
            let mechanism = told.map(|(mechanism, _)| mechanism);
            let path = leaving.path as u32 + 1;
            let fate = (dropped, mechanism);
            self.log
                .push(&packet, direction, path, now, carried.as_ref(), fate);
        }
        self.capture(now, leaving, leaving.from, comment(dropped, told));
        !dropped
    }

    /// A packet reaches the other host.
    pub fn on_received(&mut self, now: Time, leaving: &Leaving<'_>) {
        if self.captures.is_some() {
            self.render(leaving);
            self.capture(now, leaving, 1 - leaving.from, None);
        }
    }

    fn capture(&mut self, time: Time, leaving: &Leaving<'_>, at: usize, comment: Option<String>) {
        let Some(captures) = &mut self.captures else {
            return;
        };
        let mut bytes = self.bytes.clone();
        bytes::fill_in_checksums(&mut bytes);
        // The client has an interface a path, the server one in all.
        let (host, interface) = match at {
            0 => (&mut captures.server, 0),
            _ => (&mut captures.client, leaving.path),
        };
        host.push(Captured {
            time,
            interface,
            bytes,
            comment,
        });
    }
}

fn direction(from: usize) -> Direction {
    match from {
        0 => Direction::Data,
        _ => Direction::Ack,
    }
}

/// The sender of the packet at hand.
struct Asked<'a> {
    leaving: &'a Leaving<'a>,
    server: &'a End,
}

impl PathSender for Asked<'_> {
    fn socket(&mut self, flow: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        debug_assert_eq!(flow, self.leaving.key);
        Ok(self.server.info(self.leaving.path))
    }

    fn mechanism(&mut self, _: &Carried) -> anyhow::Result<Mechanism> {
        Ok(self.leaving.mechanism.unwrap_or(Mechanism::Unknown))
    }
}

/// The server's address, and the client's on each path; none for a family that is neither 4 nor 6.
pub fn addresses(family: u8, paths: usize) -> Option<(IpAddr, Vec<IpAddr>)> {
    use std::net::{Ipv4Addr, Ipv6Addr};
    let address = |path: u8, who: u8| match family {
        4 => Some(IpAddr::V4(Ipv4Addr::new(10, 0, path, who))),
        6 => Some(IpAddr::V6(Ipv6Addr::new(
            0xfd00,
            0,
            0,
            u16::from(path),
            0,
            0,
            0,
            u16::from(who),
        ))),
        _ => None,
    };
    let clients = (1..=paths as u8).map(|path| address(path, 2));
    Some((address(0, 1)?, clients.collect::<Option<_>>()?))
}
