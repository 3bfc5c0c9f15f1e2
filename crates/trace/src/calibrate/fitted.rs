//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 76,023 rows of synth-103, synth-106, t61-102, t61-105, t612-101, t612-104
//! (`scripts/fit-confidence` says how these corpora are made).

#![allow(clippy::approx_constant, reason = "a weight may be near one by chance")]

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-1.029, -0.267, 0.228, 0.085],
    slope: [0.951, 0.563, 0.450, 0.675],
    shown: [-0.276, 0.243],
    disordered: [0.231, -0.234],
    mechanisms: &[
        ("early-retransmit", [0.008, -0.074]),
        ("fack", [0.036, -0.182]),
        ("fast-retransmit", [1.496, 0.507]),
        ("rack", [-2.128, -0.349]),
        ("rto", [-0.415, -0.145]),
        ("rto-recovery", [-0.262, -1.654]),
        ("sack-recovery", [-0.432, 1.330]),
        ("tlp", [0.668, 0.612]),
    ],
    evidence: &[
        ("ack-lost", [0.268, 0.176]),
        ("ack-too-early", [-1.298, 0.638]),
        ("already-acked", [0.298, 0.060]),
        ("dsack", [-1.404, 0.338]),
        ("duplicate-answered", [0.511, -0.476]),
        ("frto", [0.131, 0.900]),
        ("hole-filled", [-0.179, -0.940]),
        ("none", [0.002, 0.002]),
        ("not-accepted", [0.057, 0.000]),
        ("original-seen", [0.000, -0.325]),
        ("original-unseen", [-0.753, -0.368]),
        ("timestamp", [1.337, 0.040]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.342, 1.841, 2.209, 0.021],
    slope: [-0.013, -0.023, -0.067, 0.158],
    shown: [1.782, 1.730],
    disordered: [-0.301, -0.161],
    mechanisms: &[
        ("early-retransmit", [0.080, 0.224]),
        ("fack", [0.414, 0.796]),
        ("fast-retransmit", [2.166, 1.198]),
        ("rack", [1.573, 0.604]),
        ("rto", [-1.415, -0.429]),
        ("rto-recovery", [-0.714, -0.449]),
        ("sack-recovery", [1.653, 2.137]),
        ("tlp", [-1.414, -0.009]),
    ],
    evidence: &[
        ("ack-lost", [-1.615, -0.349]),
        ("ack-too-early", [0.338, -0.161]),
        ("already-acked", [0.806, 2.018]),
        ("dsack", [2.055, 0.757]),
        ("duplicate-answered", [-0.466, -0.642]),
        ("frto", [0.748, 0.691]),
        ("hole-filled", [-1.235, -0.858]),
        ("none", [-0.273, -0.318]),
        ("not-accepted", [0.190, 0.000]),
        ("original-seen", [0.000, -0.054]),
        ("original-unseen", [0.561, 1.980]),
        ("timestamp", [1.233, 1.008]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.116, 1.873, 2.777, 0.029],
    slope: [1.219, 0.070, -0.049, 0.228],
    shown: [1.380, 3.198],
    disordered: [-0.300, -0.148],
    mechanisms: &[
        ("early-retransmit", [0.000, 0.175]),
        ("fack", [0.003, 0.641]),
        ("fast-retransmit", [0.263, 1.005]),
        ("rack", [0.296, 0.512]),
        ("rto", [0.120, 0.438]),
        ("rto-recovery", [0.040, -0.619]),
        ("sack-recovery", [0.384, 2.136]),
        ("tlp", [0.010, 0.390]),
    ],
    evidence: &[
        ("ack-lost", [0.008, 0.036]),
        ("ack-too-early", [0.006, -0.400]),
        ("already-acked", [0.000, 0.605]),
        ("dsack", [0.026, 0.444]),
        ("duplicate-answered", [0.002, -0.286]),
        ("frto", [0.000, 0.207]),
        ("hole-filled", [0.333, 0.993]),
        ("none", [0.000, 0.001]),
        ("original-seen", [0.000, 0.433]),
        ("original-unseen", [-0.263, 1.295]),
        ("timestamp", [1.004, 1.349]),
    ],
};
