//! How a cell's bursts fall to the paths without loss.

use rexmit_loss::Totals;

/// What connections without loss have shown: at first the cell's rehearsal, then more where it was not met.
pub struct Rehearsals {
    /// Packets of new data by burst and path, and how often it was these.
    seen: Vec<(Totals, u32)>,
}

impl Rehearsals {
    /// After one rehearsal.
    pub fn new(totals: Totals) -> Self {
        Self {
            seen: vec![(totals, 1)],
        }
    }

    /// One more connection without loss.
    pub fn add(&mut self, totals: &Totals) {
        match self.seen.iter_mut().find(|(known, _)| known == totals) {
            Some((_, times)) => *times += 1,
            None => self.seen.push((totals.clone(), 1)),
        }
    }

    /// What was seen most often; of several the first.
    pub fn likeliest(&self) -> &Totals {
        let mut seen = self.seen.iter();
        let mut best = seen.next().expect("there is one from the start");
        for other in seen {
            if other.1 > best.1 {
                best = other;
            }
        }
        &best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_is_what_was_seen_most_often() {
        let [a, b] = [[41, 39], [10, 70]].map(|packets| Totals::new(vec![packets.to_vec()]));
        let mut rehearsals = Rehearsals::new(a.clone());
        rehearsals.add(&b);
        assert_eq!(rehearsals.likeliest(), &a);
        rehearsals.add(&b);
        assert_eq!(rehearsals.likeliest(), &b);
    }
}
