//! Whether this program works on the machine's own kernel, in real time, and what is not to be had there.

use std::sync::atomic::{AtomicBool, Ordering};

use rexmit_plan::Cell;

use crate::net::line;

static HERE: AtomicBool = AtomicBool::new(false);

/// From here on this program does.
pub fn begin() {
    HERE.store(true, Ordering::Relaxed);
}

/// Whether it does.
pub fn here() -> bool {
    HERE.load(Ordering::Relaxed)
}

/// What `cell` asks for that is not to be had.
pub fn lack(cell: &Cell) -> Vec<String> {
    let mut lacks: Vec<String> = line::lack(&cell.network).into_iter().collect();
    if cell.offload.segmentation {
        lacks.push("super-segments (a TUN device hands out single packets)".into());
    }
    if !cell.by_response() {
        lacks.push("bursts, and Multipath TCP, on a line (it carries pages over TCP)".into());
    }
    lacks
}
