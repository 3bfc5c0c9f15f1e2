//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 78,815 rows of t612-101, t61-102, synth-103, t612-104, t61-105, synth-106
//! (`scripts/fit-confidence` says how these corpora are made).

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-0.378, -0.358, 0.530, 0.232],
    slope: [0.816, 0.472, 0.365, 0.317],
    mechanisms: &[
        ("early-retransmit", [0.239, 0.242]),
        ("fack", [0.567, -0.389]),
        ("fast-retransmit", [1.895, 0.985]),
        ("rack", [-2.283, -0.664]),
        ("rto", [-0.532, -0.216]),
        ("rto-recovery", [-2.398, -0.920]),
        ("sack-recovery", [1.400, 0.301]),
        ("tlp", [0.734, 1.064]),
    ],
    evidence: &[
        ("ack-lost", [0.127, 0.353]),
        ("ack-too-early", [0.300, 0.698]),
        ("already-acked", [-0.304, -0.172]),
        ("dsack", [-1.614, -0.576]),
        ("duplicate-answered", [0.544, -0.142]),
        ("frto", [1.014, 0.745]),
        ("hole-filled", [-0.335, -0.138]),
        ("none", [0.015, 0.004]),
        ("original-seen", [0.000, -0.329]),
        ("original-unseen", [-0.899, -0.844]),
        ("timestamp", [0.775, 0.805]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [3.944, 3.132, 3.248, -0.166],
    slope: [-0.157, -0.143, -0.120, 0.187],
    mechanisms: &[
        ("early-retransmit", [0.090, 0.350]),
        ("fack", [0.356, 0.911]),
        ("fast-retransmit", [2.263, 1.687]),
        ("rack", [0.693, 0.542]),
        ("rto", [-0.814, -0.058]),
        ("rto-recovery", [0.402, -0.157]),
        ("sack-recovery", [1.454, 2.182]),
        ("tlp", [-0.499, 0.756]),
    ],
    evidence: &[
        ("ack-lost", [-0.883, 0.136]),
        ("ack-too-early", [1.062, 0.771]),
        ("already-acked", [1.116, 1.784]),
        ("dsack", [2.372, 1.243]),
        ("duplicate-answered", [0.003, -0.034]),
        ("frto", [0.110, 1.032]),
        ("hole-filled", [-0.304, -0.084]),
        ("none", [-0.254, -0.307]),
        ("original-seen", [0.000, 0.520]),
        ("original-unseen", [-0.637, 0.362]),
        ("timestamp", [1.359, 0.791]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [2.012, 3.529, 4.155, 0.104],
    slope: [0.753, -0.045, -0.089, 0.136],
    mechanisms: &[
        ("early-retransmit", [0.011, 0.330]),
        ("fack", [0.142, 0.936]),
        ("fast-retransmit", [0.526, 1.735]),
        ("rack", [0.866, 0.570]),
        ("rto", [-0.332, 0.331]),
        ("rto-recovery", [-0.339, -0.255]),
        ("sack-recovery", [0.962, 2.784]),
        ("tlp", [0.175, 1.357]),
    ],
    evidence: &[
        ("ack-lost", [0.012, 0.286]),
        ("ack-too-early", [0.159, 0.514]),
        ("already-acked", [0.023, 1.070]),
        ("dsack", [0.425, 1.292]),
        ("duplicate-answered", [-0.194, 0.411]),
        ("frto", [0.054, 0.675]),
        ("hole-filled", [1.462, 1.916]),
        ("none", [0.000, 0.004]),
        ("original-seen", [0.000, 0.602]),
        ("original-unseen", [-1.404, -0.804]),
        ("timestamp", [1.475, 1.820]),
    ],
};
