//! Two connections over a path, in virtual time.

mod close;
mod defer;
mod handshake;
mod lossy;
mod marks;
mod transfer;

use rexmit_sim::apps::{Browser, Nginx, Sink};
use rexmit_sim::App;
use rexmit_tcp::connection::{Connection, Event, State};
use rexmit_testing::{settings, Lab, Plan};
use rexmit_time::Duration;

/// A request of 100 bytes and a response of 230 and `body` bytes over a path of `rtt_ms`; without a body nobody answers.
fn page(stack: &str, body: u64, rtt_ms: f64) -> Plan {
    let server = match body {
        0 => App::Sink(Sink::default()),
        _ => App::Nginx(Nginx::new(100, 230, body)),
    };
    let apps = [App::Browser(Browser::new(100)), server];
    let one_way = Duration::from_nanos((rtt_ms * 5e5) as i64);
    Plan::new(settings(stack, &[]), one_way, apps)
}

/// The same, opened.
fn fetch(stack: &str, body: u64, rtt_ms: f64) -> Lab {
    Lab::open(page(stack, body, rtt_ms))
}

/// What broke the connection of a browser at `end`.
fn broke(app: &App) -> Option<Event> {
    match app {
        App::Browser(browser) => browser.broke,
        _ => panic!("no browser"),
    }
}

/// The states of client and server.
fn states(lab: &Lab<Connection>) -> (State, State) {
    (lab.client().state(), lab.server().state())
}
