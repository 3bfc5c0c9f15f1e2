//! Small messages that a program sends one after the other at its own pace, as games, quotes, telemetry and notifications do:
//! nobody is known to wait for the next one.

use rexmit_time::Time;

use super::owner::Owner;
use super::timeline::Cover;

/// So many messages in a row, each behind a silence, are a stream; fewer may be the parts of an answer.
const LEAST: u32 = 4;
/// Streams of one direction that are remembered.
const MOST: usize = 1 << 10;

/// The messages of one direction.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// When the first message of a row was sent, how many there are, and the bytes of the last.
    since: Option<Time>,
    count: u32,
    len: u32,
    /// Where streams are, in order and apart.
    found: Vec<Cover>,
}

impl Stream {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        self.ends();
        self.found.clear();
    }

    /// The peer sends, or it is known that a message goes on.
    pub fn ends(&mut self) {
        (self.since, self.count, self.len) = (None, 0, 0);
    }

    /// A packet of new data is sent, behind a silence of its program or `together` with the last one; a full one has `full` bytes.
    pub fn sends(&mut self, at: Time, len: u32, full: u32, silent: bool) {
        self.len = if silent { len } else { self.len + len };
        if self.len >= full {
            self.ends();
            return;
        }
        let since = *self.since.get_or_insert(at);
        self.count += u32::from(silent || self.count == 0);
        if self.count < LEAST {
            return;
        }
        let room = self.found.len() < MOST;
        match self.found.last_mut().filter(|last| last.0 == since) {
            Some(last) => last.1 = at,
            None if room => self.found.push((since, at, Owner::Messages)),
            None => {}
        }
    }

    /// Where streams are.
    pub fn found(&self) -> &[Cover] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Messages of so many bytes, 50 ms apart.
    fn sent(lens: &[u32]) -> Stream {
        let mut stream = Stream::default();
        for (number, len) in (0u64..).zip(lens) {
            stream.sends(at(number * 50), *len, 1_460, true);
        }
        stream
    }

    #[test]
    fn small_messages_one_after_the_other_are_a_stream() {
        let cover = (at(0), at(200), Owner::Messages);
        assert_eq!(sent(&[90, 90, 300, 90, 90]).found(), [cover]);
        assert_eq!(sent(&[90, 90, 300]).found(), [], "parts of an answer");
        assert_eq!(sent(&[90, 90, 1_460, 90, 90]).found(), [], "a full one");
    }

    #[test]
    fn what_is_sent_together_is_one_message() {
        let mut stream = sent(&[90, 90]);
        stream.sends(at(50), 90, 1_460, false);
        stream.sends(at(50), 90, 1_460, false);
        assert_eq!(stream.found(), []);
        stream.sends(at(50), 1_400, 1_460, false);
        stream.sends(at(100), 90, 1_460, true);
        stream.sends(at(150), 90, 1_460, true);
        assert_eq!(stream.found(), [], "a large one ended the row");
    }

    #[test]
    fn an_answer_ends_a_stream() {
        let mut stream = sent(&[90, 90]);
        stream.ends();
        stream.sends(at(100), 90, 1_460, true);
        stream.sends(at(150), 90, 1_460, true);
        assert_eq!(stream.found(), []);
    }
}
