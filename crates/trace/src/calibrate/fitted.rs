//! Weights as `scripts/fit-confidence fit` wrote them, of
//! 76,023 rows of synth-103, synth-106, t61-102, t61-105, t612-101, t612-104
//! (`scripts/fit-confidence` says how these corpora are made).

#![allow(clippy::approx_constant, reason = "a weight may be near one by chance")]

use super::Map;

pub(super) const MECHANISM: Map = Map {
    base: [-1.138, -0.360, 0.434, 0.081],
    slope: [0.948, 0.562, 0.413, 0.649],
    shown: [-0.227, 0.414],
    disordered: [0.069, -0.140],
    mechanisms: &[
        ("early-retransmit", [0.008, -0.084]),
        ("fack", [0.032, -0.316]),
        ("fast-retransmit", [1.479, 0.485]),
        ("rack", [-2.138, -0.576]),
        ("rto", [-0.482, -0.083]),
        ("rto-recovery", [-0.251, -1.260]),
        ("sack-recovery", [-0.447, 1.280]),
        ("tlp", [0.662, 0.709]),
    ],
    evidence: &[
        ("ack-lost", [0.284, 0.147]),
        ("ack-too-early", [-1.210, 1.802]),
        ("already-acked", [-0.042, -0.403]),
        ("dsack", [-1.307, 0.130]),
        ("duplicate-answered", [0.562, -0.627]),
        ("frto", [0.140, 0.695]),
        ("hole-filled", [-0.089, -1.135]),
        ("none", [0.002, 0.002]),
        ("not-accepted", [0.011, 0.000]),
        ("original-seen", [0.000, -0.085]),
        ("original-unseen", [-0.911, -0.339]),
        ("timestamp", [1.421, -0.033]),
    ],
};

pub(super) const NEED: Map = Map {
    base: [2.418, 1.922, 1.898, 0.027],
    slope: [-0.003, -0.004, -0.010, 0.205],
    shown: [1.629, 1.560],
    disordered: [0.207, -0.150],
    mechanisms: &[
        ("early-retransmit", [0.080, 0.217]),
        ("fack", [0.422, 0.761]),
        ("fast-retransmit", [2.176, 1.249]),
        ("rack", [1.575, 0.951]),
        ("rto", [-1.399, -0.706]),
        ("rto-recovery", [-0.707, -0.437]),
        ("sack-recovery", [1.671, 1.886]),
        ("tlp", [-1.400, -0.072]),
    ],
    evidence: &[
        ("ack-lost", [-1.633, -0.275]),
        ("ack-too-early", [0.286, -0.126]),
        ("already-acked", [0.799, 1.879]),
        ("dsack", [2.040, 0.711]),
        ("duplicate-answered", [-0.484, -0.537]),
        ("frto", [0.741, 0.656]),
        ("hole-filled", [-1.252, -0.907]),
        ("none", [-0.274, -0.318]),
        ("not-accepted", [0.188, 0.000]),
        ("original-seen", [0.000, -0.058]),
        ("original-unseen", [0.789, 1.958]),
        ("timestamp", [1.217, 0.866]),
    ],
};

pub(super) const RETRANSMISSION: Map = Map {
    base: [1.117, 1.534, 2.469, 0.036],
    slope: [1.219, 0.181, 0.043, 0.289],
    shown: [1.380, 2.903],
    disordered: [-0.080, -0.055],
    mechanisms: &[
        ("early-retransmit", [0.000, 0.169]),
        ("fack", [0.003, 0.596]),
        ("fast-retransmit", [0.263, 0.899]),
        ("rack", [0.296, 0.933]),
        ("rto", [0.121, -0.139]),
        ("rto-recovery", [0.040, -0.824]),
        ("sack-recovery", [0.384, 2.227]),
        ("tlp", [0.010, 0.178]),
    ],
    evidence: &[
        ("ack-lost", [0.008, 0.044]),
        ("ack-too-early", [0.006, -0.276]),
        ("already-acked", [0.000, 0.365]),
        ("dsack", [0.026, 0.361]),
        ("duplicate-answered", [0.002, -0.249]),
        ("frto", [0.000, 0.198]),
        ("hole-filled", [0.333, 0.950]),
        ("none", [0.000, 0.001]),
        ("original-seen", [0.000, 0.361]),
        ("original-unseen", [-0.263, 1.069]),
        ("timestamp", [1.004, 1.216]),
    ],
};
