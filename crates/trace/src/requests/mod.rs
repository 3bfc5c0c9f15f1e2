//! Requests: what a client asked of a server, and when the answer came.
//!
//! Every protocol has turns: a client sends, a server answers. What packets show more of the request is taken from the heads of
//! HTTP/1, a client's hello of TLS, and questions of DNS ([`Message`]). Where a client asks again before it has all of the answer,
//! requests cannot be told apart by turns: they are one row, as long as at least one of them is under way.

mod row;
mod spans;

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::message::{Message, Status};
use rexmit_wire::SeqNum;

use crate::account::{Session, Step};
use crate::event::Direction;

pub use row::{Request, RequestKind};
pub(crate) use spans::Spans;

/// The requests of one connection, each until it is known whose its time was.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// In order; of the last one more may come, if there is one that is [open](Requests::open).
    waiting: VecDeque<Request>,
    open: Option<OpenRequest>,
    /// Requests that began.
    begun: u32,
    /// The server's name by the client's hello, or else by what it was told of that address.
    server: Option<String>,
    /// The client answers and the server asks: who is who is not known.
    swapped: bool,
    ready: Vec<Request>,
}

/// What is known of the newest request besides its row.
#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    /// Its first sequence number.
    since: SeqNum,
    /// What the server has sent.
    answered: SeqNum,
    /// The newest data are the server's.
    by_server: bool,
}

/// A packet with new data, as requests see it.
#[derive(Debug)]
pub(crate) struct Told<'s> {
    pub step: &'s Step,
    pub message: Option<Message>,
    /// How far TLS is set up after it.
    pub session: Session,
    /// When the handshake ended, if it was seen and this is the first packet with data.
    pub opened: Option<Time>,
}

impl Told<'_> {
    /// It acknowledges a number, or may do.
    fn has(&self, number: SeqNum) -> bool {
        self.step.ack.is_none_or(|ack| ack.is_after(number))
    }
}

impl Requests {
    /// Begins a connection, in the same memory.
    pub fn begin(&mut self) {
        let mut waiting = core::mem::take(&mut self.waiting);
        waiting.clear();
        *self = Requests {
            waiting,
            ..Requests::default()
        };
    }

    /// The server has a name, until the client says another.
    pub fn named(&mut self, name: String) {
        self.server.get_or_insert(name);
    }

    /// Data that were not sent before; `spans` are the times of those that wait.
    pub fn data(&mut self, told: Told<'_>, spans: &mut Spans) {
        match (told.step.of, &told.message) {
            (Direction::Forward, Some(Message::Response(_)))
            | (Direction::Backward, Some(Message::Request(_))) => self.swapped = true,
            _ => {}
        }
        match told.step.of {
            Direction::Forward => self.asks(told, spans),
            Direction::Backward => self.answers(&told, spans),
        }
    }

    fn asks(&mut self, told: Told<'_>, spans: &mut Spans) {
        let (step, session) = (told.step, told.session);
        if let Some(Message::Hello(Some(name))) = &told.message {
            self.server = Some(name.clone());
        }
        let count = match &told.message {
            Some(Message::Request(request)) => u32::from(request.count),
            _ => 0,
        };
        let last = self.waiting.back_mut().zip(self.open.as_mut());
        if let Some((last, open)) = last {
            let more = match last.kind {
                RequestKind::Greeting => None,
                RequestKind::TlsSetUp => (session != Session::Up).then_some(0),
                _ if last.first.is_none() => Some(count),
                // It has not all of the answer yet.
                _ if !told.has(open.answered - 1) => Some(count.max(u32::from(open.by_server))),
                _ => None,
            };
            if let Some(more) = more {
                last.asked = step.at;
                last.sent_bytes += u64::from(step.payload_len);
                last.count = last.count.saturating_add(more);
                open.by_server = false;
                return;
            }
            spans.end(last.last.unwrap_or(step.at));
        }
        let kind = match (&told.message, session) {
            (Some(Message::Request(_)), _) => RequestKind::Http,
            (Some(Message::Query(_)), _) => RequestKind::Dns,
            (_, Session::None) => RequestKind::Turn,
            (_, Session::Up) => RequestKind::Tls,
            _ => RequestKind::TlsSetUp,
        };
        let mut request = self.begins(step.at, kind, spans);
        request.count = count.max(1);
        request.sent_bytes = u64::from(step.payload_len);
        request.name.clone_from(&self.server);
        request.take(told.message);
        self.waiting.push_back(request);
        self.open = Some(OpenRequest {
            since: step.end - step.payload_len - u32::from(step.flags.fin()),
            answered: SeqNum::default(),
            by_server: false,
        });
    }

    fn begins(&mut self, at: Time, kind: RequestKind, spans: &mut Spans) -> Request {
        for whose in spans.found() {
            let first = self.waiting.pop_front().filter(|_| !self.swapped);
            self.ready
                .extend(first.map(|request| request.owned_by(whose)));
        }
        spans.begin(at);
        let number = self.begun;
        self.begun = self.begun.saturating_add(1);
        Request::new(number, kind, at)
    }

    fn answers(&mut self, told: &Told<'_>, spans: &mut Spans) {
        let step = told.step;
        let Some(mut open) = self.open else {
            if let Some(opened) = told.opened {
                let mut greeting = self.begins(opened, RequestKind::Greeting, spans);
                greeting.answered(step, true);
                self.waiting.push_back(greeting);
                self.open = Some(OpenRequest {
                    since: step.end,
                    answered: step.end,
                    by_server: true,
                });
            }
            return;
        };
        let unanswered = self.waiting.back().is_some_and(|last| last.first.is_none());
        if unanswered && !told.has(open.since) {
            // The server had not got it: this is more of the answer before.
            let place = self.waiting.len().checked_sub(2);
            let Some(before) = place.and_then(|place| self.waiting.get_mut(place)) else {
                return;
            };
            if matches!(before.kind, RequestKind::TlsSetUp | RequestKind::Greeting) || !spans.join()
            {
                before.answered(step, false);
                return;
            }
            if let (Some(late), Some(before)) = (self.waiting.pop_back(), self.waiting.back_mut()) {
                before.join(&late);
                self.begun -= 1;
            }
        }
        if let Some(last) = self.waiting.back_mut() {
            let interim = match told.message {
                Some(Message::Response(Status { code, .. })) => {
                    let interim = (100..200).contains(&code) && code != Status::SWITCHED;
                    if !interim {
                        last.status.get_or_insert(code);
                    }
                    interim
                }
                _ => false,
            };
            // The tickets of TLS 1.3 come behind the set-up, which they do not prolong.
            let behind = last.kind == RequestKind::TlsSetUp && told.session == Session::Up;
            last.answered(step, !interim && !behind);
        }
        open.answered = step.end;
        open.by_server = true;
        self.open = Some(open);
    }

    /// The connection is over, at `end`; `pushes`: the client waited for no answer, ever.
    pub fn end(&mut self, end: Time, pushes: bool, spans: &mut Spans) {
        if let Some(last) = self.waiting.back().filter(|_| self.open.is_some()) {
            if pushes && last.first.is_none() {
                self.waiting.pop_back();
                spans.forget_last();
            } else {
                spans.end(last.last.unwrap_or(end));
            }
        }
        self.open = None;
    }

    /// Those whose time is known to be of its owner, whatever comes.
    pub fn ready(&mut self) -> impl Iterator<Item = Request> + '_ {
        self.ready.drain(..)
    }

    /// Those that are left, all of whose times are known.
    pub fn finish<'s>(&'s mut self, spans: &'s mut Spans) -> impl Iterator<Item = Request> + 's {
        let whose = spans.finish();
        let waiting = self.waiting.drain(..).zip(whose);
        let waiting = waiting.filter(|_| !self.swapped);
        let known = waiting.map(|(request, whose)| request.owned_by(whose));
        self.ready.drain(..).chain(known)
    }
}
