//! How a transfer ended.

use serde::Serialize;

/// How a transfer ended, as its client saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The client read all of it, to the end.
    #[default]
    Finished,
    /// The server closed the connection before all had come.
    Short,
    /// The client's patience ended first.
    TimedOut,
    /// The client's TCP sent something too often without an answer (ETIMEDOUT).
    GaveUp,
    /// The connection was reset.
    Reset,
    /// The server refused the connection.
    Refused,
    /// Not every subflow came up, so that nothing was transferred.
    NotConnected,
    /// The client's program failed in another way, of which the row's note tells.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_table() {
        let words = [Ended::Finished, Ended::TimedOut, Ended::NotConnected];
        let text = serde_json::to_string(&words).unwrap();
        assert_eq!(text, r#"["finished","timed-out","not-connected"]"#);
    }
}
