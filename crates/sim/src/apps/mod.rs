//! Programs at the ends of connections.

mod bulk;
mod bursts;
mod cut;
mod exchange;
mod http;
mod reader;
mod session;

use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::Time;

pub use bulk::{Sink, Source};
pub use bursts::{Reader, Writer};
pub use cut::Cut;
pub use exchange::{Answerer, Asker};
pub use http::{Browser, Nginx};
pub use reader::Stop;
pub use session::{Behaviour, Exchange, Host, Script, Visitor};

/// A program at one end of a connection.
#[derive(Clone, Debug, Default)]
pub enum App {
    /// Nobody: what comes stays unread.
    #[default]
    Idle,
    /// The lab's web server.
    Nginx(Nginx),
    /// The lab's own client.
    Browser(Browser),
    /// Asks again and again.
    Asker(Asker),
    /// Answers each question.
    Answerer(Answerer),
    /// Sends one way.
    Source(Source),
    /// Takes what comes.
    Sink(Sink),
    /// The client of a scripted session.
    Visitor(Visitor),
    /// The server of a scripted session.
    Host(Host),
    /// The server of bursts.
    Writer(Writer),
    /// The client of bursts.
    Reader(Reader),
}

impl App {
    /// Something happened to the connection: the program runs until it has to wait again, which takes no time.
    pub(crate) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match self {
            App::Idle => {}
            App::Nginx(app) => app.on_event(now, event, socket),
            App::Browser(app) => app.on_event(now, event, socket),
            App::Asker(app) => app.on_event(now, event, socket),
            App::Answerer(app) => app.on_event(now, event, socket),
            App::Source(app) => app.on_event(now, event, socket),
            App::Sink(app) => app.on_event(now, event, socket),
            App::Visitor(app) => app.on_event(now, event, socket),
            App::Host(app) => app.on_event(now, event, socket),
            App::Writer(app) => app.on_event(now, event, socket),
            App::Reader(app) => app.on_event(now, event, socket),
        }
    }

    /// Bytes of its response that a server has written.
    pub(crate) fn written(&self) -> u64 {
        match self {
            App::Nginx(app) => app.written(),
            _ => 0,
        }
    }

    /// When the program itself has something to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        match self {
            App::Asker(app) => app.deadline(),
            App::Nginx(app) => app.deadline(),
            App::Browser(app) => app.deadline(),
            App::Visitor(app) => app.deadline(),
            App::Host(app) => app.deadline(),
            App::Writer(app) => app.deadline(),
            App::Reader(app) => app.deadline(),
            _ => None,
        }
    }

    /// That time has come.
    pub(crate) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        match self {
            App::Asker(app) => app.on_deadline(now, socket),
            App::Nginx(app) => app.on_deadline(now, socket),
            App::Browser(app) => app.on_deadline(now, socket),
            App::Visitor(app) => app.on_deadline(now, socket),
            App::Host(app) => app.on_deadline(now, socket),
            App::Writer(app) => app.on_deadline(now, socket),
            App::Reader(app) => app.on_deadline(now, socket),
            _ => {}
        }
    }
}

/// What one `recv` of the programs takes at most.
const BUFFER: u32 = 64 << 10;

/// Reads until nothing is there; how much that was.
fn read_all(now: Time, socket: &mut impl Socket) -> u64 {
    let mut total = 0;
    loop {
        match socket.read(now, BUFFER) {
            0 => return total,
            bytes => total += u64::from(bytes),
        }
    }
}
