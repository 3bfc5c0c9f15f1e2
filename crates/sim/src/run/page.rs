//! A page is fetched.

use anyhow::Result;
use rexmit_plan::{BurstSeen, Ended, Fetched, Page, Run};
use rexmit_tcp::connection::{Connection, Event};
use rexmit_time::{Duration, Time};

use super::bench::Bench;
use super::inspect::Inspect;
use super::text;
use super::transfers::{OpenConnection, Opened, Transmitted};
use super::watch::Watch;
use crate::apps::{App, Browser, Nginx};
use crate::world::{EndId, World};

impl<M: Inspect> Bench<'_, M> {
    /// Opens the connection, has the page fetched, and waits until all is quiet. Further subflows are opened as soon as the
    /// client knows that the connection is one of Multipath TCP.
    pub fn send_page(
        &mut self,
        page: &Page,
        page_bytes: u64,
        opened: Opened<M>,
    ) -> Result<Transmitted> {
        let request = text::request(self.server);
        let total = text::head(page_bytes).len() as u64 + page_bytes;
        let (client, server) = programs(page, page_bytes, request.len());
        let apps = if self.cell.by_response() {
            let server = server.page_by_page(self.works());
            [App::Browser(client), App::Nginx(server)]
        } else {
            // The end of a connection is not modelled: the head says how long the page is.
            [App::Browser(client.awaiting(total)), App::Nginx(server)]
        };
        let mut one = opened.start(apps);
        let (client, first, begin) = (one.client, one.first, one.begin);
        let mut others: Vec<usize> = one.others().collect();
        let patience = self.patience()?;
        let fetched = fetch(&mut one.world, client, total, begin, patience, |world| {
            let meta = world.machine(client).and_then(Inspect::meta);
            if meta.is_some_and(|meta| meta.confirmed(first).is_some()) {
                for path in std::mem::take(&mut others) {
                    world.join(client, path);
                }
            }
        });
        let end = begin + Duration::from_nanos(i64::try_from(fetched.duration_ns)?);
        let complete = fetched.complete();
        let mut run = Run {
            client_ns: fetched.duration_ns,
            ended: fetched.ended,
            ..Run::default()
        };
        self.settle(&mut one, end, &mut run)?;
        self.learn(&one);
        one.told(run, begin, |run, watched| {
            run.bursts = vec![BurstSeen {
                t_start: watched.sent.t_first.unwrap_or(begin),
                t_end: complete.then_some(end),
                bytes: total,
            }];
        })
    }

    /// What hosts remember of each other, where the model has them remember it: of pages over TCP.
    fn learn(&mut self, one: &OpenConnection<M>) {
        if !self.cell.by_response() {
            return;
        }
        for (index, end) in [one.client.peer(), one.client].into_iter().enumerate() {
            let machine = one.world.machine(end);
            let connection = machine.and_then(|machine| machine.connection(0));
            if let Some(metrics) = connection.map(Connection::metrics) {
                self.metrics[index] = metrics;
            }
        }
    }
}

/// The client and the server of a page of so many bytes, asked for with a request of so many.
fn programs(page: &Page, page_bytes: u64, request_bytes: usize) -> (Browser, Nginx) {
    let request = request_bytes as u32;
    let head = text::head(page_bytes).len() as u32;
    let mut server = Nginx::new(request, head, page_bytes);
    if !page.tcp_nopush {
        server = server.without_nopush();
    }
    (Browser::new(request).with_pace(page.pace()), server)
}

/// Reads between two of the client's looks at how long the whole took.
const READS_A_LOOK: u32 = 16;

/// Runs until the client has read to the end of the file, or gives up. As the lab's client, it gives each read its
/// `patience`, and the whole only at every sixteenth. `also` is done after all that happens.
fn fetch<M: Inspect>(
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
