//! Names that may have been meant.
//!
//! The distance is ours: `strsim` would take the place of 13 lines and has had no release since April 2024.

/// The name closest to `name`, if it is close: at most a third of its letters differ. Among equals, one that begins as
/// `name` does.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.len().max(name.len()))
        .min_by_key(|(distance, candidate)| (*distance, !candidate.starts_with(name)))
        .map(|(_, candidate)| candidate)
}

/// Bytes to put in, take out or change to make `b` of `a` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_offered_and_others_not() {
        let names = ["linux-3.10", "linux-6.1", "rfc"];
        assert_eq!(nearest("linux-3.1", names.into_iter()), Some("linux-3.10"));
        assert_eq!(nearest("linux-6", names.into_iter()), Some("linux-6.1"));
        assert_eq!(nearest("Linux-6.1", names.into_iter()), Some("linux-6.1"));
        assert_eq!(nearest("openbsd", names.into_iter()), None);
        assert_eq!(nearest("", names.into_iter()), None);
    }
}
