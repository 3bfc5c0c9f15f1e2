//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 78,815 rows of t612-101, t61-102, synth-103, t612-104, t61-105, synth-106
//! (`scripts/fit-confidence` says how these corpora are made).

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-0.553, -0.493, 0.395, 0.212],
    slope: [0.815, 0.472, 0.365, 0.300],
    shown: [0.259, 0.240],
    mechanisms: &[
        ("early-retransmit", [0.235, 0.218]),
        ("fack", [0.547, -0.425]),
        ("fast-retransmit", [1.870, 0.947]),
        ("rack", [-2.309, -0.702]),
        ("rto", [-0.558, -0.254]),
        ("rto-recovery", [-2.423, -0.958]),
        ("sack-recovery", [1.372, 0.263]),
        ("tlp", [0.713, 1.024]),
    ],
    evidence: &[
        ("ack-lost", [0.121, 0.337]),
        ("ack-too-early", [0.264, 0.645]),
        ("already-acked", [-0.320, -0.238]),
        ("dsack", [-1.665, -0.635]),
        ("duplicate-answered", [0.520, -0.194]),
        ("frto", [0.988, 0.713]),
        ("hole-filled", [-0.387, -0.203]),
        ("none", [0.015, 0.003]),
        ("original-seen", [0.000, -0.384]),
        ("original-unseen", [-0.811, -0.670]),
        ("timestamp", [0.722, 0.740]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.619, 2.188, 2.302, -0.292],
    slope: [-0.206, -0.153, -0.128, 0.069],
    shown: [2.236, 1.760],
    mechanisms: &[
        ("early-retransmit", [0.066, 0.277]),
        ("fack", [0.221, 0.709]),
        ("fast-retransmit", [2.077, 1.410]),
        ("rack", [0.503, 0.258]),
        ("rto", [-0.998, -0.352]),
        ("rto-recovery", [0.228, -0.440]),
        ("sack-recovery", [1.214, 1.901]),
        ("tlp", [-0.694, 0.435]),
    ],
    evidence: &[
        ("ack-lost", [-1.164, -0.106]),
        ("ack-too-early", [0.758, 0.375]),
        ("already-acked", [0.948, 1.342]),
        ("dsack", [2.089, 0.901]),
        ("duplicate-answered", [-0.314, -0.422]),
        ("frto", [-0.171, 0.786]),
        ("hole-filled", [-0.652, -0.535]),
        ("none", [-0.274, -0.315]),
        ("original-seen", [0.000, 0.178]),
        ("original-unseen", [0.383, 1.653]),
        ("timestamp", [1.016, 0.341]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.183, 2.075, 2.664, 0.004],
    slope: [0.600, -0.065, -0.102, -0.084],
    shown: [2.271, 3.035],
    mechanisms: &[
        ("early-retransmit", [0.006, 0.227]),
        ("fack", [0.076, 0.624]),
        ("fast-retransmit", [0.348, 1.314]),
        ("rack", [0.604, 0.132]),
        ("rto", [-0.389, -0.126]),
        ("rto-recovery", [-0.317, -0.689]),
        ("sack-recovery", [0.723, 2.377]),
        ("tlp", [0.132, 0.884]),
    ],
    evidence: &[
        ("ack-lost", [0.010, 0.130]),
        ("ack-too-early", [0.112, -0.205]),
        ("already-acked", [0.015, 0.129]),
        ("dsack", [0.286, 0.877]),
        ("duplicate-answered", [-0.241, -0.092]),
        ("frto", [0.043, 0.353]),
        ("hole-filled", [1.003, 1.184]),
        ("none", [0.000, 0.001]),
        ("original-seen", [0.000, 0.175]),
        ("original-unseen", [-1.088, 1.216]),
        ("timestamp", [1.043, 0.975]),
    ],
};
