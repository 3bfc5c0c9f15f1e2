//! Requests and responses over one connection.

use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::{Duration, Time};

use super::read_all;

/// Asks, waits for the whole answer, thinks, and asks again; closes at the end.
#[derive(Clone, Debug)]
pub struct Asker {
    question: u32,
    answer: u64,
    think: Duration,
    left: u32,
    /// Bytes of the answer at hand that came.
    came: u64,
    asked_at: Time,
    asks_at: Option<Time>,
    /// How long each answer took.
    pub took: Vec<Duration>,
}

impl Asker {
    /// So many rounds of a question and an answer of so many bytes.
    #[must_use]
    pub const fn new(question: u32, answer: u64, rounds: u32, think: Duration) -> Self {
        Self {
            question,
            answer,
            think,
            left: rounds,
            came: 0,
            asked_at: Time::ZERO,
            asks_at: None,
            took: Vec::new(),
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Established => self.ask(now, socket),
            Event::Readable => {
                self.came += read_all(now, socket);
                if self.came >= self.answer && self.asks_at.is_none() {
                    self.came -= self.answer;
                    self.took.push(now - self.asked_at);
                    self.asks_at = Some(now + self.think);
                    if self.think == Duration::ZERO {
                        self.on_deadline(now, socket);
                    }
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self, now: Time, socket: &mut impl Socket) {
        if self.left == 0 {
            socket.close(now);
            return;
        }
        self.left -= 1;
        self.asked_at = now;
        socket.write(now, self.question, false);
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.asks_at
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.asks_at.is_some_and(|at| at <= now) {
            self.asks_at = None;
            self.ask(now, socket);
        }
    }
}

/// Answers every whole question; closes when the asker has.
#[derive(Clone, Debug)]
pub struct Answerer {
    question: u64,
    answer: u64,
    came: u64,
    /// Bytes of answers that the socket has not taken yet.
    owed: u64,
}

impl Answerer {
    /// Questions and answers of so many bytes.
    #[must_use]
    pub const fn new(question: u64, answer: u64) -> Self {
        Self {
            question,
            answer,
            came: 0,
            owed: 0,
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if matches!(event, Event::Readable) {
            self.came += read_all(now, socket);
            while self.came >= self.question.max(1) {
                self.came -= self.question.max(1);
                self.owed += self.answer;
            }
        }
        while self.owed > 0 {
            let bytes = u32::try_from(self.owed).unwrap_or(u32::MAX);
            match socket.write(now, bytes, false) {
                0 => break,
                taken => self.owed -= u64::from(taken),
            }
        }
        if matches!(event, Event::PeerClosed) {
            socket.close(now);
        }
    }
}
