//! A token bucket on the path, by when it drops (Flach et al., *An Internet-wide analysis of traffic policing*, SIGCOMM 2016,
//! §3): it fills at a constant rate up to its depth, lets pass what finds tokens, and drops the rest without a queue.
//!
//! What acknowledgements say to have arrived had passed. From that and a rate follows how much of a bucket is used up at each
//! moment, as the length of a queue that nobody waits in. The bucket was full when the connection began, and is empty whenever
//! it drops: the first loss tells its depth, and every other loss is a test. It is a policer if losses come when the bucket is
//! empty, though much passes when it is not, and if nobody waited as in a queue of that depth.

use rexmit_time::{Duration, Time};
use rexmit_wire::{Intervals, SeqNum, SeqRange};

/// Moments at which something passed, and losses, that are remembered.
const MOST: usize = 1 << 12;
/// So many bytes from a line lies what is on it.
const NEAR: f64 = 1_000.0;
const MOST_LOSSES: usize = 1 << 8;
/// Gaps in what arrived that are remembered at a time.
const MOST_GAPS: usize = 1 << 10;
/// So many times the bucket was left to fill up, and was empty when something was lost again, at least.
const RETURNS: usize = 3;
/// So often tells it, however much passes while it is empty.
const MANY: usize = 6;
/// Of the losses, the part that finds the bucket empty, at least, in tenths; and of what passed, the part that found no token.
const HITS: usize = 8;
const OVER: f64 = 0.1;
/// A bucket that has no more than so many full segments left is empty: one that does not fit, and one more that an acknowledgement
/// waits for, at both ends of the time between two losses.
const SEGMENTS: u32 = 4;
/// Of the losses, the part before which packets queued for a quarter of what they would have in a queue, at most: one of so many.
const QUEUED: usize = 3;
const QUEUE: f64 = 0.25;
/// By chance, losses come like that in one connection of so many.
const CHANCE: f64 = 1e4;
/// Rates that are tried of those between losses that are so far apart, and how often each is made more exact.
const RATES: usize = 8;
const AGAIN: usize = 3;

/// What is known of the path when something was lost: how long packets queue, and how long a round trip takes at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub queue: Duration,
    pub trip: Duration,
}

/// What is known of a direction.
#[derive(Debug, Default)]
pub(super) struct Policer {
    /// All before has arrived, and so many bytes before.
    edge: Option<SeqNum>,
    acked: i64,
    /// What has arrived beyond, by places in bytes, and how much that is.
    beyond: Intervals<i64>,
    sacked: i64,
    last: Option<Pass>,
    /// When the highest of it arrived.
    top: Option<(i64, Pass)>,
    passes: Vec<Pass>,
    /// At most one a round trip.
    losses: Vec<Loss>,
}

/// So many bytes had passed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    at: Time,
    bytes: i64,
}

/// What passed last before something was lost, and how long packets had queued.
#[derive(Clone, Copy, Debug)]
struct Loss {
    after: Pass,
    queue: Duration,
}

impl Policer {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        let mut passes = core::mem::take(&mut self.passes);
        let mut losses = core::mem::take(&mut self.losses);
        passes.clear();
        losses.clear();
        *self = Policer {
            passes,
            losses,
            ..Policer::default()
        };
    }

    /// Up to where all was acknowledged.
    pub fn acked_to(&self) -> Option<SeqNum> {
        self.edge
    }

    /// All below `ack` has arrived, and these blocks of what was sent up to `nxt`.
    #[inline]
    pub fn acked(&mut self, at: Time, ack: SeqNum, sacks: &[SeqRange], nxt: SeqNum, path: Path) {
        let edge = *self.edge.get_or_insert(ack);
        let ahead = i64::from(ack.offset_from(edge));
        if ahead < 0 || (ahead == 0 && sacks.is_empty() && self.last.is_some()) {
            return;
        }
        if ahead > 0 {
            self.edge = Some(ack);
            self.advance(self.acked + ahead);
        }
        if !sacks.is_empty() && self.sack(ack, sacks, nxt) {
            self.loses(path);
        }
        let bytes = self.acked + self.sacked;
        self.pass(Pass { at, bytes });
        let highest = self.highest();
        if let Some(last) = self
            .last
            .filter(|_| self.top.is_none_or(|top| top.0 < highest))
        {
            self.top = Some((highest, last));
        }
    }

    fn highest(&self) -> i64 {
        self.beyond.highest().unwrap_or(self.acked).max(self.acked)
    }

    /// Something is sent again, for the first time since all was repaired.
    pub fn again(&mut self, path: Path) {
        // Else what arrived beyond has told it.
        if self.beyond.is_empty() {
            self.loses(path);
        }
    }

    fn advance(&mut self, to: i64) {
        if self.sacked > 0 {
            let within = self.beyond.within(self.acked, to);
            self.sacked -= within.map(|(from, end)| end.min(to) - from).sum::<i64>();
            self.beyond.forget_below(to);
        }
        self.acked = to;
    }

    /// Whether one of these blocks lies beyond all that had arrived, behind a gap.
    fn sack(&mut self, ack: SeqNum, sacks: &[SeqRange], nxt: SeqNum) -> bool {
        let highest = self.highest();
        let mut missing = false;
        for block in sacks {
            // RFC 2883: one that is not beyond tells of what came twice.
            if !block.start.is_after(ack) || block.end.is_after(nxt) || block.is_empty() {
                continue;
            }
            let start = self.acked + i64::from(block.start.offset_from(ack));
            let sacked = &mut self.sacked;
            if self.beyond.len() < MOST_GAPS {
                let end = start + i64::from(block.len());
                self.beyond
                    .insert(start, end, |from, to| *sacked += to - from);
                missing |= start > highest;
            }
        }
        missing
    }

    fn pass(&mut self, pass: Pass) {
        if self
            .last
            .is_some_and(|last| pass.bytes <= last.bytes || pass.at < last.at)
        {
            return;
        }
        self.last = Some(pass);
        if self.passes.len() < MOST {
            self.passes.push(pass);
            if self.passes.len() == MOST {
                self.thin();
            }
        }
    }

    /// Forgets what lies on the line between those before and behind it. If most do not, no more is remembered.
    fn thin(&mut self) {
        let Some((mut last, mut kept)) = self.passes.first().map(|first| (*first, 1)) else {
            return;
        };
        for place in 1..self.passes.len() {
            let pass = self.passes[place];
            let off = self.passes.get(place + 1).map_or(f64::MAX, |next| {
                let passed = rate(last, *next) * seconds(last, pass);
                (passed - (pass.bytes - last.bytes) as f64).abs()
            });
            if off > NEAR {
                self.passes[kept] = pass;
                (last, kept) = (pass, kept + 1);
            }
        }
        if kept < MOST / 4 * 3 {
            self.passes.truncate(kept);
        }
    }

    /// Something was lost behind the highest that passed. If all that followed was lost as well, that is known late.
    fn loses(&mut self, path: Path) {
        let Some((_, after)) = self.top else { return };
        let apart =
            |last: &Loss| last.after.bytes < after.bytes && last.after.at + path.trip <= after.at;
        let known = self.losses.len() < MOST_LOSSES && self.passes.len() < MOST;
        if known && self.losses.last().is_none_or(apart) {
            let queue = path.queue;
            self.losses.push(Loss { after, queue });
        }
    }

    /// Since when a bucket held the sender up, if one did.
    pub fn found(&self, mss: u32) -> Option<Time> {
        let first = self.losses.first()?;
        let (best, tried) = self.best(mss)?;
        let likely = best.returns >= MANY || best.evidence > (CHANCE * tried as f64).ln();
        (likely && best.fits()).then_some(first.after.at)
    }

    /// The rate that losses fit best, of so many that were tried.
    fn best(&self, mss: u32) -> Option<(Fit, usize)> {
        if self.losses.len() <= RETURNS {
            return None;
        }
        let (mut best, mut tried) = (Fit::default(), 0);
        for mut rate in self.rates() {
            // By what passed between the losses that fit, it is known better.
            for _ in 0..AGAIN {
                let fit = self.fit(rate, mss);
                tried += 1;
                let known = fit.rate;
                if fit.evidence > best.evidence {
                    best = fit;
                }
                match known {
                    Some(known) if known != rate => rate = known,
                    _ => break,
                }
            }
        }
        Some((best, tried))
    }

    /// Rates at which the bucket may fill up, in bytes a second: what passed between two losses, near ones and far ones.
    fn rates(&self) -> Vec<f64> {
        let mut all = Vec::new();
        let strides = core::iter::successors(Some(1), |stride| Some(stride * 2));
        for stride in strides.take_while(|stride| *stride < self.losses.len()) {
            let pairs = self.losses.iter().zip(&self.losses[stride..]);
            let mut rates: Vec<f64> = pairs.map(|(one, two)| rate(one.after, two.after)).collect();
            rates.sort_unstable_by(f64::total_cmp);
            let step = rates.len().div_ceil(RATES);
            all.extend(rates.into_iter().rev().step_by(step));
        }
        all
    }

    /// How losses come if a bucket fills up at this rate.
    fn fit(&self, rate: f64, mss: u32) -> Fit {
        let mut fit = Fit::default();
        let mut passes = self.passes.iter().copied().peekable();
        let begun = Pass {
            at: Time::ZERO,
            bytes: 0,
        };
        let mut bucket = Bucket {
            rate,
            last: passes.peek().copied().unwrap_or(begun),
            used: 0.0,
            full: false,
        };
        let (mut depth, mut slack) = (0.0, 0.0);
        // Whether it has filled up since it was empty, and what passed meanwhile.
        let (mut left, mut begun) = (false, bucket.last);
        let (mut exact, mut length) = (0.0, 0.0);
        for (number, loss) in self.losses.iter().enumerate() {
            let mut more = true;
            while more {
                let pass = passes.next_if(|pass| pass.bytes < loss.after.bytes);
                let took = bucket.take(pass.unwrap_or(loss.after));
                if number > 0 {
                    let counts = |is: bool| if is { took } else { 0.0 };
                    fit.passed += took;
                    fit.empty += counts(bucket.used >= depth - slack);
                    fit.over += counts(bucket.used > depth + slack);
                    left |= bucket.used < depth - slack;
                }
                more = pass.is_some();
            }
            if number == 0 {
                depth = bucket.used;
                slack = f64::from(mss * SEGMENTS);
                fit.deep = depth >= 2.0 * slack;
            } else {
                let hit = (bucket.used - depth).abs() <= slack;
                fit.losses += 1;
                fit.hits += usize::from(hit);
                fit.returns += usize::from(hit && left);
                if hit && !bucket.full {
                    exact += (loss.after.bytes - begun.bytes) as f64;
                    length += seconds(begun, loss.after);
                }
            }
            let queue = loss.queue.as_secs_f64() * rate;
            fit.queued += usize::from(queue > (depth * QUEUE).max(slack));
            if bucket.used >= depth - slack {
                (bucket.used, left) = (depth, false);
            }
            (bucket.full, begun) = (false, loss.after);
        }
        fit.rate = (length > 0.0).then(|| exact / length);
        fit.evidence = fit.evidence();
        fit
    }
}

/// A bucket that fills up at a rate, and how much of it is used up.
struct Bucket {
    rate: f64,
    last: Pass,
    used: f64,
    /// It has been full.
    full: bool,
}

impl Bucket {
    /// So much has passed by then, evenly: how much more than before.
    fn take(&mut self, pass: Pass) -> f64 {
        let more = (pass.bytes - self.last.bytes) as f64;
        self.used += more - self.rate * seconds(self.last, pass);
        self.full |= self.used < 0.0;
        self.used = self.used.max(0.0);
        self.last = pass;
        more
    }
}

/// How losses come if there is a bucket.
#[derive(Debug, Default)]
struct Fit {
    /// Losses after the first, those that find it empty, and those of them before which it had filled up.
    losses: usize,
    hits: usize,
    returns: usize,
    /// Losses before which packets queued.
    queued: usize,
    /// What passed since the first: all, while it was empty, and more than there were tokens for.
    passed: f64,
    empty: f64,
    over: f64,
    /// It holds more than is told from none.
    deep: bool,
    /// By how much losses are no chance, as the logarithm of one of so many.
    evidence: f64,
    /// The rate between the losses that find it empty.
    rate: Option<f64>,
}

impl Fit {
    /// Losses by chance come whenever anything passes. Of the losses one has told the rate. As many as these or more then find
    /// the bucket empty with at most this probability (Chernoff).
    fn evidence(&self) -> f64 {
        let (losses, hits) = (self.losses.saturating_sub(1), self.hits.saturating_sub(1));
        let chance = self.empty / self.passed.max(1.0);
        let part = hits as f64 / losses.max(1) as f64;
        if hits == 0 || part <= chance {
            return 0.0;
        }
        let more = |part: f64, chance: f64| {
            if part > 0.0 {
                part * (part / chance).ln()
            } else {
                0.0
            }
        };
        losses as f64 * (more(part, chance) + more(1.0 - part, 1.0 - chance))
    }

    fn fits(&self) -> bool {
        let hits = self.hits * 10 >= self.losses * HITS;
        let queued = self.queued * QUEUED <= self.losses + 1;
        let over = self.over <= self.passed * OVER;
        self.deep && hits && over && queued && self.returns >= RETURNS
    }
}

fn seconds(from: Pass, to: Pass) -> f64 {
    to.at.since(from.at).as_secs_f64().max(0.0)
}

/// Bytes a second between the two.
fn rate(from: Pass, to: Pass) -> f64 {
    (to.bytes - from.bytes) as f64 / seconds(from, to).max(1e-9)
}

#[cfg(test)]
mod tests {
    use rexmit_time::Streams;

    use super::*;

    const MSS: u32 = 1_000;
    const QUIET: Path = Path {
        queue: Duration::ZERO,
        trip: Duration::from_millis(20),
    };

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// What a bucket of 64 segments lets pass that gets one in 2 ms: bursts of segments 0.1 ms apart, the first of which comes
    /// so many milliseconds after the one before. `cut`: it is no bucket, and loses what comes after so many.
    fn of(bursts: &[(u64, u32)], cut: &[u32], path: Path) -> Policer {
        let (mut policer, mut us, mut ack) = (Policer::default(), 0, 0);
        let (mut tokens, mut since) = (64_000_u64, 0);
        let mut cut = cut.iter();
        for (wait_ms, segments) in bursts {
            us += wait_ms * 1_000;
            let most = cut.next();
            for number in 0..*segments {
                tokens = (tokens + (us - since) / 2).min(64_000);
                since = us;
                let passes = most.map_or(tokens >= 1_000, |most| number < *most);
                if !passes {
                    policer.again(path);
                    break;
                }
                tokens = tokens.saturating_sub(1_000);
                ack += MSS;
                policer.acked(at(us), SeqNum::new(ack), &[], SeqNum::new(ack), path);
                us += 100;
            }
        }
        policer
    }

    /// After some waits it is full, after others not.
    const BURSTS: [(u64, u32); 12] = [
        (50, 100),
        (60, 50),
        (300, 90),
        (40, 30),
        (90, 80),
        (20, 10),
        (20, 8),
        (400, 200),
        (70, 60),
        (100, 70),
        (30, 40),
        (200, 150),
    ];

    #[test]
    fn losses_whenever_a_bucket_is_empty_are_a_policers() {
        let policer = of(&BURSTS, &[], QUIET);
        assert_eq!(policer.found(MSS), Some(policer.losses[0].after.at));
        // One that has not been tried often enough.
        assert_eq!(of(&BURSTS[..4], &[], QUIET).found(MSS), None);
        // Packets waited as long as in a queue of 64 segments.
        let queue = Duration::from_millis(128);
        assert_eq!(of(&BURSTS, &[], Path { queue, ..QUIET }).found(MSS), None);
        assert_eq!(Policer::default().found(MSS), None);
    }

    #[test]
    fn losses_at_any_time_are_not() {
        for seed in 0..200 {
            let mut random = Streams::new(seed).stream("cuts", 0);
            let cuts = BURSTS.map(|(_, most)| 1 + random.below(most.into()) as u32);
            assert_eq!(of(&BURSTS, &cuts, QUIET).found(MSS), None, "{seed}");
        }
    }

    #[test]
    fn a_bucket_that_is_never_left_to_fill_up_is_not_told_from_chance() {
        let steady = [(2, 2); 100];
        assert_eq!(of(&steady, &[], QUIET).found(MSS), None);
    }

    #[test]
    fn what_arrives_beyond_a_gap_has_passed_once() {
        let mut policer = Policer::default();
        let number = SeqNum::new;
        let block = |start: u32, end: u32| SeqRange {
            start: number(start),
            end: number(end),
        };
        let nxt = number(9_000);
        policer.acked(at(0), number(1_000), &[], nxt, QUIET);
        policer.acked(at(1), number(2_000), &[], nxt, QUIET);
        policer.acked(at(2), number(2_000), &[block(3_000, 4_000)], nxt, QUIET);
        // A D-SACK, and what was not sent.
        let more = [block(500, 1_000), block(3_000, 5_000), block(9_000, 9_500)];
        policer.acked(at(3), number(2_000), &more, nxt, QUIET);
        policer.acked(at(4), number(5_000), &[], nxt, QUIET);
        policer.acked(at(5), number(4_000), &[], nxt, QUIET);
        let passes: Vec<_> = policer.passes.iter().map(|pass| pass.bytes).collect();
        assert_eq!(passes, [0, 1_000, 2_000, 3_000, 4_000]);
        let losses: Vec<_> = policer.losses.iter().map(|loss| loss.after).collect();
        assert_eq!(losses, [policer.passes[1]]);
    }

    #[test]
    fn of_many_passes_some_are_remembered() {
        let mut policer = Policer::default();
        for number in 0..100_000_u32 {
            let ack = SeqNum::new(number * MSS);
            policer.acked(at(number.into()), ack, &[], ack, QUIET);
        }
        // They lie on a line.
        assert!(policer.passes.len() < MOST);
        assert_eq!(policer.last.map(|last| last.bytes), Some(99_999_000));
    }
}
