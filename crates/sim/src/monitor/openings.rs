//! Connections that never are: half-open ones of a flood, refused ones, and those that nobody answers, whose SYNs carry
//! fewer options from the third on (as macOS sends them). The truth has no rows of them.

use std::collections::BTreeMap;

use rexmit_time::{Duration, Stream, Streams, Time};

use super::follow;
use super::inject::{set_word, settle, tcp_at, Model};
use super::packet::{chance, log_between, seconds, Ends};
use super::Captures;

const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// When a SYN or SYN-ACK is sent again, seconds after the first (RFC 6298 §2 and §5.5).
const AGAIN: [f64; 3] = [1.0, 3.0, 7.0];

/// Connections of a flood.
const FLOOD: (f64, f64) = (20.0, 400.0);

/// Adds a flood, and some refused and unanswered connections.
pub(super) fn add(captures: &mut Captures, streams: &Streams) {
    let mut stream = streams.stream("openings", 0);
    let mut answers: BTreeMap<Ends, Model> = BTreeMap::new();
    let mut opens: Vec<(Ends, Model)> = Vec::new();
    let (mut begin, mut end) = (Time::MAX, Time::ZERO);
    for sent in follow::sent(captures) {
        begin = begin.min(sent.time);
        end = end.max(sent.time);
        let Some(tcp) = sent.head.tcp.filter(|tcp| tcp.flags & SYN != 0) else {
            continue;
        };
        let model = Model::of(captures, &sent);
        if !model.came(captures) {
            continue;
        }
        if tcp.flags & ACK == 0 {
            opens.push((tcp.ends, model));
        } else {
            let (src, sport, dst, dport) = tcp.ends;
            answers.insert((dst, dport, src, sport), model);
        }
    }
    opens.retain(|(ends, _)| answers.contains_key(ends));
    if opens.is_empty() {
        return;
    }
    let span = end.since(begin);
    let pick = |stream: &mut Stream| stream.below(opens.len() as u64) as usize;
    let (ends, open) = &opens[pick(&mut stream)];
    let many = log_between(&mut stream, FLOOD.0, FLOOD.1) as u64;
    let from = begin + within(&mut stream, span);
    let for_s = log_between(&mut stream, 0.5, 10.0);
    for _ in 0..many {
        let at = from + seconds(for_s * stream.uniform());
        let stranger = Stranger::draw(&mut stream, true);
        let came = open.add(captures, at, |bytes| stranger.sends(bytes));
        let answer = &answers[ends];
        for again_s in [0.0].into_iter().chain(AGAIN) {
            answer.add(captures, came + seconds(again_s), |bytes| {
                stranger.gets(bytes);
            });
        }
    }
    for _ in 0..opens.len().div_ceil(8) {
        let (ends, open) = &opens[pick(&mut stream)];
        let at = begin + within(&mut stream, span);
        let stranger = Stranger::draw(&mut stream, false);
        let came = open.add(captures, at, |bytes| stranger.sends(bytes));
        if chance(&mut stream, 0.5) {
            answers[ends].add(captures, came, |bytes| {
                stranger.gets(bytes);
                refuse(bytes);
            });
            continue;
        }
        for (number, again_s) in AGAIN.into_iter().enumerate() {
            open.add(captures, at + seconds(again_s), |bytes| {
                stranger.sends(bytes);
                if number > 0 {
                    only_segment_size(bytes);
                }
            });
        }
    }
    settle(captures);
}

fn within(stream: &mut Stream, span: Duration) -> Duration {
    seconds(span.as_nanos() as f64 / 1e9 * stream.uniform())
}

/// Who opens: an address that is not there, or a client's further port; and the numbers of the connection.
struct Stranger {
    address: Option<u32>,
    port: u16,
    number: u32,
    answer: u32,
}

impl Stranger {
    fn draw(stream: &mut Stream, is_spoofed: bool) -> Self {
        // 198.51.100.0/24 and 192.0.2.0/24 (RFC 5737).
        let net = [0xc633_6400, 0xc000_0200][stream.below(2) as usize];
        let address = net + stream.below(256) as u32;
        Stranger {
            address: is_spoofed.then_some(address),
            // Clients of corpora have no ports below 1024.
            port: 1 + stream.below(1_000) as u16,
            number: stream.next_u64() as u32,
            answer: stream.next_u64() as u32,
        }
    }

    /// Makes a SYN its own.
    fn sends(&self, bytes: &mut [u8]) {
        let tcp = tcp_at(bytes);
        if let Some(address) = self.address {
            set_word(bytes, 12, address);
        }
        bytes[tcp..tcp + 2].copy_from_slice(&self.port.to_be_bytes());
        set_word(bytes, tcp + 4, self.number);
    }

    /// Makes a SYN-ACK one to it.
    fn gets(&self, bytes: &mut [u8]) {
        let tcp = tcp_at(bytes);
        if let Some(address) = self.address {
            set_word(bytes, 16, address);
        }
        bytes[tcp + 2..tcp + 4].copy_from_slice(&self.port.to_be_bytes());
        set_word(bytes, tcp + 4, self.answer);
        set_word(bytes, tcp + 8, self.number.wrapping_add(1));
    }
}

/// Makes a reset of a SYN-ACK (RFC 9293 §3.10.7.1).
fn refuse(bytes: &mut Vec<u8>) {
    let tcp = tcp_at(bytes);
    set_word(bytes, tcp + 4, 0);
    bytes[tcp + 13] = RST | ACK;
    bytes[tcp + 14..tcp + 16].fill(0);
    keep_options(bytes, 0);
}

/// Takes all options but the first, the segment size, out of a SYN.
fn only_segment_size(bytes: &mut Vec<u8>) {
    let options = tcp_at(bytes) + 20;
    let has_size = bytes.get(options..options + 2) == Some(&[2, 4]);
    keep_options(bytes, if has_size { 4 } else { 0 });
}

/// Cuts a packet without payload behind so many bytes of options.
fn keep_options(bytes: &mut Vec<u8>, options: usize) {
    let tcp = tcp_at(bytes);
    bytes.truncate(tcp + 20 + options);
    bytes[tcp + 12] = ((20 + options) as u8 / 4) << 4;
    let total = (tcp + 20 + options) as u16;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
}
