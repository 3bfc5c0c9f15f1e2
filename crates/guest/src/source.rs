//! Where a filter takes packets from, and what takes its verdicts: a queue of the kernel, or an end of a line.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::Result;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Accept,
    /// It vanishes; its sender cannot tell.
    Drop,
}

/// A packet that waits for its verdict.
pub struct Queued<'a> {
    /// Its number.
    pub id: u32,
    /// The packet from its IP header on.
    pub bytes: &'a [u8],
    /// Its length, when it is longer than `bytes`.
    pub original_len: usize,
}

/// Where a filter takes packets from.
pub trait Source {
    /// What takes its verdicts.
    type Answers: Answers;

    /// How long [`Source::receive`] waits at most.
    fn set_wait(&mut self, wait: Duration) -> Result<()>;

    /// Waits for packets and hands each to `judge`, which gives verdicts on it or on packets that it kept before. They may
    /// wait for [`Source::flush`].
    /// Returns false when none came in time or a signal did.
    fn receive(&mut self, judge: impl FnMut(Queued<'_>, &mut Self::Answers)) -> Result<bool>;

    /// What becomes readable when packets wait.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// What takes verdicts.
    fn answers(&mut self) -> &mut Self::Answers;

    /// Carries out all verdicts that wait.
    fn flush(&mut self) -> Result<()>;

    /// Carries them out but for the last.
    fn flush_but_last(&mut self) -> Result<()>;
}

/// What takes the verdicts on a source's packets.
pub trait Answers {
    /// Gives the verdict on a packet by its number.
    fn push(&mut self, id: u32, fate: Fate);
}
