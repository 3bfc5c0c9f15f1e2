//! Pages over plain TCP: the page is made to fit, then a transfer for each start.

use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::tail::{self, TailRule};
use rexmit_loss::Rule;
use rexmit_plan::{
    CellStart, Counts, Events, Fetched, Page, PageStart, Run, Start, Story, Told, Watched,
};
use rexmit_tcp::connection::Connection;
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Streams, Time};

use super::bench::{ephemeral_port, style, Bench, Seen, PORT};
use super::fetch::{fetch, programs};
use super::inspect::{self, Inspect};
use super::text::{self, Stream};
use super::watch::{Speakers, Wants, Watch};
use crate::apps::App;

/// Transfers of pages.
struct Responses<'a, 'b, M> {
    bench: &'a mut Bench<'b, M>,
    page: &'b Page,
    transfers: u64,
}

/// What was seen of a transfer.
struct Transfer {
    seen: Seen,
    responses: Vec<Watched>,
    counts: Counts,
    fetched: Fetched,
}

/// Runs the cell of `bench`, of a page over plain TCP.
pub fn run<M: Inspect>(
    bench: &mut Bench<'_, M>,
    share: Option<&Path>,
    out: &mut impl Events,
) -> Result<()> {
    let cell = bench.cell;
    let page = cell.workload.page().ok_or_else(|| anyhow!("no page"))?;
    let mut responses = Responses {
        bench,
        page,
        transfers: 0,
    };
    let mut warnings = Vec::new();
    let page_bytes = responses.fit_page(&mut warnings)?;
    let head_bytes = text::head(page_bytes).len() as u64;
    let bench = &*responses.bench;
    let body = CellStart {
        cell: cell.id,
        virtual_ns: bench.free.as_nanos(),
        page: Some(PageStart::new(page_bytes, head_bytes)),
        rehearsed: None,
        read_back: &bench.hosts.read_back,
        ignored: &bench.ignored(),
        warnings: &warnings,
    };
    out.event("cell-start", &body)?;
    responses.warm_up(page_bytes)?;
    for start in &cell.starts {
        responses
            .repeat(start, page_bytes, share, out)
            .with_context(|| format!("repetition {}", start.repetition))?;
    }
    Ok(())
}

impl<M: Inspect> Responses<'_, '_, M> {
    /// Finds the length of the page that makes the transfer as long as the plan wants it, and tries it without loss.
    fn fit_page(&mut self, warnings: &mut Vec<String>) -> Result<u64> {
        let mss = self.segment_bytes();
        let want = self.page.bytes_wanted(mss)?;
        let page_bytes = text::fit(want).ok_or_else(|| {
            anyhow!("no length of the page makes a transfer of {want} bytes: the response head alone has {}", text::head(0).len())
        })?;
        let mut seen = self.rehearse(self.bench.free, page_bytes)?;
        if !seen.fetched.complete() {
            warnings.push(format!(
                "a transfer from which the rule took nothing did not complete in {} s either",
                self.patience_s()?
            ));
            // The same over links that lose nothing by chance, with a client that waits: what the cell's transfers come to
            // is for their rows to tell.
            self.bench.undisturbed = true;
            seen = self.rehearse(self.bench.free, page_bytes)?;
            self.bench.undisturbed = false;
        }
        let watched = seen.responses.first();
        let Some(transfer) = watched.and_then(|watched| watched.transfer.as_ref()) else {
            bail!("a transfer without loss: no head of a response left the server in {} s; the path, the receive window or the timeout keeps it from that", self.patience_s()?);
        };
        if !seen.fetched.complete() {
            let note = transfer.note();
            bail!(
                "a transfer without loss did not complete in {} s: {}",
                self.patience_s()?,
                note.as_deref().unwrap_or("the client gave up"),
            );
        }
        if let Some(segments) = self.page.segments {
            if u64::from(segments) != transfer.segments {
                warnings.push(format!(
                    "the transfer leaves in {} segments of at most {mss} bytes, {segments} were asked for",
                    transfer.segments
                ));
            }
        }
        Ok(page_bytes)
    }

    /// Transfers without loss, before those that count: hosts that remember learn from them.
    fn warm_up(&mut self, page_bytes: u64) -> Result<()> {
        // The length of the page was tried on hosts of which nothing else is known.
        self.bench.metrics = [Metrics::default(); 2];
        let cell = self.bench.cell;
        for start in cell.starts.iter().cycle().take(cell.warm_up as usize) {
            let begin = self.begin(start, None);
            self.rehearse(begin, page_bytes)?;
        }
        Ok(())
    }

    /// When a transfer begins: at its phase after `boundary`, or after the next multiple of the period.
    fn begin(&self, start: &Start, boundary: Option<u64>) -> Time {
        let period = self.bench.cell.phase_period_ns.max(1);
        let next = || self.bench.free.as_nanos().next_multiple_of(period);
        Time::from_nanos(boundary.unwrap_or_else(next) + start.phase_ns)
    }

    /// One transfer from which the rule takes nothing.
    fn rehearse(&mut self, begin: Time, page_bytes: u64) -> Result<Transfer> {
        let rule = TailRule::new(tail::Settings {
            linger: Duration::MAX,
            ..tail::Settings::default()
        });
        self.transfer(Box::new(rule), Wants::default(), false, begin, page_bytes)
    }

    fn patience_s(&self) -> Result<f64> {
        Ok(self.bench.patience()?.as_secs_f64())
    }

    /// Payload of a full segment.
    fn segment_bytes(&self) -> u64 {
        let timestamps = if self.bench.hosts.server.settings.timestamps {
            12
        } else {
            0
        };
        let headers = self.bench.ip_header() + 20 + timestamps;
        u64::from(self.bench.cell.network.mtu).saturating_sub(headers)
    }

    fn repeat(
        &mut self,
        start: &Start,
        page_bytes: u64,
        share: Option<&Path>,
        out: &mut impl Events,
    ) -> Result<()> {
        let cell = self.bench.cell;
        let begin = self.begin(start, start.boundary_ns);
        let (rule, wants) = (cell.loss.rule()?, self.bench.wants());
        let transfer = self.transfer(rule, wants, cell.lossy(), begin, page_bytes)?;
        let size = text::head(page_bytes).len() as u64 + page_bytes;
        let run = Run::of_page(transfer.fetched, transfer.counts);
        let told = Told::Responses(transfer.responses, size);
        self.bench
            .write(start, told, &run, transfer.seen, share, out)
    }

    /// One transfer on hosts that know of no other.
    fn transfer(
        &mut self,
        rule: Box<dyn Rule + Send>,
        wants: Wants,
        lossy: bool,
        begin: Time,
        page_bytes: u64,
    ) -> Result<Transfer> {
        let number = self.transfers;
        self.transfers += 1;
        let bench = &mut *self.bench;
        let request = text::request(bench.server);
        let head = text::head(page_bytes);
        let (client, server) = programs(self.page, page_bytes, request.len());
        let total = head.len() as u64 + page_bytes;
        let speakers = Speakers {
            streams: [Stream::of(head), Stream::of(request)],
            keys: None,
            clients: Vec::new(),
            style: style(bench.cell),
        };
        let watch = Watch::new(rule, wants, Story::new(0, 0, lossy), speakers);
        let streams = Streams::new(bench.streams.stream("transfer", number).next_u64());
        let mut built = bench.build(watch, wants, &streams, begin);
        let port = ephemeral_port(&mut bench.streams.stream("port", number));
        let world = &mut built.world;
        let path = bench.cell.first_path as usize - 1;
        let apps = [
            App::Browser(client),
            App::Nginx(server.page_by_page(bench.works())),
        ];
        let paths = [(built.clients[path], port)];
        let end = world.open_over(begin, &paths, (built.server, PORT), 0, apps);
        let fetched = fetch(world, end, total, begin, bench.patience()?, |_| {});
        let over = begin + Duration::from_nanos(i64::try_from(fetched.duration_ns)?);
        bench.free = over + bench.settling()?;
        world.run_until(bench.free);
        let counts = world
            .machine(end.peer())
            .map_or_else(Counts::default, |one| inspect::counts(one, 1));
        for (index, end) in [end.peer(), end].into_iter().enumerate() {
            let connection = world.machine(end).and_then(|machine| machine.connection(0));
            if let Some(metrics) = connection.map(Connection::metrics) {
                bench.metrics[index] = metrics;
            }
        }
        let watch = &mut world.gate;
        watch.finish(bench.free);
        if let Some(error) = watch.failed.take() {
            return Err(error);
        }
        let (log, captures) = watch.kept();
        Ok(Transfer {
            seen: Seen {
                log,
                captures,
                planned: begin,
            },
            responses: watch.story.transfers(),
            counts,
            fetched,
        })
    }
}
