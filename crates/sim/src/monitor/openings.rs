//! Connections that never are: half-open ones of a flood, refused ones, and those that nobody answers, whose SYNs carry
//! fewer options from the third on (as macOS sends them). The truth has no rows of them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rexmit_time::{Duration, Stream, Streams, Time};

use super::follow;
use super::inject::{set_word, settle, stamp_at, tcp_at, word, Model};
use super::packet::{chance, ip_at, log_between, seconds, Ends};
use super::Captures;

const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// The timeouts of a SYN or SYN-ACK, seconds (RFC 6298 §2 and §5.5), and how much of each a timer is late at most: as the
/// wheel of kernel/time/timer.c, whose slots are up to an eighth of the time wide, half of it on average.
const TIMEOUTS: [f64; 3] = [1.0, 2.0, 4.0];
const LATE: f64 = 1.0 / 16.0;

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
    let clocks = Clocks::of(captures);
    let span = end.since(begin);
    let pick = |stream: &mut Stream| stream.below(opens.len() as u64) as usize;
    let (ends, open) = &opens[pick(&mut stream)];
    let many = log_between(&mut stream, FLOOD.0, FLOOD.1) as u64;
    let from = begin + within(&mut stream, span);
    let for_s = log_between(&mut stream, 0.5, 10.0);
    for _ in 0..many {
        let at = from + seconds(for_s * stream.uniform());
        let stranger = Stranger::draw(&mut stream, true);
        let ticks = open.ticks(at, clocks.rate(ends.0));
        let came = open.add(captures, at, |bytes| stranger.sends(bytes, ticks));
        let answer = &answers[ends];
        for again_s in [0.0].into_iter().chain(again(&mut stream)) {
            let at = came + seconds(again_s);
            let own = answer.ticks(at, clocks.rate(ends.2));
            answer.add(captures, at, |bytes| stranger.gets(bytes, own, ticks));
        }
    }
    for _ in 0..opens.len().div_ceil(8) {
        let (ends, open) = &opens[pick(&mut stream)];
        let at = begin + within(&mut stream, span);
        let stranger = Stranger::draw(&mut stream, false);
        let ticks = |at| open.ticks(at, clocks.rate(ends.0));
        let came = open.add(captures, at, |bytes| stranger.sends(bytes, ticks(at)));
        if chance(&mut stream, 0.5) {
            answers[ends].add(captures, came, |bytes| {
                stranger.gets(bytes, 0, 0);
                refuse(bytes);
            });
            continue;
        }
        for (number, again_s) in again(&mut stream).into_iter().enumerate() {
            let at = at + seconds(again_s);
            open.add(captures, at, |bytes| {
                stranger.sends(bytes, ticks(at));
                if number > 0 {
                    only_segment_size(bytes);
                }
            });
        }
    }
    settle(captures);
}

/// When a packet is sent again, seconds after the first.
fn again(stream: &mut Stream) -> [f64; 3] {
    let mut at = 0.0;
    TIMEOUTS.map(|timeout| {
        at += timeout * (1.0 + LATE * stream.uniform());
        at
    })
}

fn within(stream: &mut Stream, span: Duration) -> Duration {
    seconds(span.as_nanos() as f64 / 1e9 * stream.uniform())
}

/// How fast the clocks of hosts' time stamps go.
struct Clocks(BTreeMap<Ipv4Addr, (Duration, f64)>);

impl Clocks {
    /// As the longest connection of each host shows it.
    fn of(captures: &Captures) -> Self {
        let mut first: BTreeMap<Ends, (Time, u32)> = BTreeMap::new();
        let mut clocks: BTreeMap<Ipv4Addr, (Duration, f64)> = BTreeMap::new();
        for sent in follow::sent(captures) {
            let (capture, place) = sent.sights[0];
            let seen = &captures[capture];
            let bytes = &seen.packets[place].bytes[ip_at(seen.link)..];
            let stamp = sent.head.tcp.and_then(|tcp| Some((tcp, stamp_at(bytes)?)));
            let Some((tcp, at)) = stamp else { continue };
            let value = word(bytes, at);
            let (began, from) = *first.entry(tcp.ends).or_insert((sent.time, value));
            let span = sent.time.since(began);
            let clock = clocks.entry(tcp.ends.0).or_default();
            if span > clock.0 {
                let ticks = f64::from(value.wrapping_sub(from));
                *clock = (span, ticks * 1e9 / span.as_nanos() as f64);
            }
        }
        Clocks(clocks)
    }

    /// Ticks a second.
    fn rate(&self, host: Ipv4Addr) -> f64 {
        self.0.get(&host).map_or(0.0, |(_, rate)| *rate)
    }
}

/// Moves a time stamp and its echo on.
fn move_on(bytes: &mut [u8], value: u32, echo: u32) {
    if let Some(at) = stamp_at(bytes) {
        for (at, ticks) in [(at, value), (at + 4, echo)] {
            set_word(bytes, at, word(bytes, at).wrapping_add(ticks));
        }
    }
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

    /// Makes a SYN its own, so many ticks later.
    fn sends(&self, bytes: &mut [u8], ticks: u32) {
        move_on(bytes, ticks, 0);
        let tcp = tcp_at(bytes);
        if let Some(address) = self.address {
            set_word(bytes, 12, address);
        }
        bytes[tcp..tcp + 2].copy_from_slice(&self.port.to_be_bytes());
        set_word(bytes, tcp + 4, self.number);
    }

    /// Makes a SYN-ACK one to it, by two clocks so many ticks later.
    fn gets(&self, bytes: &mut [u8], own: u32, echoed: u32) {
        move_on(bytes, own, echoed);
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
