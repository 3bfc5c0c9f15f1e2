//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 76,023 rows of synth-103, synth-106, t61-102, t61-105, t612-101, t612-104
//! (`scripts/fit-confidence` says how these corpora are made).

#![allow(clippy::approx_constant, reason = "a weight may be near one by chance")]

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-1.067, -0.107, 0.398, 0.079],
    slope: [0.950, 0.498, 0.398, 0.632],
    shown: [-0.245, 0.466],
    disordered: [0.505, -0.243],
    mechanisms: &[
        ("early-retransmit", [0.008, -0.053]),
        ("fack", [0.034, -0.318]),
        ("fast-retransmit", [1.488, 0.468]),
        ("rack", [-2.137, -0.489]),
        ("rto", [-0.420, -0.030]),
        ("rto-recovery", [-0.263, -1.217]),
        ("sack-recovery", [-0.440, 1.339]),
        ("tlp", [0.664, 0.670]),
    ],
    evidence: &[
        ("ack-lost", [0.269, 0.172]),
        ("ack-too-early", [-1.284, 1.635]),
        ("already-acked", [0.249, -0.057]),
        ("dsack", [-1.385, 0.168]),
        ("duplicate-answered", [0.517, -0.549]),
        ("frto", [0.133, 0.764]),
        ("hole-filled", [-0.160, -0.996]),
        ("none", [0.002, 0.002]),
        ("not-accepted", [0.058, 0.000]),
        ("original-seen", [0.000, -0.407]),
        ("original-unseen", [-0.822, -0.330]),
        ("timestamp", [1.355, -0.032]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.343, 1.678, 2.118, 0.024],
    slope: [-0.013, 0.020, -0.032, 0.177],
    shown: [1.780, 1.635],
    disordered: [-0.457, -0.144],
    mechanisms: &[
        ("early-retransmit", [0.080, 0.220]),
        ("fack", [0.414, 0.792]),
        ("fast-retransmit", [2.166, 1.182]),
        ("rack", [1.573, 0.609]),
        ("rto", [-1.415, -0.474]),
        ("rto-recovery", [-0.714, -0.575]),
        ("sack-recovery", [1.653, 2.109]),
        ("tlp", [-1.415, -0.042]),
    ],
    evidence: &[
        ("ack-lost", [-1.616, -0.365]),
        ("ack-too-early", [0.338, -0.149]),
        ("already-acked", [0.807, 1.996]),
        ("dsack", [2.054, 0.736]),
        ("duplicate-answered", [-0.466, -0.667]),
        ("frto", [0.748, 0.712]),
        ("hole-filled", [-1.235, -0.861]),
        ("none", [-0.273, -0.319]),
        ("not-accepted", [0.190, 0.000]),
        ("original-seen", [0.000, -0.123]),
        ("original-unseen", [0.562, 1.854]),
        ("timestamp", [1.232, 1.007]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.116, 1.605, 2.631, 0.032],
    slope: [1.218, 0.149, 0.016, 0.251],
    shown: [1.380, 3.064],
    disordered: [0.076, -0.204],
    mechanisms: &[
        ("early-retransmit", [0.000, 0.175]),
        ("fack", [0.003, 0.632]),
        ("fast-retransmit", [0.263, 0.962]),
        ("rack", [0.296, 0.510]),
        ("rto", [0.120, 0.366]),
        ("rto-recovery", [0.040, -0.850]),
        ("sack-recovery", [0.384, 2.143]),
        ("tlp", [0.010, 0.331]),
    ],
    evidence: &[
        ("ack-lost", [0.008, 0.032]),
        ("ack-too-early", [0.006, -0.326]),
        ("already-acked", [0.000, 0.540]),
        ("dsack", [0.026, 0.405]),
        ("duplicate-answered", [0.002, -0.316]),
        ("frto", [0.000, 0.206]),
        ("hole-filled", [0.333, 0.971]),
        ("none", [0.000, 0.001]),
        ("original-seen", [0.000, 0.374]),
        ("original-unseen", [-0.264, 1.053]),
        ("timestamp", [1.004, 1.328]),
    ],
};
