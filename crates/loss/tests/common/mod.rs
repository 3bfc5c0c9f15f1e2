//! A server's packets, and a rule under test that is watched.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;

use rexmit_loss::{
    Bare, Carried, Decision, Dropped, Drops, Event, LossRule, Mode, PacketId, Settings, Transfer,
    Verdict,
};
use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::MptcpOption;
use rexmit_wire::{Flags, TcpPacket};

pub const FIN_ACK: u8 = 0x11;
pub const ACK: u8 = 0x10;
pub const SYN: u8 = 0x02;
pub const SYN_ACK: u8 = 0x12;
pub const RST: u8 = 0x04;

/// The option, filled up to whole words by no-operations.
pub fn padded(option: &MptcpOption<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    option.write(&mut bytes);
    bytes.resize(bytes.len().next_multiple_of(4), 1);
    bytes
}

/// An IPv4 packet of the server 10.0.0.1:80 to 10.0.0.2:`port`.
pub fn packet(port: u16, seq: u32, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header = 20 + options.len();
    let total = (20 + header + payload.len()) as u16;
    let mut bytes = vec![
        0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes.extend(80u16.to_be_bytes());
    bytes.extend(port.to_be_bytes());
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 1, (header as u8 / 4) << 4, flags, 1, 0, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.extend(payload);
    bytes
}

/// An IPv4 packet of the client 10.0.0.2:`port` to 10.0.0.1:80.
pub fn client_packet(port: u16, flags: u8, payload: &[u8]) -> Vec<u8> {
    client_at(port, 1, flags, payload)
}

/// The same with a sequence number.
pub fn client_at(port: u16, seq: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = packet(port, seq, flags, &[], payload);
    bytes[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
    bytes[20..22].copy_from_slice(&port.to_be_bytes());
    bytes[22..24].copy_from_slice(&80u16.to_be_bytes());
    bytes
}

/// A response of `body` bytes.
pub fn response(body: usize, extra: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nServer: test\r\nContent-Length: {body}\r\n{extra}\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend(std::iter::repeat_n(b'x', body));
    bytes
}

/// A response whose head and body are `total` bytes.
pub fn sized(total: usize, extra: &str) -> Vec<u8> {
    let mut lengths = (1..total).rev().map(|body| response(body, extra));
    lengths
        .find(|whole| whole.len() == total)
        .expect("some length fits")
}

/// A rule whose every answer is recorded and checked: each packet gets exactly one final decision.
pub struct Watched {
    pub rule: LossRule,
    pub now: Time,
    pub fates: BTreeMap<u64, Option<Decision>>,
    /// The order in which packets left, with their ids.
    pub left: Vec<u64>,
    pub events: Vec<Event>,
    next: u64,
}

impl Watched {
    pub fn new(settings: Settings) -> Self {
        Watched {
            rule: LossRule::new(settings),
            now: Time::from_nanos(1_000_000),
            fates: BTreeMap::new(),
            left: Vec::new(),
            events: Vec::new(),
            next: 0,
        }
    }

    /// Sends a packet one microsecond after the last and gives its id.
    pub fn send(&mut self, bytes: &[u8]) -> u64 {
        self.now += Duration::from_micros(1);
        let id = self.next;
        self.next += 1;
        let parsed = TcpPacket::parse(bytes).expect("the tests send TCP");
        let fate = match self.rule.on_packet(PacketId(id), &parsed, self.now) {
            Verdict::Accept => Some(Decision::Accept),
            Verdict::Drop => Some(Decision::Drop),
            Verdict::Hold => None,
        };
        self.fates.insert(id, fate);
        if fate == Some(Decision::Accept) {
            self.left.push(id);
        }
        self.drain();
        id
    }

    pub fn wait(&mut self, length: Duration) {
        let until = self.now + length;
        while let Some(due) = self.rule.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.rule.on_deadline(self.now);
            self.drain();
        }
        self.now = until;
    }

    pub fn finish(&mut self) {
        self.rule.finish(self.now);
        self.drain();
        assert!(
            self.fates.values().all(Option::is_some),
            "finish leaves nothing held"
        );
        assert_eq!(self.rule.poll_release(), None);
    }

    fn drain(&mut self) {
        while let Some((PacketId(id), decision)) = self.rule.poll_release() {
            let fate = self
                .fates
                .get_mut(&id)
                .expect("only packets that were given are released");
            assert_eq!(fate.replace(decision), None, "packet {id} is decided once");
            if decision == Decision::Accept {
                self.left.push(id);
            }
        }
        while let Some(event) = self.rule.poll_event() {
            self.events.push(event);
        }
    }

    pub fn dropped_ids(&self) -> Vec<u64> {
        let dropped = |(_, fate): &(&u64, &Option<Decision>)| **fate == Some(Decision::Drop);
        self.fates
            .iter()
            .filter(dropped)
            .map(|(id, _)| *id)
            .collect()
    }

    /// Packets that are dropped and carry nothing of a response.
    pub fn bare(&self) -> Vec<Bare> {
        let bare = |event: &Event| match event {
            Event::BareDropped(dropped) => Some(dropped.packet),
            _ => None,
        };
        self.events.iter().filter_map(bare).collect()
    }

    pub fn is_held(&self, id: u64) -> bool {
        self.fates[&id].is_none()
    }

    pub fn rows(&self) -> Vec<&Transfer> {
        fn row(event: &Event) -> Option<&Transfer> {
            match event {
                Event::Finished(row) => Some(row),
                _ => None,
            }
        }
        self.events.iter().filter_map(row).collect()
    }

    /// What is told of packets with data, of those that were sent before alone where transfers are found.
    pub fn carried(&self) -> Vec<&Carried> {
        fn carried(event: &Event) -> Option<&Carried> {
            match event {
                Event::Carried(carried) => Some(carried),
                _ => None,
            }
        }
        self.events.iter().filter_map(carried).collect()
    }

    pub fn drops(&self) -> Vec<Dropped> {
        let dropped = |event: &Event| match event {
            Event::Dropped(dropped) => Some(*dropped),
            _ => None,
        };
        self.events.iter().filter_map(dropped).collect()
    }

    /// Sends the stream of `s` from each of these places to the next; gives the packets' ids.
    pub fn segments(&mut self, s: &Sender, places: &[usize]) -> Vec<u64> {
        let each = places.windows(2);
        each.map(|to| self.send(&s.segment(to[0], to[1], false)))
            .collect()
    }

    /// A rule behind a server whose SYN-ACK has gone by.
    pub fn behind(settings: &Settings, s: &Sender) -> Self {
        let mut watched = Watched::new(settings.clone());
        watched.send(&s.syn_ack());
        watched
    }
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    pub port: u16,
    pub isn: u32,
    pub stream: Vec<u8>,
}

impl Sender {
    pub fn new(port: u16, isn: u32, stream: Vec<u8>) -> Self {
        Sender { port, isn, stream }
    }

    pub fn syn_ack(&self) -> Vec<u8> {
        packet(self.port, self.isn, SYN_ACK, &[2, 4, 5, 180], &[])
    }

    /// Bytes `from..to` of the stream, counted from 0, with the FIN when `fin`.
    pub fn segment(&self, from: usize, to: usize, fin: bool) -> Vec<u8> {
        let seq = self.isn.wrapping_add(1).wrapping_add(from as u32);
        let flags = Flags::ACK.0 | if fin { Flags::FIN.0 } else { 0 };
        packet(self.port, seq, flags, &[], &self.stream[from..to])
    }

    pub fn fin(&self) -> Vec<u8> {
        self.segment(self.stream.len(), self.stream.len(), true)
    }

    /// Where segments of `mss` bytes begin, and the end.
    pub fn places(&self, mss: usize) -> Vec<usize> {
        let len = self.stream.len();
        (0..len).step_by(mss).chain([len]).collect()
    }
}

pub const CLOSE: &str = "Connection: close\r\n";

/// Settings of `segments` in this mode, which give rows at once.
pub fn tail(segments: u32, mode: Mode) -> Settings {
    Settings {
        drops: Drops::Tail {
            segments,
            mode,
            hold_limit: Duration::from_secs(3),
        },
        ..Settings::default()
    }
}

/// Settings of `segments` in `sequence`, which give rows at once.
pub fn sequence(segments: u32) -> Settings {
    tail(segments, Mode::Sequence)
}

/// Settings of `segments` in `hold`.
pub fn hold(segments: u32) -> Settings {
    tail(segments, Mode::Hold)
}

/// Settings of a pattern, which give rows at the end.
pub fn pattern(text: &str) -> Settings {
    Settings {
        drops: Drops::Pattern(text.parse().unwrap()),
        linger: Duration::MAX,
        ..Settings::default()
    }
}
