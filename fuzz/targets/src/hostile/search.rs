//! A search for a case that panics: cases at random from one seed, each of which can be made again.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use rexmit_time::Streams;

use super::grammar::Case;

/// Bytes that choose a case at most.
const MOST_BYTES: u64 = 3_000;

thread_local! {
    /// What the first panic since the last look said, and where it was.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does something; an error if it panicked.
///
/// # Errors
/// What the first panic said, and where it was.
pub fn watched(does: impl FnOnce()) -> Result<(), String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANIC.with_borrow_mut(|panic| {
                panic.get_or_insert_with(|| format!("{info}{}", within()));
            });
            before(info);
        }));
    });
    PANIC.take();
    let _ = panic::catch_unwind(AssertUnwindSafe(does));
    PANIC.take().map_or(Ok(()), Err)
}

/// Where in our own code it is: the innermost lines of the call stack.
fn within() -> String {
    let stack = Backtrace::force_capture().to_string();
    let ours = stack.lines().map(str::trim);
    let ours = ours.filter(|line| line.starts_with("at ") && line.contains("crates/"));
    ours.take(4).map(|line| format!("\n    {line}")).collect()
}

/// The bytes that choose a case of a search.
#[must_use]
pub fn choices(seed: u64, number: u64) -> Vec<u8> {
    let mut stream = Streams::new(seed).stream("hostile", number);
    let len = 30 + stream.below(MOST_BYTES);
    let words = (0..len.div_ceil(8)).map(|_| stream.next_u64());
    words.flat_map(u64::to_le_bytes).collect()
}

impl Case {
    /// The smallest case found that still panics, by leaving out packets of this one.
    #[must_use]
    pub fn reduced(&self) -> Self {
        let panics = |case: &Case| watched(|| case.analyse()).is_err();
        let mut small = self.clone();
        let mut some = small.sent.len().div_ceil(2);
        while some > 0 {
            let mut at = 0;
            while at < small.sent.len() {
                let mut less = small.clone();
                less.sent.drain(at..(at + some).min(less.sent.len()));
                if panics(&less) {
                    small = less;
                } else {
                    at += some;
                }
            }
            some /= 2;
        }
        small
    }
}
