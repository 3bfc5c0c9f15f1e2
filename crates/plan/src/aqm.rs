//! Active queue management of a link.

use anyhow::{bail, Result};
use serde::Deserialize;

use crate::check::LONGEST_NS;

/// Who drops, or marks, packets of a queue that is not full.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Aqm {
    /// RFC 8289.
    Codel(Codel),
    /// RFC 8290: a queue for each flow, each with CoDel, in turn.
    FqCodel(FqCodel),
    /// RFC 8033.
    Pie(Pie),
    /// Floyd and Jacobson 1993, gentle.
    Red(Red),
}

/// CoDel's parameters (RFC 8289 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codel {
    /// A wait that is acceptable (TARGET).
    pub target_ns: u64,
    /// How long it may be exceeded (INTERVAL).
    pub interval_ns: u64,
    /// Packets that may be are marked in place of dropped.
    pub ecn: bool,
}

/// Those of CoDel in each flow's queue, and what a flow may send in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCodel {
    /// As [`Codel::target_ns`].
    pub target_ns: u64,
    /// As [`Codel::interval_ns`].
    pub interval_ns: u64,
    /// As [`Codel::ecn`].
    pub ecn: bool,
    /// Bytes of frames in a turn (RFC 8290 §5.2.4).
    pub quantum_bytes: u32,
}

/// PIE's parameters (RFC 8033 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// The wait that it aims at (QDELAY_REF).
    pub target_ns: u64,
    /// How often the probability is reckoned anew (T_UPDATE).
    pub update_ns: u64,
    /// Packets that may be are marked in place of dropped, up to a probability of a tenth (§5.1).
    pub ecn: bool,
}

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Mean length of the queue, packets, from which on packets are dropped (min_th).
    pub least_packets: u32,
    /// At which the share of them is `most` (max_th); at twice that length it is all.
    pub most_packets: u32,
    /// Share that is dropped there (max_p).
    pub most: f64,
    /// Weight of each packet's look at the queue in the mean (w_q).
    pub weight: f64,
    /// Packets that may be are marked in place of dropped.
    pub ecn: bool,
}

/// PIE's probability is reckoned no more often, nanoseconds: it is at every one of them.
const LEAST_UPDATE_NS: u64 = 100_000;

impl Aqm {
    /// Whether its parameters can be reckoned with.
    pub(crate) fn check(&self) -> Result<()> {
        let times_ns = match self {
            Aqm::Codel(one) => [one.target_ns, one.interval_ns],
            Aqm::FqCodel(one) => [one.target_ns, one.interval_ns],
            Aqm::Pie(one) => [one.target_ns, one.update_ns],
            Aqm::Red(_) => [1; 2],
        };
        if times_ns.iter().any(|time| !(1..=LONGEST_NS).contains(time)) {
            bail!("aqm: {times_ns:?}: must be 1 to {LONGEST_NS}");
        }
        let goes_on = match self {
            Aqm::Codel(_) => true,
            Aqm::FqCodel(one) => one.quantum_bytes > 0,
            Aqm::Pie(one) => one.update_ns >= LEAST_UPDATE_NS,
            Aqm::Red(one) => {
                let shares = [one.most, one.weight];
                one.least_packets < one.most_packets
                    && shares.iter().all(|share| (0.0..=1.0).contains(share))
            }
        };
        if !goes_on {
            bail!("{self:?}: out of bounds");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn what_cannot_be_reckoned_with_is_refused() {
        let codel = |interval_ns: u64| json!({"kind": "codel", "target_ns": 1, "interval_ns": interval_ns, "ecn": false});
        let fair = |quantum: u32| json!({"kind": "fq_codel", "target_ns": 1, "interval_ns": 1, "quantum_bytes": quantum, "ecn": true});
        let pie = |update_ns: u64| json!({"kind": "pie", "target_ns": 1, "update_ns": update_ns, "ecn": false});
        let red = |most: f64, packets: u32| json!({"kind": "red", "least_packets": 5, "most_packets": packets, "most": most, "weight": 0.1, "ecn": false});
        for (good, bad) in [
            (codel(1), vec![codel(0), codel(u64::MAX)]),
            (fair(1), vec![fair(0)]),
            (pie(LEAST_UPDATE_NS), vec![pie(0), pie(99_999)]),
            (red(1.0, 6), vec![red(1.1, 6), red(0.1, 5)]),
        ] {
            from_value::<Aqm>(good).unwrap().check().unwrap();
            for bad in bad {
                assert!(
                    from_value::<Aqm>(bad.clone()).unwrap().check().is_err(),
                    "{bad}"
                );
            }
        }
        assert!(from_value::<Aqm>(json!({"kind": "cake"})).is_err());
        let mut more = codel(1);
        more["quantum_bytes"] = json!(1);
        assert!(from_value::<Aqm>(more).is_err());
    }
}
