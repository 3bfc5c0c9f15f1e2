//! Whether this program works on the machine's own kernel, in real time.

use std::sync::atomic::{AtomicBool, Ordering};

static HERE: AtomicBool = AtomicBool::new(false);

/// From here on this program does.
pub fn begin() {
    HERE.store(true, Ordering::Relaxed);
}

/// Whether it does.
pub fn here() -> bool {
    HERE.load(Ordering::Relaxed)
}
