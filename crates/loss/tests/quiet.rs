//! A rule that is told of quiet packets by number alone tells the same as one that is given them all, or says that it may not.

mod common;

use common::*;
use proptest::prelude::*;
use rexmit_loss::{Mode, Quiet};
use rexmit_time::{Duration, Streams};
use rexmit_wire::TcpPacket;

/// What a kernel does that lets quiet packets pass: a rule behind it.
struct Behind {
    watched: Watched,
    open: Option<Quiet>,
    /// Sequence numbers of what passed.
    passed: Vec<u32>,
    waiting: (u64, u64),
}

impl Behind {
    fn send(&mut self, bytes: &[u8]) {
        let packet = TcpPacket::parse(bytes).expect("the tests send TCP");
        let (seq, len) = (packet.seq(), packet.payload_len());
        let flags = packet.flags();
        let quiet = self.open.is_some_and(|quiet| {
            let within = seq.offset_from(quiet.from) >= 0 && seq.offset_from(quiet.until) <= 0;
            within && !flags.syn() && !flags.fin() && len > 60
        });
        if quiet && !self.passed.contains(&seq.get()) {
            self.passed.push(seq.get());
            self.waiting = (self.waiting.0 + 1, self.waiting.1 + u64::from(len));
            self.watched.now += Duration::from_micros(1);
            return;
        }
        self.catch_up();
        self.watched.send(bytes);
        match self.watched.rule.quiet() {
            None => self.open = None,
            quiet if self.open.is_none() => (self.open, self.passed) = (quiet, Vec::new()),
            Some(_) => {}
        }
    }

    fn catch_up(&mut self) {
        if let Some(quiet) = self.open {
            let passed = core::mem::take(&mut self.waiting);
            let now = self.watched.now;
            self.watched.rule.passed(&quiet.flow, passed, now);
        }
    }
}

/// Sends a response both ways; how many packets were not given, and whether the rule says that it could not follow.
fn both_ways(seed: u64, segments: u32, again: u64, mode: Mode) -> (usize, bool) {
    let mut stream = Streams::new(seed).stream("quiet", 0);
    let isn = match stream.below(3) {
        0 => u32::MAX - stream.below(30_000) as u32,
        _ => stream.next_u64() as u32,
    };
    let body = 2_000 + stream.below(60_000) as usize;
    let sender = Sender::new(10_000, isn, response(body, CLOSE));
    let settings = tail(segments, mode);
    let mut all = Watched::behind(&settings, &sender);
    let mut behind = Behind {
        watched: Watched::behind(&settings, &sender),
        open: None,
        passed: Vec::new(),
        waiting: (0, 0),
    };
    let len = sender.stream.len();
    let (mut at, mut hidden) = (0, 0);
    while at < len {
        let full = 1_448.min(len - at);
        // Some segments are cut short, as where a program writes in pieces.
        let one = if stream.below(20) == 0 {
            1 + stream.below(full as u64) as usize
        } else {
            full
        };
        let mut packets = vec![sender.segment(at, at + one, false)];
        at += one;
        if again > 0 && stream.below(again) == 0 {
            let from = stream.below(at as u64) as usize;
            let to = (from + 1_448).min(at);
            packets.push(sender.segment(from, to, false));
        }
        for packet in packets {
            all.send(&packet);
            let before = behind.watched.fates.len();
            behind.send(&packet);
            hidden += usize::from(behind.watched.fates.len() == before);
        }
    }
    for packet in [sender.fin(), sender.segment(len - 1, len, true)] {
        all.send(&packet);
        behind.send(&packet);
    }
    behind.catch_up();
    all.finish();
    behind.watched.finish();
    let unfollowed = behind.watched.rule.unfollowed() > 0;
    if !unfollowed {
        assert_eq!(all.events, behind.watched.events);
    }
    (hidden, unfollowed)
}

proptest! {
    #[test]
    fn the_same_is_told(seed: u64, segments in 0u32..20, again in 0u64..60) {
        both_ways(seed, segments, again, Mode::Sequence);
    }

    #[test]
    fn what_goes_out_once_can_be_followed(seed: u64, segments in 0u32..20) {
        let (_, unfollowed) = both_ways(seed, segments, 0, Mode::Sequence);
        prop_assert!(!unfollowed);
    }
}

#[test]
fn most_of_a_response_is_not_given() {
    let hidden = (0..50).map(|seed| both_ways(seed, 3, 0, Mode::Sequence).0);
    assert!(hidden.sum::<usize>() > 500);
}
