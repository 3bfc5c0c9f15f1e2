//! What clients asked, when the answers came, and whose the wait was.

use rexmit_time::Duration;
use rexmit_trace::account::Owner;
use rexmit_trace::analyzer::{Analyzer, Rows};
use rexmit_trace::event::Direction;
use rexmit_trace::requests::{Request, RequestKind};
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::Record;
use rexmit_wire::http;
use rexmit_wire::message::{Body, Message, Status};
use rexmit_wire::Flags;

use crate::account::{open, told};
use crate::script::{Script, FIN_ACK};

/// A connection whose packets say something.
struct Talk {
    script: Script,
    said: Vec<Option<Message>>,
}

impl Talk {
    fn open(at_server: bool) -> (Self, i64, i64) {
        let (script, to_server, to_client) = open(at_server);
        let said = Vec::new();
        (Talk { script, said }, to_server, to_client)
    }

    fn wait(&mut self, ms: i64) -> &mut Self {
        self.script.wait(ms);
        self
    }

    fn data(&mut self, from_client: bool, len: u32) -> &mut Self {
        self.script.send(from_client, Flags::ACK, len);
        self
    }

    fn record(&mut self, from_client: bool, record: Record, len: u32) -> &mut Self {
        self.data(from_client, len);
        let (_, last) = self.script.packets.last_mut().unwrap();
        last.record = record;
        self
    }

    fn say(&mut self, from_client: bool, message: Message, len: u32) -> &mut Self {
        let record = match message {
            Message::Request(_) => Record::Request,
            Message::Response(_) => Record::Response,
            Message::Hello(_) => Record::Hello,
            Message::Query(_) => Record::Query,
            Message::Named(_) => Record::Named,
            Message::Alert(_) => Record::Alert,
            Message::Farewell => Record::Farewell,
        };
        self.record(from_client, record, len);
        self.said.resize(self.script.packets.len() - 1, None);
        self.said.push(Some(message));
        self
    }

    fn get(&mut self, path: &str) -> &mut Self {
        let request =
            http::Request::of(format!("GET {path} HTTP/1.1\r\nHost: a.org\r\n\r\n").as_bytes());
        self.say(true, Message::Request(request.unwrap()), 100)
    }

    fn told(&self, settings: Settings) -> Vec<Request> {
        let rows = self.rows(settings).requests;
        rows.into_iter().map(|of| of.row).collect()
    }

    fn rows(&self, settings: Settings) -> Rows {
        let mut analyzer = Analyzer::new(settings);
        for (number, (at, headers)) in self.script.packets.iter().enumerate() {
            match self.said.get(number).cloned().flatten() {
                Some(message) => analyzer.packet_saying(*at, headers, message),
                None => analyzer.packet(*at, headers),
            }
        }
        let mut rows = Rows::default();
        while analyzer.finish(u64::MAX) {}
        analyzer.drain(&mut rows);
        rows.sort();
        rows
    }

    /// The same with a log and without one.
    fn requests(&self) -> Vec<Request> {
        let all = self.told(Settings::default());
        let few = Settings {
            most_events: 4,
            ..Settings::default()
        };
        assert_eq!(self.told(few), all);
        let numbers: Vec<u32> = all.iter().map(|row| row.number).collect();
        assert!(
            numbers.iter().copied().eq(0..all.len() as u32),
            "{numbers:?}"
        );
        all
    }

    /// When a row began, ms after the first packet, and how long to the first and the last byte of the answer.
    fn times(&self, row: &Request) -> (i64, Option<i64>, Option<i64>) {
        let start = self.script.packets[0].0;
        let ms = |length: Duration| length.as_nanos() / 1_000_000;
        let after = |at: Option<_>| at.map(|at: rexmit_time::Time| ms(at.since(row.start)));
        (
            ms(row.start.since(start)),
            after(row.first),
            after(row.last),
        )
    }
}

fn response(code: u16) -> Message {
    Message::Response(Status {
        code,
        unasked: code == Status::SWITCHED,
        body: Body::NotTold,
    })
}

#[test]
fn what_a_server_sends_unasked_nobody_waited_for() {
    for (code, owner) in [(Status::SWITCHED, Owner::Messages), (200, Owner::Server)] {
        let (mut talk, to_server, to_client) = Talk::open(true);
        talk.get("/").wait(to_server);
        talk.say(false, response(code), 200);
        for _ in 0..3 {
            talk.wait(to_client).data(true, 0).wait(2_000 - to_client);
            talk.data(false, 300);
        }
        let row = &talk.rows(Settings::default()).connections[0].row;
        let told = told(&row.backward.account);
        assert!(told.contains(&(owner, 6_000)), "{told:?}");
    }
}

/// A body that does not begin may be that of a HEAD, and one that is whole is an answer.
#[test]
fn an_answer_that_breaks_off_before_its_announced_end_is_none() {
    for (body, sent, breaks_off) in [
        (5_000, 1_000, true),
        (800, 1_000, false),
        (5_000, 200, false),
    ] {
        let (mut talk, to_server, to_client) = Talk::open(true);
        talk.get("/").wait(to_server);
        let status = Status {
            code: 200,
            unasked: false,
            body: Body::Bytes(200, body),
        };
        talk.say(false, Message::Response(status), sent);
        talk.wait(to_client).data(true, 0).wait(2_000);
        talk.script.send(false, Flags::RST, 0);
        let row = &talk.rows(Settings::default()).connections[0].row;
        let told = told(&row.backward.account);
        let unanswered = |(owner, ms): &(_, _)| *owner == Owner::Unanswered && *ms >= 1_900;
        assert_eq!(told.iter().any(unanswered), breaks_off, "{told:?}");
    }
}

#[test]
fn an_answer_that_ends_when_the_server_closes_goes_on_until_then() {
    for (body, by_server, waits) in [
        (Body::UntilClose, true, true),
        (Body::UntilClose, false, false),
        (Body::NotTold, true, false),
    ] {
        let (mut talk, to_server, to_client) = Talk::open(true);
        talk.get("/").wait(to_server);
        let status = Status {
            code: 200,
            unasked: false,
            body,
        };
        talk.say(false, Message::Response(status), 1_000);
        talk.wait(to_client).data(true, 0).wait(2_000);
        talk.script.send(!by_server, FIN_ACK, 0);
        let row = &talk.rows(Settings::default()).connections[0].row;
        let told = told(&row.backward.account);
        let server = |(owner, ms): &(_, _)| *owner == Owner::Server && *ms >= 1_900;
        assert_eq!(told.iter().any(server), waits, "{told:?}");
    }
}

#[test]
fn a_connection_that_is_kept_has_a_row_for_each_request() {
    for at_server in [false, true] {
        let (mut talk, to_server, to_client) = Talk::open(at_server);
        for (path, thinks) in [("/a?x=1", 2_000), ("/b", 10)] {
            talk.get(path).wait(to_server + thinks);
            talk.say(false, response(200), 1_000)
                .wait(5)
                .data(false, 500);
            talk.wait(to_client).data(true, 0).wait(3_000);
        }
        let rows = talk.requests();
        assert_eq!(rows.len(), 2);
        for (row, path) in rows.iter().zip(["/a", "/b"]) {
            assert_eq!(
                (row.kind, row.count, row.status),
                (RequestKind::Http, 1, Some(200))
            );
            assert_eq!((row.sent_bytes, row.received_bytes), (100, 1_500));
            assert_eq!(row.name.as_deref(), Some("a.org"));
            assert_eq!(
                (row.method.as_deref(), row.path.as_deref()),
                (Some("GET"), Some(path))
            );
        }
        let first = to_server + 2_000;
        assert_eq!(talk.times(&rows[0]), (40, Some(first), Some(first + 5)));
        assert_eq!(
            (rows[0].owner, rows[0].owned),
            (Owner::Server, Duration::from_millis(2_000))
        );
        assert_eq!(
            rows[1].owner,
            if at_server {
                Owner::Server
            } else {
                Owner::RoundTrip
            }
        );
    }
}

#[test]
fn requests_under_way_together_are_one_row() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    // Both before any answer, in packets of their own.
    talk.get("/a").get("/b").wait(to_server);
    talk.say(false, response(200), 1_000);
    // A third while the answers are under way: it acknowledges only what has come.
    let before = talk.script.server;
    talk.wait(5).data(false, 1_000).wait(1).get("/c");
    talk.script.packets.last_mut().unwrap().1.ack = before;
    talk.wait(to_server + 500).say(false, response(200), 1_000);
    talk.wait(to_client).data(true, 0).wait(100).get("/d");
    talk.wait(to_server).say(false, response(404), 300);
    let rows = talk.requests();
    let told = |row: &Request| (row.count, row.path.clone().unwrap(), row.received_bytes);
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [(3, "/a".into(), 3_000), (1, "/d".into(), 300)]
    );
    assert_eq!(talk.times(&rows[0]), (40, Some(40), Some(586)));
}

#[test]
fn an_answer_that_had_not_come_by_joins_two_rows() {
    // Beside the client: what the server had not heard when it sent is no answer to it.
    let (mut talk, to_server, _) = Talk::open(false);
    talk.get("/a")
        .wait(to_server)
        .say(false, response(200), 1_000);
    let unheard = talk.script.client;
    talk.wait(5).get("/b").wait(10).data(false, 1_000);
    talk.script.packets.last_mut().unwrap().1.ack = unheard;
    talk.wait(to_server).say(false, response(200), 200);
    let rows = talk.requests();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].count, rows[0].received_bytes, rows[0].sent_bytes),
        (2, 2_200, 200)
    );
    assert_eq!(talk.times(&rows[0]), (40, Some(40), Some(95)));
}

#[test]
fn the_set_up_of_tls_is_apart_from_the_first_request() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    talk.say(true, Message::Hello(Some("b.org".into())), 500)
        .wait(to_server + 300);
    talk.record(false, Record::SetUp, 1_400)
        .record(false, Record::Data, 300);
    talk.wait(to_client).record(true, Record::SetUp, 80);
    let unheard = talk.script.client;
    talk.record(true, Record::Data, 200).wait(to_server);
    // Tickets that the server sent before it had the request.
    talk.record(false, Record::Data, 250);
    talk.script.packets.last_mut().unwrap().1.ack = unheard;
    talk.wait(to_client).data(true, 0).wait(700);
    talk.record(false, Record::Data, 900);
    let rows = talk.requests();
    let told = |row: &Request| (row.kind, row.owner, row.received_bytes);
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            (RequestKind::TlsSetUp, Owner::TlsSetUp, 1_950),
            (RequestKind::Tls, Owner::Server, 900)
        ]
    );
    assert!(rows.iter().all(|row| row.name.as_deref() == Some("b.org")));
    assert_eq!(talk.times(&rows[1]), (380, Some(740), Some(740)));
}

#[test]
fn what_the_server_sends_unasked_is_a_greeting() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    talk.wait(to_server + 5_000)
        .data(false, 80)
        .wait(to_client + 1);
    talk.data(true, 20).wait(to_server).data(false, 30);
    let rows = talk.requests();
    let told = |row: &Request| (row.kind, row.owner, row.sent_bytes, row.received_bytes);
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            (RequestKind::Greeting, Owner::Server, 0, 80),
            (RequestKind::Turn, Owner::RoundTrip, 20, 30)
        ]
    );
    assert_eq!(talk.times(&rows[0]), (40, Some(5_040), Some(5_040)));
}

#[test]
fn an_answer_may_be_announced_and_may_not_come() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    talk.get("/up")
        .wait(to_server)
        .say(false, response(100), 30);
    talk.wait(to_client).data(true, 1_400).wait(to_server + 500);
    talk.say(false, response(201), 40)
        .wait(to_client)
        .get("/never");
    talk.wait(to_server).data(false, 0).wait(4_000);
    talk.script.send(true, FIN_ACK, 0);
    let rows = talk.requests();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].status, rows[0].sent_bytes), (Some(201), 1_500));
    assert_eq!(talk.times(&rows[0]), (40, Some(580), Some(580)));
    assert_eq!((rows[1].first, rows[1].owner), (None, Owner::Unanswered));
    assert_eq!(rows[1].owned, Duration::from_millis(4_000));
}

#[test]
fn who_only_sends_asks_for_nothing() {
    let (mut talk, to_server, _) = Talk::open(false);
    for _ in 0..3 {
        talk.data(true, 100)
            .wait(to_server)
            .data(false, 0)
            .wait(1_000);
    }
    assert_eq!(talk.requests(), []);
}

#[test]
fn of_one_direction_nothing_is_told() {
    let (mut talk, _, _) = Talk::open(false);
    for _ in 0..3 {
        talk.get("/a").wait(100);
    }
    talk.script
        .packets
        .retain(|(_, headers)| headers.flow.dst_port == 80);
    talk.said = vec![None; 2];
    assert_eq!(talk.requests(), []);
}

#[test]
fn names_are_left_out() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    talk.say(true, Message::Hello(Some("b.org".into())), 500)
        .wait(to_server);
    talk.data(false, 100)
        .wait(to_client)
        .get("/a")
        .wait(to_server);
    talk.say(false, response(200), 10);
    let rows = talk.told(Settings {
        names: false,
        ..Settings::default()
    });
    assert_eq!(rows.len(), 1);
    assert!(rows
        .iter()
        .all(|row| row.name.is_none() && row.path.is_none()));
}

#[test]
fn a_server_is_called_as_its_client_was_told() {
    for said in [None, Some("b.org")] {
        let (mut talk, to_server, to_client) = Talk::open(false);
        talk.said = vec![Some(Message::Named("a.org".into()))];
        talk.script.packets[0].1.record = Record::Named;
        let hello = Message::Hello(said.map(Into::into));
        talk.say(true, hello, 500).wait(to_server).data(false, 100);
        talk.wait(to_client)
            .record(true, Record::Data, 90)
            .wait(to_server)
            .data(false, 100);
        let rows = talk.requests();
        assert_eq!(rows.len(), 2);
        let name = Some(said.unwrap_or("a.org"));
        assert!(
            rows.iter().all(|row| row.name.as_deref() == name),
            "{rows:?}"
        );
    }
}

#[test]
fn an_alert_tells_who_ended_the_handshake() {
    for (description, known) in [(70, true), (200, false)] {
        let (mut talk, to_server, to_client) = Talk::open(false);
        talk.say(true, Message::Hello(None), 500)
            .wait(to_server)
            .record(false, Record::SetUp, 900)
            .wait(to_client)
            .say(true, Message::Alert(description), 7)
            .say(true, Message::Alert(40), 7);
        let rows = talk.rows(Settings::default());
        let alert = rows.connections[0].row.alert.unwrap();
        assert_eq!(alert.by, Direction::Forward);
        assert_eq!(alert.description, if known { description } else { 40 });
    }
}

#[test]
fn a_request_of_which_the_body_did_not_come_is_not_the_servers() {
    let head = "POST /x HTTP/1.1\r\nHost: a.org\r\nContent-Length: 50000\r\n";
    for (expects, owner) in [
        ("", Owner::LateOrLost),
        ("Expect: 100-continue\r\n", Owner::Unanswered),
    ] {
        let head = format!("{head}{expects}\r\n");
        let request = http::Request::of(head.as_bytes()).unwrap();
        let (mut talk, ..) = Talk::open(true);
        talk.say(true, Message::Request(request), head.len() as u32);
        talk.data(false, 0).wait(20_000).data(false, 0);
        let rows = talk.rows(Settings::default());
        let owners = told(&rows.connections[0].row.forward.account);
        assert!(owners.contains(&(owner, 20_000)), "{owners:?}");
    }
}

#[test]
fn who_was_late_in_a_handshake_of_tls_is_told() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    talk.say(true, Message::Hello(None), 500)
        .wait(to_server + 2_000);
    talk.record(false, Record::SetUp, 900).wait(to_client + 300);
    talk.record(true, Record::SetUp, 80);
    let row = &talk.rows(Settings::default()).connections[0].row;
    for (sender, late) in [(&row.forward, 2_000), (&row.backward, 300)] {
        let both = sender
            .account
            .iter()
            .find(|share| share.owner == Owner::TlsSetUp);
        let both = both.unwrap();
        assert_eq!(both.length, Duration::from_millis(2_300));
        assert_eq!(both.other, Duration::from_millis(late));
    }
}

#[test]
fn a_server_that_gives_up_waited_for_its_client() {
    let timeout = Status {
        code: 408,
        unasked: false,
        body: Body::NotTold,
    };
    for last in [Message::Farewell, Message::Response(timeout)] {
        let (mut talk, to_server, to_client) = Talk::open(false);
        talk.data(true, 30).wait(to_server).data(false, 40);
        talk.wait(to_client)
            .data(true, 0)
            .wait(30_000)
            .say(false, last, 60);
        let rows = talk.rows(Settings::default());
        let owners = told(&rows.connections[0].row.backward.account);
        assert!(
            owners
                .iter()
                .any(|(owner, ms)| *owner == Owner::BetweenRequests && *ms > 29_000),
            "{owners:?}"
        );
    }
}

#[test]
fn many_requests_are_given_before_their_connection_ends() {
    let (mut talk, to_server, to_client) = Talk::open(false);
    for number in 0..8_000_i64 {
        talk.get(&format!("/{number}"))
            .wait(to_server + number % 7 * 50);
        talk.say(false, response(200), 1_000).wait(to_client + 3);
    }
    let mut analyzer = Analyzer::new(Settings::default());
    for (number, (at, headers)) in talk.script.packets.iter().enumerate() {
        match talk.said.get(number).cloned().flatten() {
            Some(message) => analyzer.packet_saying(*at, headers, message),
            None => analyzer.packet(*at, headers),
        }
    }
    let mut rows = Rows::default();
    analyzer.drain(&mut rows);
    let early = rows.requests.len();
    assert!((2_000..8_000).contains(&early), "{early}");
    let all = talk.requests();
    assert_eq!(all.len(), 8_000);
    for (number, row) in all.iter().enumerate() {
        assert_eq!(row.path.as_deref(), Some(&format!("/{number}")[..]));
        let expected = match number % 7 {
            0 => Owner::RoundTrip,
            _ => Owner::Server,
        };
        assert_eq!(row.owner, expected, "{number}");
    }
}

/// The first packet of a capture may be a request.
#[test]
fn a_request_may_be_the_first_packet() {
    let mut script = Script::new(40_000);
    script.wait(1);
    let said = Vec::new();
    let mut talk = Talk { script, said };
    talk.get("/a").wait(40).say(false, response(200), 10);
    let rows = talk.requests();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].kind, rows[0].status),
        (RequestKind::Http, Some(200))
    );
}
