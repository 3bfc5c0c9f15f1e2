//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 78,785 rows of synth-103, synth-106, t61-102, t61-105, t612-101, t612-104
//! (`scripts/fit-confidence` says how these corpora are made).

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-0.598, -0.362, 0.697, -0.114],
    slope: [0.813, 0.474, 0.357, 0.470],
    shown: [0.250, 0.306],
    mechanisms: &[
        ("early-retransmit", [0.103, 0.357]),
        ("fack", [0.621, 0.100]),
        ("fast-retransmit", [1.547, 0.537]),
        ("rack", [-2.085, -0.905]),
        ("rto", [-0.183, -0.264]),
        ("rto-recovery", [-2.308, -1.289]),
        ("sack-recovery", [0.918, 0.608]),
        ("tlp", [0.791, 1.078]),
    ],
    evidence: &[
        ("ack-lost", [0.105, 0.292]),
        ("ack-too-early", [0.319, 1.118]),
        ("already-acked", [-0.145, -0.222]),
        ("dsack", [-1.814, -1.282]),
        ("duplicate-answered", [0.618, -0.097]),
        ("frto", [0.963, 0.720]),
        ("hole-filled", [-0.506, 0.126]),
        ("none", [0.014, 0.003]),
        ("not-accepted", [0.023, 0.000]),
        ("original-seen", [0.000, -0.650]),
        ("original-unseen", [-0.847, -0.552]),
        ("timestamp", [0.673, 0.767]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.620, 1.947, 2.322, -0.214],
    slope: [-0.201, -0.102, -0.106, 0.148],
    shown: [2.238, 1.779],
    mechanisms: &[
        ("early-retransmit", [0.075, 0.315]),
        ("fack", [0.308, 0.631]),
        ("fast-retransmit", [2.087, 1.431]),
        ("rack", [0.460, 0.214]),
        ("rto", [-1.030, -0.206]),
        ("rto-recovery", [0.196, -0.560]),
        ("sack-recovery", [1.252, 1.932]),
        ("tlp", [-0.728, 0.297]),
    ],
    evidence: &[
        ("ack-lost", [-1.183, -0.247]),
        ("ack-too-early", [0.737, 0.531]),
        ("already-acked", [0.823, 1.750]),
        ("dsack", [2.031, 0.706]),
        ("duplicate-answered", [-0.347, -0.505]),
        ("frto", [-0.181, 0.751]),
        ("hole-filled", [-0.665, -0.657]),
        ("none", [-0.275, -0.316]),
        ("not-accepted", [0.268, 0.000]),
        ("original-seen", [0.000, 0.213]),
        ("original-unseen", [0.382, 1.545]),
        ("timestamp", [1.028, 0.285]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.182, 2.122, 2.824, -0.053],
    slope: [0.719, -0.028, -0.074, 0.047],
    shown: [2.023, 3.660],
    mechanisms: &[
        ("early-retransmit", [0.003, 0.258]),
        ("fack", [0.035, 0.505]),
        ("fast-retransmit", [0.153, 1.373]),
        ("rack", [0.815, 0.131]),
        ("rto", [-0.015, 0.380]),
        ("rto-recovery", [-0.444, -0.790]),
        ("sack-recovery", [0.553, 2.410]),
        ("tlp", [0.082, 0.625]),
    ],
    evidence: &[
        ("ack-lost", [0.004, 0.038]),
        ("ack-too-early", [0.064, 0.065]),
        ("already-acked", [0.006, 0.486]),
        ("dsack", [0.185, 0.472]),
        ("duplicate-answered", [0.033, -0.048]),
        ("frto", [0.025, 0.177]),
        ("hole-filled", [0.684, 1.030]),
        ("none", [0.000, 0.001]),
        ("not-accepted", [0.001, 0.000]),
        ("original-seen", [0.000, 0.427]),
        ("original-unseen", [-0.840, 0.876]),
        ("timestamp", [1.020, 1.370]),
    ],
};
