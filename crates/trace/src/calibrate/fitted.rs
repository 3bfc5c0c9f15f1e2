//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 78,487 rows of t612-101, t61-102, synth-103, t612-104, t61-105, synth-106
//! (`scripts/fit-confidence` says how these corpora are made).

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-0.313, -0.403, 0.484, 0.324],
    slope: [0.818, 0.478, 0.371, 0.349],
    mechanisms: &[
        ("early-retransmit", [0.239, 0.243]),
        ("fack", [0.571, -0.389]),
        ("fast-retransmit", [1.892, 1.078]),
        ("rack", [-2.283, -0.693]),
        ("rto", [-0.507, -0.190]),
        ("rto-recovery", [-2.368, -0.934]),
        ("sack-recovery", [1.403, 0.261]),
        ("tlp", [0.740, 1.030]),
    ],
    evidence: &[
        ("ack-lost", [0.092, 0.315]),
        ("ack-too-early", [0.226, 0.685]),
        ("already-acked", [-0.330, -0.147]),
        ("dsack", [-1.706, -0.590]),
        ("duplicate-answered", [0.501, -0.204]),
        ("frto", [0.865, 0.751]),
        ("hole-filled", [-0.408, -0.120]),
        ("none", [0.014, 0.004]),
        ("original-seen", [0.000, -0.310]),
        ("original-unseen", [-0.263, -0.818]),
        ("timestamp", [0.697, 0.841]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [4.100, 3.313, 2.698, -0.121],
    slope: [-0.170, -0.163, -0.045, 0.188],
    mechanisms: &[
        ("early-retransmit", [0.098, 0.398]),
        ("fack", [0.396, 1.023]),
        ("fast-retransmit", [2.377, 1.756]),
        ("rack", [0.831, 0.576]),
        ("rto", [-0.736, -0.010]),
        ("rto-recovery", [0.062, -0.096]),
        ("sack-recovery", [1.587, 1.503]),
        ("tlp", [-0.514, 0.739]),
    ],
    evidence: &[
        ("ack-lost", [-0.727, 0.178]),
        ("ack-too-early", [0.987, 0.704]),
        ("already-acked", [1.059, 1.737]),
        ("dsack", [2.485, 1.305]),
        ("duplicate-answered", [-0.090, -0.087]),
        ("frto", [0.175, 0.989]),
        ("hole-filled", [-0.554, -0.168]),
        ("none", [-0.245, -0.307]),
        ("original-seen", [0.000, 0.479]),
        ("original-unseen", [-0.202, 0.326]),
        ("timestamp", [1.213, 0.734]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [2.101, 3.648, 3.604, 0.107],
    slope: [0.867, -0.062, -0.019, 0.121],
    mechanisms: &[
        ("early-retransmit", [0.009, 0.392]),
        ("fack", [0.126, 1.069]),
        ("fast-retransmit", [0.433, 1.835]),
        ("rack", [0.774, 0.629]),
        ("rto", [-0.321, 0.447]),
        ("rto-recovery", [0.103, -0.172]),
        ("sack-recovery", [0.874, 1.758]),
        ("tlp", [0.103, 1.401]),
    ],
    evidence: &[
        ("ack-lost", [0.003, 0.240]),
        ("ack-too-early", [0.075, 0.450]),
        ("already-acked", [0.011, 1.020]),
        ("dsack", [0.276, 1.243]),
        ("duplicate-answered", [-0.260, 0.350]),
        ("frto", [0.011, 0.648]),
        ("hole-filled", [1.322, 1.879]),
        ("none", [0.000, 0.003]),
        ("original-seen", [0.000, 0.567]),
        ("original-unseen", [-0.602, -0.828]),
        ("timestamp", [1.263, 1.787]),
    ],
};
