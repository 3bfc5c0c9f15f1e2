//! Two connections, the path between them and what the applications do.

use std::collections::BTreeMap;
use std::sync::Arc;

use rexmit_tcp::clock::Clock;
use rexmit_tcp::connection::{
    Connection, DeferAccept, Event, Local, Progress, Response, Sent, Socket, State,
};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::stacks;
use rexmit_tcp::Segment;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

/// What the path does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives after the path's delay.
    Pass,
    /// It is lost.
    Lose,
    /// It arrives so much later.
    Late(Duration),
    /// It arrives twice.
    Twice,
}

/// A packet as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    pub at_ms: f64,
    /// From the server.
    pub down: bool,
    pub sent: Sent,
    pub fate: Fate,
}

/// One end and its application.
pub struct End {
    pub connection: Connection,
    pub events: Vec<Event>,
    /// Bytes read.
    pub read: u64,
    /// Reads all there is as soon as it is there, and closes at the end of the stream.
    pub reads: bool,
    pub closes: bool,
}

pub struct Pair {
    pub settings: Arc<Settings>,
    pub clock: Clock,
    pub client: End,
    pub server: Option<End>,
    pub now: Time,
    pub log: Vec<Logged>,
    /// Written by the server once the request is there.
    pub response: Option<Response>,
    /// Written by the client once it is connected.
    pub request: u32,
    /// What the server's listener does.
    pub defer_accept: Option<DeferAccept>,
    delay: Duration,
    wire: BTreeMap<(Time, u64), (bool, Segment)>,
    count: u64,
    fate: Box<dyn FnMut(&Logged) -> Fate>,
}

pub const BEGIN: Time = Time::from_nanos(5_000_200_000);

pub fn settings(stack: &str) -> Arc<Settings> {
    let (settings, _) = stacks::build(stack, &BTreeMap::new(), &BTreeMap::new()).unwrap();
    Arc::new(settings)
}

pub fn local(iss: u32, timestamp_offset: u32) -> Local {
    Local {
        timestamp_offset,
        ..Local::ethernet(SeqNum::new(iss))
    }
}

const CLIENT_ISS: u32 = 0xffff_ff00;
const SERVER_ISS: u32 = 0x7fff_f000;

impl End {
    fn new(connection: Connection) -> Self {
        End {
            connection,
            events: Vec::new(),
            read: 0,
            reads: true,
            closes: true,
        }
    }

    pub fn saw(&self, event: Event) -> bool {
        self.events.contains(&event)
    }
}

impl Pair {
    /// A pair that has a request of 100 bytes and a response of `body` bytes to exchange over a path of `rtt_ms`.
    pub fn new(stack: &str, body: u64, rtt_ms: f64) -> Self {
        let settings = settings(stack);
        let clock = settings.timers.clock();
        let client = Connection::connect(
            Arc::clone(&settings),
            clock,
            &local(CLIENT_ISS, 0x8000_0000),
            BEGIN,
        );
        Pair {
            settings,
            clock,
            client: End::new(client),
            server: None,
            now: BEGIN,
            log: Vec::new(),
            response: (body > 0).then(|| Response::new(230, body)),
            request: 100,
            defer_accept: None,
            delay: Duration::from_nanos((rtt_ms * 5e5) as i64),
            wire: BTreeMap::new(),
            count: 0,
            fate: Box::new(|_| Fate::Pass),
        }
    }

    /// The same over a path that decides by `fate`.
    pub fn with_path(mut self, fate: impl FnMut(&Logged) -> Fate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    pub fn millis(&self) -> f64 {
        (self.now - BEGIN).as_nanos() as f64 / 1e6
    }

    fn end(&mut self, down: bool) -> Option<&mut End> {
        if down {
            self.server.as_mut()
        } else {
            Some(&mut self.client)
        }
    }

    /// Fetches what both ends have to send and lets the applications do what they would.
    pub fn settle(&mut self) {
        loop {
            let mut busy = false;
            for down in [false, true] {
                busy |= self.transmit(down);
                busy |= self.run_application(down);
            }
            if !busy {
                break;
            }
        }
    }

    fn transmit(&mut self, down: bool) -> bool {
        let now = self.now;
        let mut any = false;
        while let Some(sent) = self
            .end(down)
            .and_then(|end| end.connection.poll_transmit(now))
        {
            any = true;
            let mut logged = Logged {
                at_ms: self.millis(),
                down,
                sent,
                fate: Fate::Pass,
            };
            logged.fate = (self.fate)(&logged);
            self.log.push(logged);
            let arrival = now + self.delay;
            let arrivals = match logged.fate {
                Fate::Pass => vec![arrival],
                Fate::Lose => vec![],
                Fate::Late(by) => vec![arrival + by],
                Fate::Twice => vec![arrival, arrival],
            };
            for at in arrivals {
                self.count += 1;
                self.wire.insert((at, self.count), (!down, sent.segment));
            }
            if sent.in_host_bytes > 0 {
                if let Some(end) = self.end(down) {
                    end.connection.left_host(now, sent.in_host_bytes);
                }
            }
        }
        any
    }

    fn run_application(&mut self, down: bool) -> bool {
        let now = self.now;
        let request = self.request;
        let mut response = self.response;
        let Some(end) = self.end(down) else {
            return false;
        };
        let mut any = false;
        while let Some(event) = end.connection.poll_event() {
            any = true;
            end.events.push(event);
            if event == Event::Established && !down {
                assert_eq!(end.connection.write(now, request, false), request);
            }
        }
        if any && end.reads {
            loop {
                let taken = end.connection.read(now, 65_536);
                if taken == 0 {
                    break;
                }
                end.read += u64::from(taken);
            }
            if down && end.read >= u64::from(request) {
                if let Some(response) = &mut response {
                    if end.connection.state() != State::Closed
                        && !matches!(end.connection.state(), State::FinWait1 | State::FinWait2)
                    {
                        let progress = response.write_all(now, &mut end.connection);
                        assert!(progress == Progress::Done || end.closes);
                    }
                }
            }
            if end.closes && end.connection.at_end() {
                end.connection.close(now);
            }
        }
        self.response = response;
        any
    }

    /// Goes on to the next thing that happens; false if nothing will, or not before `until_ms`.
    pub fn step(&mut self, until_ms: f64) -> bool {
        self.settle();
        let until = BEGIN + Duration::from_nanos((until_ms * 1e6) as i64);
        let arrival = self.wire.keys().next().map(|&(at, _)| at);
        let deadlines = [
            self.client.connection.deadline(),
            self.server
                .as_ref()
                .and_then(|end| end.connection.deadline()),
        ];
        let next = deadlines.into_iter().flatten().chain(arrival).min();
        let Some(next) = next.filter(|&next| next <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        assert!(next >= self.now || arrival != Some(next), "time goes back");
        self.now = self.now.max(next);
        let now = self.now;
        if arrival == Some(next) {
            if let Some((_, (down, segment))) = self.wire.pop_first() {
                self.deliver(down, &segment);
            }
        } else {
            for end in [Some(&mut self.client), self.server.as_mut()]
                .into_iter()
                .flatten()
            {
                if end.connection.deadline().is_some_and(|due| due <= now) {
                    end.connection.on_deadline(now);
                }
            }
        }
        self.settle();
        true
    }

    fn deliver(&mut self, down: bool, segment: &Segment) {
        let now = self.now;
        if let Some(end) = self.end(down) {
            end.connection.on_segment(now, segment);
        } else if segment.flags.syn() && !segment.flags.ack() {
            let local = Local {
                defer_accept: self.defer_accept,
                ..local(SERVER_ISS, 77)
            };
            let settings = Arc::clone(&self.settings);
            let server = Connection::accept(settings, self.clock, &local, segment, now);
            self.server = Some(End::new(server));
        }
    }

    /// Runs until `until_ms`, or until nothing more happens.
    pub fn run(&mut self, until_ms: f64) -> &mut Self {
        while self.step(until_ms) {}
        self
    }

    pub fn server(&mut self) -> &mut End {
        self.server.as_mut().expect("a server")
    }

    /// The packets that the server sent, or the client.
    pub fn sent(&self, down: bool) -> impl Iterator<Item = &Logged> {
        self.log.iter().filter(move |logged| logged.down == down)
    }

    /// When packets of the server, or the client, were sent for which `which` holds, in milliseconds.
    pub fn times(&self, down: bool, which: impl Fn(&Segment) -> bool) -> Vec<f64> {
        self.sent(down)
            .filter(|logged| which(&logged.sent.segment))
            .map(|logged| logged.at_ms)
            .collect()
    }
}
