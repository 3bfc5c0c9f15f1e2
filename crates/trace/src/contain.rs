//! A panic in the analysis of one connection is contained: it costs that connection, and no other.
//!
//! What is at work when it happens is left as it is, half-written. Whoever contains a panic drops that, and what the
//! connection had borrowed of memory that connections share.

use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

#[cfg(panic = "abort")]
compile_error!(
    "a panic in one connection is contained by unwinding: panic=abort would end the whole analysis"
);

/// Characters of a panic's message that are kept.
const MOST_CHARS: usize = 200;

thread_local! {
    /// Calls of [`contain`] that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the hook heard of the last panic within one.
    static DEFECT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does `work`; the place in the source and the message of a panic in it, if there is one.
///
/// The panic is printed nowhere: whoever calls this tells it.
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if DEPTH.get() > 0 {
                DEFECT.set(defect(panic));
            } else {
                before(panic);
            }
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|_| DEFECT.take())
}

/// Does `work` for each number below `count`, in their order. Where it panics, `failed` is given the number and the panic, and
/// the next number follows.
///
/// Nothing is spent on a number but on those at which it panics.
pub(crate) fn contain_each<C>(
    count: usize,
    context: &mut C,
    mut work: impl FnMut(&mut C, usize),
    mut failed: impl FnMut(&mut C, usize, String),
) {
    let mut next = 0;
    while next < count {
        let done = contain(|| {
            while next < count {
                next += 1;
                work(context, next - 1);
            }
        });
        if let Err(defect) = done {
            failed(context, next - 1, defect);
        }
    }
}

/// Where a panic was, and its message, in one line.
fn defect(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = panic.location().map_or_else(String::new, |place| {
        // Of the standard library, as it is known everywhere.
        let file = place.file().rsplit("/library/").next();
        format!("{}:{}: ", file.unwrap_or_default(), place.line())
    });
    let words = message.unwrap_or("a panic").split_whitespace();
    let message = words.collect::<Vec<_>>().join(" ");
    let told = place + &message;
    told.chars().take(MOST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_in_one_line() {
        assert_eq!(contain(|| 7), Ok(7));
        let told = contain(|| panic!("of\n{}", 2)).unwrap_err();
        assert!(told.contains("contain.rs:"), "{told}");
        assert!(told.ends_with(": of 2"), "{told}");
        let told: Result<(), String> = contain(|| {
            let inner = contain(|| panic!("inner"));
            assert!(inner.is_err());
            panic!("outer {}", "x".repeat(1_000))
        });
        let told = told.unwrap_err();
        assert!(told.contains(": outer x"), "{told}");
        assert_eq!(told.chars().count(), MOST_CHARS);
    }

    #[test]
    fn what_panics_is_left_out_and_the_others_are_done() {
        let mut done = (Vec::new(), Vec::new());
        contain_each(
            6,
            &mut done,
            |(done, _), n| {
                assert!(n % 3 != 2, "number {n}");
                done.push(n);
            },
            |(_, failed), n, defect| failed.push((n, defect.ends_with(&format!("number {n}")))),
        );
        assert_eq!(done, (vec![0, 1, 3, 4], vec![(2, true), (5, true)]));
    }
}
