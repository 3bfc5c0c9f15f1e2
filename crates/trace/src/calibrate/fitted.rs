//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 78,774 rows of synth-103, synth-106, t61-102, t61-105, t612-101, t612-104
//! (`scripts/fit-confidence` says how these corpora are made).

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-0.638, -0.357, 0.761, -0.118],
    slope: [0.814, 0.471, 0.339, 0.464],
    shown: [0.236, 0.272],
    mechanisms: &[
        ("early-retransmit", [0.102, 0.346]),
        ("fack", [0.618, 0.092]),
        ("fast-retransmit", [1.539, 0.507]),
        ("rack", [-2.101, -0.931]),
        ("rto", [-0.173, -0.213]),
        ("rto-recovery", [-2.317, -1.285]),
        ("sack-recovery", [0.909, 0.592]),
        ("tlp", [0.785, 1.178]),
    ],
    evidence: &[
        ("ack-lost", [0.110, 0.293]),
        ("ack-too-early", [0.355, 1.148]),
        ("already-acked", [-0.430, -0.273]),
        ("dsack", [-1.753, -1.306]),
        ("duplicate-answered", [0.638, -0.085]),
        ("frto", [0.991, 0.746]),
        ("hole-filled", [-0.446, 0.168]),
        ("none", [0.015, 0.003]),
        ("not-accepted", [0.024, 0.000]),
        ("original-seen", [0.000, -0.685]),
        ("original-unseen", [-0.874, -0.523]),
        ("timestamp", [0.734, 0.800]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.633, 1.963, 2.295, -0.213],
    slope: [-0.204, -0.104, -0.100, 0.149],
    shown: [2.245, 1.777],
    mechanisms: &[
        ("early-retransmit", [0.075, 0.315]),
        ("fack", [0.306, 0.632]),
        ("fast-retransmit", [2.088, 1.430]),
        ("rack", [0.464, 0.214]),
        ("rto", [-1.026, -0.214]),
        ("rto-recovery", [0.201, -0.553]),
        ("sack-recovery", [1.251, 1.933]),
        ("tlp", [-0.725, 0.286]),
    ],
    evidence: &[
        ("ack-lost", [-1.180, -0.242]),
        ("ack-too-early", [0.739, 0.530]),
        ("already-acked", [0.811, 1.746]),
        ("dsack", [2.033, 0.706]),
        ("duplicate-answered", [-0.344, -0.499]),
        ("frto", [-0.178, 0.748]),
        ("hole-filled", [-0.662, -0.658]),
        ("none", [-0.275, -0.316]),
        ("not-accepted", [0.269, 0.000]),
        ("original-seen", [0.000, 0.205]),
        ("original-unseen", [0.388, 1.540]),
        ("timestamp", [1.031, 0.285]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.216, 2.144, 2.795, -0.053],
    slope: [0.691, -0.031, -0.068, 0.048],
    shown: [2.070, 3.659],
    mechanisms: &[
        ("early-retransmit", [0.003, 0.259]),
        ("fack", [0.036, 0.507]),
        ("fast-retransmit", [0.153, 1.372]),
        ("rack", [0.805, 0.131]),
        ("rto", [-0.001, 0.370]),
        ("rto-recovery", [-0.425, -0.782]),
        ("sack-recovery", [0.556, 2.412]),
        ("tlp", [0.089, 0.618]),
    ],
    evidence: &[
        ("ack-lost", [0.005, 0.038]),
        ("ack-too-early", [0.070, 0.064]),
        ("already-acked", [0.007, 0.486]),
        ("dsack", [0.196, 0.474]),
        ("duplicate-answered", [0.036, -0.046]),
        ("frto", [0.028, 0.176]),
        ("hole-filled", [0.697, 1.029]),
        ("none", [0.000, 0.001]),
        ("not-accepted", [0.001, 0.000]),
        ("original-seen", [0.000, 0.423]),
        ("original-unseen", [-0.854, 0.872]),
        ("timestamp", [1.030, 1.370]),
    ],
};
