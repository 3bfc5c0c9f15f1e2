//! A TCP so simple that what the simulation does with it can be reckoned by hand: one segment at a time, acknowledged at
//! once, sent again after a second.

use std::collections::VecDeque;

use rexmit_tcp::connection::{Event, Local, Sent, Socket};
use rexmit_tcp::{Mechanism, Segment};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum};

use crate::machine::{Machine, Out, Stack};

pub const MSS: u32 = 1000;
const TIMEOUT: Duration = Duration::from_secs(1);

pub struct StopAndWait {
    una: SeqNum,
    next: SeqNum,
    expected: SeqNum,
    unsent: u32,
    closing: bool,
    fin_sent: bool,
    peer_closed: bool,
    readable: u32,
    /// The segment that is not acknowledged, and when it is sent again.
    waiting: Option<(Segment, Time)>,
    out: VecDeque<Sent>,
    events: VecDeque<Event>,
    pub in_host: u32,
}

fn sent(segment: Segment, mechanism: Option<Mechanism>) -> Sent {
    Sent {
        segment,
        mechanism,
        probe: false,
        in_host_bytes: segment.len,
    }
}

impl StopAndWait {
    fn new(local: &Local) -> Self {
        Self {
            una: local.iss,
            next: local.iss,
            expected: SeqNum::default(),
            unsent: 0,
            closing: false,
            fin_sent: false,
            peer_closed: false,
            readable: 0,
            waiting: None,
            out: VecDeque::new(),
            events: VecDeque::new(),
            in_host: 0,
        }
    }

    fn emit(&mut self, now: Time, flags: Flags, len: u32) {
        let segment = Segment {
            seq: self.next,
            ack: self.expected,
            flags,
            len,
            ..Segment::default()
        };
        if segment.space() > 0 {
            self.next = segment.end();
            self.waiting = Some((segment, now + TIMEOUT));
        }
        self.out.push_back(sent(segment, None));
    }

    fn go_on(&mut self, now: Time) {
        if self.waiting.is_some() || self.fin_sent {
            return;
        }
        let len = self.unsent.min(MSS);
        self.unsent -= len;
        let fin = self.closing && self.unsent == 0;
        if len > 0 || fin {
            self.fin_sent = fin;
            self.emit(now, Flags(0x10 | u8::from(fin)), len);
        }
    }
}

impl Socket for StopAndWait {
    fn write(&mut self, now: Time, bytes: u32, _more: bool) -> u32 {
        self.unsent += bytes;
        self.go_on(now);
        bytes
    }

    fn send_file(&mut self, now: Time, _offset: u64, bytes: u32) -> u32 {
        self.write(now, bytes, false)
    }

    fn read(&mut self, _now: Time, most: u32) -> u32 {
        let bytes = self.readable.min(most);
        self.readable -= bytes;
        bytes
    }

    fn at_end(&self) -> bool {
        self.peer_closed && self.readable == 0
    }

    fn set_cork(&mut self, _now: Time, _on: bool) {}

    fn close(&mut self, now: Time) {
        self.closing = true;
        self.go_on(now);
    }

    fn abort(&mut self, now: Time) {
        self.close(now);
    }
}

impl Machine for StopAndWait {
    type Options = ();

    fn connect(_stack: &Stack, _: usize, local: &Local, now: Time) -> Self {
        let mut machine = Self::new(local);
        machine.emit(now, Flags::SYN, 0);
        machine
    }

    fn accept(_stack: &Stack, _: usize, local: &Local, syn: &Segment, now: Time) -> Self {
        let mut machine = Self::new(local);
        machine.expected = syn.end();
        machine.emit(now, Flags(0x12), 0);
        machine
    }

    fn on_segment(&mut self, now: Time, _: usize, segment: &Segment, (): &()) {
        if segment.flags.ack() && segment.ack == self.next && self.waiting.is_some() {
            if self.waiting.is_some_and(|(sent, _)| sent.flags.syn()) {
                self.events.push_back(Event::Established);
                self.expected = segment.seq + u32::from(segment.flags.syn());
            }
            (self.una, self.waiting) = (segment.ack, None);
        }
        if segment.space() > 0 {
            let begins = segment.seq + u32::from(segment.flags.syn());
            if begins == self.expected {
                self.expected = segment.end();
                self.readable += segment.len;
                if segment.len > 0 {
                    self.events.push_back(Event::Readable);
                }
                if segment.flags.fin() {
                    self.peer_closed = true;
                    self.events.push_back(Event::PeerClosed);
                }
            }
            self.emit(now, Flags::ACK, 0);
        }
        self.go_on(now);
    }

    fn deadline(&self) -> Option<Time> {
        self.waiting.map(|(_, at)| at)
    }

    fn on_deadline(&mut self, now: Time) {
        if let Some((segment, at)) = &mut self.waiting {
            if *at <= now {
                *at = now + TIMEOUT;
                self.out.push_back(sent(*segment, Some(Mechanism::Rto)));
            }
        }
    }

    fn left_host(&mut self, _now: Time, _: usize, bytes: u32) {
        self.in_host += bytes;
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Out<()>> {
        Some(Out {
            path: 0,
            sent: self.out.pop_front()?,
            options: (),
        })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
