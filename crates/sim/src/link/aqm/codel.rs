//! CoDel (RFC 8289): packets are dropped as they leave, once each of an interval has waited for longer than the target, and then
//! ever faster, until one has not.

use rexmit_plan::Codel as Parameters;
use rexmit_time::{Duration, Time};

use super::{Counters, Item, Line};

/// CoDel's state of one line (RFC 8289 §5.2).
#[derive(Debug)]
pub(super) struct Codel {
    target: Duration,
    interval: Duration,
    ecn: bool,
    /// When a wait above the target will have lasted for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since dropping began.
    count: u32,
    /// The same as it began last.
    last_count: u32,
    /// The largest frame so far: of so little waiting nothing is dropped.
    largest: u32,
}

impl Codel {
    pub fn new(with: Parameters) -> Self {
        Self {
            target: Duration::from_unsigned_nanos(with.target_ns),
            interval: Duration::from_unsigned_nanos(with.interval_ns),
            ecn: with.ecn,
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            largest: 0,
        }
    }

    /// The packet that leaves `line` at `now` (RFC 8289 §5.5, `deque`). One that is marked in place of dropped leaves; the
    /// next drop is due as after one.
    pub fn pop<P>(
        &mut self,
        now: Time,
        line: &mut Line<P>,
        counters: &mut Counters,
    ) -> Option<Item<P>> {
        let (mut item, mut may_drop) = self.look(now, line)?;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if item.mark(self.ecn, counters) {
                    self.drop_next = self.after(self.drop_next);
                    break;
                }
                counters.dropped += 1;
                (item, may_drop) = self.look(now, line)?;
                if may_drop {
                    self.drop_next = self.after(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            self.dropping = true;
            // Not long after it went below the target the rate that did it is where to begin.
            let delta = self.count - self.last_count;
            let recent = now.since(self.drop_next) < self.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = self.after(now);
            if !item.mark(self.ecn, counters) {
                counters.dropped += 1;
                item = self.look(now, line)?.0;
            }
        }
        Some(item)
    }

    /// The control law (RFC 8289 §5.3).
    fn after(&self, time: Time) -> Time {
        let nanos = self.interval.as_nanos() as f64 / f64::from(self.count).sqrt();
        time + Duration::from_nanos(nanos as i64)
    }

    /// Takes the next packet, and whether it may be dropped (`dodequeue`); with nothing left CoDel begins anew.
    fn look<P>(&mut self, now: Time, line: &mut Line<P>) -> Option<(Item<P>, bool)> {
        let Some(item) = line.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.largest = self.largest.max(item.frame.bytes);
        if now.since(item.entered) < self.target || line.bytes <= u64::from(self.largest) {
            self.first_above = None;
            return Some((item, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                Some((item, false))
            }
            Some(first_above) => Some((item, now >= first_above)),
        }
    }
}
