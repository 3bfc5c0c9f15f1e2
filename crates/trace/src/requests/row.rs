//! A request as its row has it.

use rexmit_tcp::words;
use rexmit_time::{Duration, Time};
use rexmit_wire::message::Message;
use serde::{Deserialize, Serialize};

use super::spans::Whose;
use crate::account::{Owner, Step};

words! {
    /// What a request is of.
    pub enum RequestKind ("kind of a request") {
        /// A turn of a protocol that is not known.
        Turn = "turn",
        /// HTTP/1.
        Http = "http",
        /// Data over TLS.
        Tls = "tls",
        /// DNS over TCP.
        Dns = "dns",
        /// What the server sends first, unasked, as that of SMTP, SSH and `MySQL` does.
        Greeting = "greeting",
        /// The set-up of TLS.
        TlsSetUp = "tls-set-up",
    }
}

/// A request and its answer; several at once are one, as long as any of them is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Which of its connection, from 0.
    pub number: u32,
    /// What it is of.
    pub kind: RequestKind,
    /// Its first byte came by; of a greeting, the handshake was over.
    pub start: Time,
    /// Its last byte came by.
    pub asked: Time,
    /// The first and the last byte of the answer came by.
    pub first: Option<Time>,
    /// The last one.
    pub last: Option<Time>,
    /// Payload of the request and of the answer, what was sent again not counted.
    pub sent_bytes: u64,
    /// Of the answer.
    pub received_bytes: u64,
    /// So many requests, at least.
    pub count: u32,
    /// Whose most of the time was, from the first byte to the last of the answer, or to the end.
    pub owner: Owner,
    /// How much of it.
    pub owned: Duration,
    /// The server's name, as the client has it.
    pub name: Option<String>,
    /// What is asked for.
    pub method: Option<String>,
    /// Of which thing.
    pub path: Option<String>,
    /// What the server says to that.
    pub status: Option<u16>,
}

impl Request {
    pub(super) fn new(number: u32, kind: RequestKind, at: Time) -> Self {
        Request {
            number,
            kind,
            start: at,
            asked: at,
            first: None,
            last: None,
            sent_bytes: 0,
            received_bytes: 0,
            count: 1,
            owner: Owner::Unknown,
            owned: Duration::ZERO,
            name: None,
            method: None,
            path: None,
            status: None,
        }
    }

    /// What it asks for.
    pub(super) fn take(&mut self, message: Option<Message>) {
        match message {
            Some(Message::Request(request)) => {
                self.method = Some(request.method);
                self.path = request.path;
                self.name = request.host.or(self.name.take());
            }
            Some(Message::Query(question)) => {
                self.method = Some(question.kind_name().to_owned());
                self.path = question.name;
            }
            Some(
                Message::Response(_)
                | Message::Hello(_)
                | Message::Named(_)
                | Message::Alert(_)
                | Message::Farewell,
            )
            | None => {}
        }
    }

    /// More of the answer, unless it is only a word meanwhile.
    pub(super) fn answered(&mut self, step: &Step, counts: bool) {
        self.received_bytes += u64::from(step.payload_len);
        if counts {
            self.first.get_or_insert(step.at);
            self.last = Some(step.at);
        }
    }

    /// A later one was under way with it.
    pub(super) fn join(&mut self, later: &Request) {
        self.asked = later.asked;
        self.sent_bytes += later.sent_bytes;
        self.count = self.count.saturating_add(later.count);
    }

    pub(super) fn owned_by(self, whose: Whose) -> Self {
        let (owner, owned) = whose;
        Request {
            owner,
            owned,
            ..self
        }
    }
}
