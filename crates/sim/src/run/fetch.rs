//! A page is fetched.

use std::num::NonZeroU64;

use rexmit_plan::{Ended, Fetched, Page};
use rexmit_tcp::connection::Event;
use rexmit_time::{Duration, Time};

use super::inspect::Inspect;
use super::text;
use super::watch::Watch;
use crate::apps::{App, Browser, Nginx};
use crate::world::{EndId, World};

/// The client and the server of a page of so many bytes, asked for with a request of so many.
pub fn programs(page: &Page, page_bytes: u64, request_bytes: usize) -> (Browser, Nginx) {
    let request = request_bytes as u32;
    let pace = page.read_bps.and_then(NonZeroU64::new);
    let head = text::head(page_bytes).len() as u32;
    let mut server = Nginx::new(request, head, page_bytes);
    if !page.tcp_nopush {
        server = server.without_nopush();
    }
    (Browser::new(request).with_pace(pace), server)
}

/// Reads between two of the client's looks at how long the whole took.
const READS_A_LOOK: u32 = 16;

/// Runs until the client has read to the end of the file, or gives up. As the lab's client, it gives each read its
/// `patience`, and the whole only at every sixteenth. `also` is done after all that happens.
pub fn fetch<M: Inspect>(
    world: &mut World<M, Watch>,
    client: EndId,
    bytes: u64,
    begin: Time,
    patience: Duration,
    mut also: impl FnMut(&mut World<M, Watch>),
) -> Fetched {
    let mut ended = None;
    let mut limit = begin + patience;
    let (mut received, mut reads) = (0, 0);
    while world.next_time().is_some_and(|time| time <= limit) {
        world.step();
        also(world);
        let App::Browser(browser) = world.app(client) else {
            continue;
        };
        if browser.finished.is_some() || browser.broke.is_some() {
            let how = match browser.broke {
                Some(Event::TimedOut) => Ended::GaveUp,
                Some(_) => Ended::Reset,
                None if browser.received == bytes => Ended::Finished,
                None => Ended::Short,
            };
            ended = Some((browser.finished.unwrap_or(world.now()), how));
            break;
        }
        if browser.received > received {
            received = browser.received;
            reads += 1;
            limit = world.now() + patience;
            if (reads + 1) % READS_A_LOOK == 0 && world.now() > begin + patience {
                ended = Some((world.now(), Ended::TimedOut));
                break;
            }
        }
    }
    let (end, ended) = ended.unwrap_or((limit, Ended::TimedOut));
    Fetched {
        duration_ns: end.since(begin).as_nanos().unsigned_abs(),
        ended,
        said: None,
    }
}
