//! What holds for the tail rule whatever is sent: checked against a plain account of every byte.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use proptest::prelude::*;
use rexmit_loss::{Decision, Transfer};
use rexmit_loss::{Mode, Settings};
use rexmit_tcp::Need;
use rexmit_time::{Duration, Stream, Streams, Time};

/// How a run is made.
#[derive(Clone, Copy, Debug)]
struct Shape {
    seed: u64,
    segments: u32,
    hold: bool,
    connections: u64,
    /// Every segment but the last is full and each head lies in its transfer's first segment.
    full: bool,
    reorder: bool,
    /// Bytes already sent are sent again while first transmissions still come.
    noise: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let n = prop_oneof![Just(0u32), 1u32..6, 1u32..25];
    (
        any::<u64>(),
        n,
        any::<bool>(),
        1u64..5,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(seed, segments, hold, connections, full, reorder, noise)| Shape {
                seed,
                segments,
                hold,
                connections,
                full,
                reorder,
                noise,
            },
        )
}

/// One packet that was sent, by the positions of its connection's stream; the FIN's is the stream's length.
#[derive(Clone, Copy, Debug)]
struct Sent {
    id: u64,
    from: usize,
    to: usize,
    fin: bool,
    at: Time,
}

impl Sent {
    fn top(&self) -> usize {
        self.to + usize::from(self.fin)
    }

    fn touches(&self, from: usize, to: usize) -> bool {
        self.from < to && from < self.top()
    }

    fn has_data(&self) -> bool {
        self.from < self.to
    }
}

/// A connection and the account of it.
struct Connection {
    sender: Sender,
    /// Start, head length and end of every transfer.
    transfers: Vec<(usize, usize, usize)>,
    closes: bool,
    /// First transmissions yet to come, last first.
    queue: Vec<(usize, usize, bool)>,
    sent: Vec<Sent>,
    /// How often each position was sent.
    copies: Vec<u32>,
    stream: Stream,
}

impl Connection {
    fn new(shape: &Shape, n: u64) -> Self {
        let mut stream = Streams::new(shape.seed).stream("connection", n);
        let isn = match stream.below(4) {
            0 => u32::MAX - stream.below(9_000) as u32,
            1 => 0x8000_0000 - stream.below(9_000) as u32,
            2 => u32::MAX,
            _ => stream.next_u64() as u32,
        };
        let closes = stream.below(3) > 0;
        let responses = 1 + if shape.full { 0 } else { stream.below(3) };
        let mut bytes = Vec::new();
        let mut transfers = Vec::new();
        for r in 0..responses {
            let body = stream.below(6_000) as usize;
            let extra = if closes && r + 1 == responses {
                CLOSE
            } else {
                ""
            };
            let one = response(body, extra);
            transfers.push((bytes.len(), one.len() - body, bytes.len() + one.len()));
            bytes.extend(one);
        }
        let sender = Sender::new(10_000 + n as u16, isn, bytes);
        let len = sender.stream.len();
        let mss = 200 + stream.below(1_200) as usize;
        let places = if shape.full {
            sender.places(mss)
        } else {
            let mut cuts = vec![0];
            while *cuts.last().unwrap() < len {
                let size = if stream.below(2) == 0 {
                    mss as u64
                } else {
                    1 + stream.below(mss as u64)
                };
                cuts.push((cuts.last().unwrap() + size as usize).min(len));
            }
            cuts
        };
        let mut queue: Vec<_> = places.windows(2).map(|to| (to[0], to[1], false)).collect();
        if closes && stream.below(2) == 0 {
            queue.last_mut().unwrap().2 = true;
        } else if closes {
            queue.push((len, len, true));
        }
        if shape.reorder {
            for at in 1..queue.len() {
                if stream.below(4) == 0 {
                    queue.swap(at - 1, at);
                }
            }
        }
        queue.reverse();
        let copies = vec![0; len + 1];
        Connection {
            sender,
            transfers,
            closes,
            queue,
            sent: Vec::new(),
            copies,
            stream,
        }
    }

    fn send(&mut self, w: &mut Watched, from: usize, to: usize, fin: bool) {
        let id = w.send(&self.sender.segment(from, to, fin));
        let sent = Sent {
            id,
            from,
            to,
            fin,
            at: w.now,
        };
        for copies in &mut self.copies[from..sent.top()] {
            *copies += 1;
        }
        self.sent.push(sent);
    }

    /// Sends some bytes again that were all sent before.
    fn send_noise(&mut self, w: &mut Watched) {
        let start = self.stream.below(self.copies.len() as u64) as usize;
        let longest = 1 + self.stream.below(3_000) as usize;
        let run = self.copies[start..]
            .iter()
            .take(longest)
            .take_while(|copies| **copies > 0)
            .count();
        if run > 0 {
            let fin = start + run == self.copies.len();
            self.send(w, start, start + run - usize::from(fin), fin);
        }
    }

    /// Whether every earlier copy of some byte of packet `n` was dropped.
    fn was_needed(&self, w: &Watched, n: usize) -> bool {
        let p = &self.sent[n];
        (p.from..p.top()).any(|at| {
            let mut earlier = self.sent[..n]
                .iter()
                .filter(|e| e.touches(at, at + 1))
                .peekable();
            earlier.peek().is_some() && earlier.all(|e| w.fates[&e.id] == Some(Decision::Drop))
        })
    }

    /// Packets none of whose bytes had been sent before.
    fn first_transmissions(&self) -> Vec<Sent> {
        let mut seen = vec![false; self.copies.len()];
        let mut first = Vec::new();
        for p in &self.sent {
            if !seen[p.from..p.top()].contains(&true) {
                first.push(*p);
            }
            seen[p.from..p.top()].fill(true);
        }
        first
    }

    /// When the head of transfer `n` had been sent whole, and all heads before it.
    fn known_at(&self, n: usize) -> Time {
        let heads = self.transfers[..=n].iter().flat_map(|t| t.0..t.0 + t.1);
        heads.map(|at| self.first_copy(at)).max().unwrap()
    }

    fn first_copy(&self, at: usize) -> Time {
        self.sent.iter().find(|p| p.touches(at, at + 1)).unwrap().at
    }

    /// The first `N` data segments of a transfer from its end.
    fn tail(&self, n: usize, segments: u32) -> BTreeSet<u64> {
        let (start, _, end) = self.transfers[n];
        let mut data: Vec<Sent> = self.first_transmissions();
        data.retain(|p| p.has_data() && p.from < end && p.to > start);
        data.sort_by_key(|p| p.from);
        data.iter()
            .rev()
            .take(segments as usize)
            .map(|p| p.id)
            .collect()
    }

    /// What `sequence` promises to drop, data only.
    fn by_sequence(&self, segments: u32) -> BTreeSet<u64> {
        let mut promised = BTreeSet::new();
        let first: BTreeSet<u64> = self.first_transmissions().iter().map(|p| p.id).collect();
        let mut mss = 0;
        for p in &self.sent {
            if first.contains(&p.id) {
                mss = mss.max(p.to - p.from);
            }
            let tail = self.transfers.iter().enumerate().any(|(n, t)| {
                let touches = p.from < t.2 && p.to > t.0;
                touches && self.known_at(n) <= p.at && p.from + segments as usize * mss >= t.2
            });
            if tail && p.has_data() && segments > 0 && first.contains(&p.id) {
                promised.insert(p.id);
            }
        }
        promised
    }
}

fn run(shape: &Shape) -> (Watched, Vec<Connection>) {
    let mode = if shape.hold {
        Mode::Hold
    } else {
        Mode::Sequence
    };
    let linger = Duration::MAX;
    let mut w = Watched::new(Settings {
        linger,
        ..tail(shape.segments, mode)
    });
    let mut dice = Streams::new(shape.seed).stream("order", 0);
    let mut connections: Vec<Connection> = (0..shape.connections)
        .map(|n| Connection::new(shape, n))
        .collect();
    for c in &connections {
        w.send(&c.sender.syn_ack());
    }
    while connections.iter().any(|c| !c.queue.is_empty()) {
        let at = dice.below(shape.connections) as usize;
        let c = &mut connections[at];
        if shape.noise && dice.below(3) == 0 {
            c.send_noise(&mut w);
        } else if let Some((from, to, fin)) = c.queue.pop() {
            c.send(&mut w, from, to, fin);
        }
    }
    for c in &mut connections {
        // Everything was decided with the last first transmission. What is missing comes back in pieces
        // that begin and end anywhere.
        for p in c.sent.clone() {
            if w.fates[&p.id] != Some(Decision::Drop) {
                continue;
            }
            let mut at = p.from;
            while at < p.top() {
                let from = at.saturating_sub(dice.below(300) as usize);
                let top = (at + 1 + dice.below(2_000) as usize).min(c.copies.len());
                let fin = top == c.copies.len() && c.copies[top - 1] > 0;
                let to = if top == c.copies.len() { top - 1 } else { top };
                c.send(&mut w, from.min(to), to, fin);
                at = top;
            }
        }
        if shape.noise {
            c.send_noise(&mut w);
        }
    }
    w.finish();
    (w, connections)
}

/// Rows of one connection, in the order of its transfers.
fn rows<'a>(w: &'a Watched, c: &Connection) -> Vec<&'a Transfer> {
    let mut rows: Vec<_> = w
        .rows()
        .into_iter()
        .filter(|r| r.flow.dst_port == c.sender.port)
        .collect();
    rows.sort_by_key(|r| r.id);
    rows
}

fn check(shape: &Shape) -> Result<(), TestCaseError> {
    let (w, connections) = run(shape);
    for c in &connections {
        let dropped: BTreeSet<u64> = c
            .sent
            .iter()
            .filter(|p| w.fates[&p.id] == Some(Decision::Drop))
            .map(|p| p.id)
            .collect();

        // Whatever was sent before passes, so nothing is lost twice.
        let first = c.first_transmissions();
        let first_ids: BTreeSet<u64> = first.iter().map(|p| p.id).collect();
        prop_assert!(dropped.is_subset(&first_ids));

        let data: BTreeSet<u64> = first
            .iter()
            .filter(|p| p.has_data() && dropped.contains(&p.id))
            .map(|p| p.id)
            .collect();
        let tails: Vec<BTreeSet<u64>> = (0..c.transfers.len())
            .map(|n| c.tail(n, shape.segments))
            .collect();
        if shape.hold {
            let all: BTreeSet<u64> = tails.iter().flatten().copied().collect();
            prop_assert_eq!(&data, &all, "exactly the last N data segments");
        } else {
            prop_assert_eq!(&data, &c.by_sequence(shape.segments));
        }
        let bare = c
            .sent
            .iter()
            .find(|p| p.fin && !p.has_data() && first_ids.contains(&p.id));
        if let Some(bare) = bare.filter(|_| !shape.reorder || shape.hold) {
            prop_assert_eq!(
                dropped.contains(&bare.id),
                shape.segments > 0,
                "a bare FIN goes besides"
            );
        }

        let rows = rows(&w, c);
        prop_assert_eq!(rows.len(), c.transfers.len(), "one row a transfer");
        for (n, row) in rows.iter().enumerate() {
            check_row(shape, c, n, row, &dropped, &tails[n])?;
        }
        if !shape.hold {
            check_needs(&w, c)?;
        }
        if !shape.reorder {
            let left: Vec<u64> = w
                .left
                .iter()
                .copied()
                .filter(|id| first_ids.contains(id))
                .collect();
            let mut sorted = left.clone();
            sorted.sort_unstable();
            prop_assert_eq!(left, sorted, "what is released keeps its order");
        }
    }
    Ok(())
}

fn check_row(
    shape: &Shape,
    c: &Connection,
    n: usize,
    row: &Transfer,
    dropped: &BTreeSet<u64>,
    tail: &BTreeSet<u64>,
) -> Result<(), TestCaseError> {
    let (start, _, end) = c.transfers[n];
    let has_fin = c.closes && n + 1 == c.transfers.len();
    let top = end + usize::from(has_fin);
    let first = c.first_transmissions();
    let mine: Vec<&Sent> = first
        .iter()
        .filter(|p| p.has_data() && p.from < end && p.to > start)
        .collect();
    let lost: Vec<&Sent> = first
        .iter()
        .filter(|p| p.touches(start, top) && dropped.contains(&p.id))
        .collect();
    let lost_data: BTreeSet<u64> = lost.iter().filter(|p| p.has_data()).map(|p| p.id).collect();

    prop_assert_eq!(row.size_bytes(), (end - start) as u64);
    prop_assert_eq!(row.segments, mine.len() as u64);
    prop_assert_eq!(row.dropped_segments, lost_data.len() as u64);
    prop_assert_eq!(row.dropped_packets, lost.len() as u64);
    prop_assert!(row.complete && !row.stalled);
    prop_assert_eq!(row.exact, &lost_data == tail, "exact is never wrong");
    if shape.full && (c.transfers[n].1 <= mine[0].to - mine[0].from) && !shape.reorder {
        prop_assert!(row.exact, "full segments are exact: {:?}", row);
    }
    let head = start..start + c.transfers[n].1;
    prop_assert_eq!(Some(row.t_start), head.map(|at| c.first_copy(at)).min());
    prop_assert_eq!(row.t_drop, lost.iter().map(|p| p.at).min());

    // Every copy but the first of each position, in time.
    let again = |at: usize| {
        c.sent
            .iter()
            .filter(move |p| p.touches(at, at + 1))
            .nth(1)
            .map(|p| p.at)
    };
    let is_lost = |at: usize| lost.iter().any(|p| p.touches(at, at + 1));
    let returns: BTreeMap<usize, Time> = (start..top)
        .filter(|at| is_lost(*at))
        .map(|at| (at, again(at).unwrap()))
        .collect();
    // A transfer knows of losses before its own head was complete, not of what came back before.
    let known = c.known_at(n);
    if returns.values().all(|at| *at > known) {
        prop_assert_eq!(row.t_retransmit, returns.values().min().copied());
    }
    let whole = (start..top)
        .map(|at| {
            returns
                .get(&at)
                .copied()
                .unwrap_or_else(|| c.first_copy(at))
        })
        .max();
    // The head may be the last to come.
    prop_assert_eq!(row.t_end, whole.max(Some(known)));

    let mut seen = vec![false; c.copies.len()];
    let mut retransmissions = 0;
    for p in &c.sent {
        let old = seen[p.from..p.top()].contains(&true);
        retransmissions += u64::from(old && p.touches(start, top) && p.at > known);
        seen[p.from..p.top()].fill(true);
    }
    prop_assert_eq!(row.retransmissions, retransmissions);
    Ok(())
}

/// Every retransmission is told with the need that the account of bytes gives.
fn check_needs(w: &Watched, c: &Connection) -> Result<(), TestCaseError> {
    let told: BTreeMap<Time, Option<Need>> = w
        .carried()
        .iter()
        .filter(|r| r.flow.dst_port == c.sender.port)
        .map(|r| (r.at, r.need))
        .collect();
    let mut seen = vec![false; c.copies.len()];
    for (n, p) in c.sent.iter().enumerate() {
        let old = seen[p.from..p.top()].contains(&true);
        seen[p.from..p.top()].fill(true);
        let Some(need) = told.get(&p.at) else {
            continue;
        };
        prop_assert!(old);
        let expected = if c.was_needed(w, n) {
            Need::Needed
        } else {
            Need::Spurious
        };
        prop_assert_eq!(*need, Some(expected), "{:?}", p);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tail_and_nothing_else_is_dropped_once(shape in shapes()) {
        check(&shape)?;
    }
}

/// Payloads that begin, continue, break and end responses.
const PIECES: &[&[u8]] = &[
    b"",
    b"x",
    b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 304 N\r\n\r\n",
    b"HTTP/1.1 200 O",
    b"K\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 ",
    b"aaaaaaaaaaaaaaaaaaaa",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_sent_gets_one_decision_each(
        n in 0u32..5,
        hold in any::<bool>(),
        linger in prop_oneof![Just(Duration::ZERO), Just(Duration::from_millis(1)), Just(Duration::MAX)],
        packets in proptest::collection::vec(
            (0u16..3, prop_oneof![0u32..120, Just(0x7fff_fff0), Just(0x8000_0010), any::<u32>()],
             prop_oneof![4 => Just(0x10u8), 1 => Just(0x11u8), 1 => Just(0x12u8), 1 => Just(0x04u8), 1 => any::<u8>()],
             0..PIECES.len(), 0u64..2_000_000_000),
            0..60),
    ) {
        let mode = if hold { Mode::Hold } else { Mode::Sequence };
        let mut w = Watched::new(Settings { linger, max_flows: 2, ..tail(n, mode) });
        for (port, seq, flags, piece, wait) in packets {
            w.send(&packet(port, seq.wrapping_sub(50), flags, &[], PIECES[piece]));
            if wait % 7 == 0 {
                w.wait(Duration::from_nanos(wait as i64));
            }
        }
        w.finish();
        let begun = w.rule.counters().transfers;
        prop_assert_eq!(w.rows().len() as u64, begun, "one row a transfer");
        prop_assert_eq!(w.dropped_ids().len() as u64, w.rule.counters().dropped);
        if n == 0 {
            prop_assert_eq!(w.rule.counters().dropped, 0);
        }
    }
}
