//! Runs one cell: sets the network up, makes the page fit, and repeats the transfer at each of the cell's phases.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time;

use anyhow::{anyhow, bail, Context, Result};
use rexmit_loss::tail::{Settings, TailRule};
use rexmit_loss::Transfer;
use rexmit_plan::{
    Cell, CellStart, Fetched, Ignored, Packets, Programs, ResendRow, Row, Server, Start,
};
use rexmit_time::{Duration, Time};

use crate::capture::{Buffer, Tap};
use crate::client::Client;
use crate::clock;
use crate::net::{in_thread, Network};
use crate::report::Report;
use crate::server::Nginx;
use crate::settings;
use crate::watch::{Options, Watch};

/// All that a cell's transfers need.
struct Bench<'a> {
    cell: &'a Cell,
    network: Network,
    server: Nginx,
    client: Client,
    watch: Watch,
    captures: Option<(Buffer, Buffer)>,
    _taps: Vec<Tap>,
}

/// The page that makes a transfer as long as the scenario wants it.
#[derive(Clone, Copy)]
struct Page {
    bytes: usize,
    head_bytes: u64,
}

/// Runs `cell` and reports its rows; what it made is gone afterwards.
pub fn run(
    cell: &Cell,
    programs: &Programs,
    share: &Path,
    report: &Report,
    release: &str,
) -> Result<()> {
    report.doing(Some(cell.id), format!("{}: setting up", cell.label));
    let network = Network::set_up(&cell.network, programs, cell.workload.receive_window_bytes)?;
    let hosts = [&network.h1.namespace, &network.h2.namespace];
    let read_back = settings::apply(&hosts, &cell.sysctls, &cell.congestion_control)?;
    let series = settings::series(release).unwrap_or_default();
    if let Some(bytes) = cell.workload.receive_window_bytes {
        settings::bound_receive_window(&network.h2.namespace, bytes, series)?;
    }
    let ignored = settings::ignored(&cell.sysctls, series);

    // What goes through the filter is kept there, dropped packets included.
    let both = cell.packets || cell.loss.needs_client();
    let captures = cell.capture.then(|| (Buffer::default(), Buffer::default()));
    let mut taps = Vec::new();
    if let Some((h1, h2)) = &captures {
        taps.push(Tap::start(&network.h1, h1.clone(), false)?);
        taps.push(Tap::start(&network.h2, h2.clone(), !both)?);
    }
    let server = match cell.workload.server {
        Server::Nginx => Nginx::start(programs.nginx()?, &network.h1, Path::new("/run/rexmit"))?,
    };
    let options = Options {
        rack: network.h1.namespace.run(|| Ok(rack_is_on(series)))?,
        lossy: cell.lossy(),
        captures: captures.clone(),
        both,
        packets: cell.packets,
    };
    let watch = Watch::start(&network, programs.nft()?, options)?;
    let client = Client::new(cell.workload.client, programs)?;
    let bench = Bench {
        cell,
        network,
        server,
        client,
        watch,
        captures,
        _taps: taps,
    };
    // The rest happens on the client's host.
    in_thread(move || {
        bench.network.h2.namespace.enter()?;
        bench.run(&read_back, &ignored, share, report)
    })
}

/// Whether the calling thread's namespace finds losses by RACK.
fn rack_is_on(series: (u32, u32)) -> bool {
    let recovery = fs::read_to_string("/proc/sys/net/ipv4/tcp_recovery").unwrap_or_default();
    series >= (6, 17) || recovery.trim().parse().is_ok_and(|bits: u32| bits & 1 != 0)
}

impl Bench<'_> {
    fn run(
        &self,
        read_back: &BTreeMap<String, String>,
        ignored: &[Ignored],
        share: &Path,
        report: &Report,
    ) -> Result<()> {
        let cell = self.cell;
        report.doing(Some(cell.id), format!("{}: fitting the page", cell.label));
        let mut warnings = Vec::new();
        let page = self.fit_page(&mut warnings)?;
        let body = CellStart {
            cell: cell.id,
            virtual_ns: clock::now().as_nanos(),
            page_bytes: page.bytes,
            head_bytes: page.head_bytes,
            transfer_bytes: page.head_bytes + page.bytes as u64,
            read_back,
            ignored,
            warnings: &warnings,
        };
        report.event("cell-start", &body);
        for (index, start) in cell.starts.iter().enumerate() {
            report.doing(
                Some(cell.id),
                format!(
                    "{}: transfer {} of {}",
                    cell.label,
                    index + 1,
                    cell.starts.len()
                ),
            );
            self.repeat(start, page, share, report)
                .with_context(|| format!("repetition {}", start.repetition))?;
        }
        report.event(
            "cell-end",
            &serde_json::json!({"cell": cell.id, "virtual_ns": clock::now().as_nanos()}),
        );
        Ok(())
    }

    /// Finds the length of the page by transfers without loss: the head's length and the segments' size are taken
    /// from the wire, and a last transfer shows that the result is what the scenario wants.
    fn fit_page(&self, warnings: &mut Vec<String>) -> Result<Page> {
        let workload = &self.cell.workload;
        let mtu = self.cell.network.mtu as usize;
        // Long enough that a segment is full.
        let mut page = Page {
            bytes: 4 * mtu,
            head_bytes: 0,
        };
        let mut mss = 0;
        for _ in 0..5 {
            self.server.set_page(page.bytes)?;
            let seen = self.rehearse(page)?;
            // A page of one segment shows less than a full one.
            mss = mss.max(u64::from(seen.mss_bytes));
            if mss > mtu as u64 {
                bail!("a segment of {mss} bytes left the server on a link of MTU {mtu}: an offload is not switched off");
            }
            page.head_bytes = seen.head_bytes;
            let want = match (workload.bytes, workload.segments) {
                (Some(bytes), None) => bytes,
                (None, Some(segments)) => u64::from(segments) * mss,
                _ => bail!("the plan names either the transfer's segments or its bytes"),
            };
            let Some(bytes) = want.checked_sub(seen.head_bytes) else {
                bail!(
                    "a transfer of {want} bytes cannot hold the response head of {} bytes",
                    seen.head_bytes
                );
            };
            if bytes == page.bytes as u64 {
                if workload
                    .segments
                    .is_some_and(|segments| u64::from(segments) != seen.segments)
                {
                    warnings.push(format!(
                        "the transfer leaves in {} segments of at most {mss} bytes, {} were asked for",
                        seen.segments,
                        workload.segments.unwrap_or_default()
                    ));
                }
                return Ok(page);
            }
            page.bytes = usize::try_from(bytes)?;
        }
        bail!("no length of the page gives the wanted transfer: the response head changes with each request")
    }

    /// One transfer without loss by rule.
    fn rehearse(&self, page: Page) -> Result<Transfer> {
        self.watch.begin(Box::new(TailRule::new(Settings {
            segments: 0,
            linger: Duration::MAX,
            ..Settings::default()
        })))?;
        let fetched = self.fetch(page)?;
        let seen = self.watch.finish()?.transfers.into_iter().next();
        let transfer = seen
            .ok_or_else(|| anyhow!("the filter saw no transfer"))?
            .transfer;
        if !fetched.complete {
            bail!(
                "a transfer without loss did not complete: {}",
                transfer.note().unwrap_or_default()
            );
        }
        self.captures.iter().for_each(|(h1, h2)| {
            h1.clear();
            h2.clear();
        });
        Ok(transfer)
    }

    fn fetch(&self, page: Page) -> Result<Fetched> {
        let limit = time::Duration::from_nanos(self.cell.transfer_timeout_ns);
        let fetched = self.client.fetch(self.server.address, page.bytes, limit);
        let fetched = fetched.with_context(|| format!("nginx said: {:?}", self.server.said()))?;
        // A last acknowledgement crosses the network, and resends that were under way with it.
        let one_way: u64 = self
            .cell
            .network
            .links
            .iter()
            .map(|link| link.delay_ns + link.jitter_ns)
            .sum();
        std::thread::sleep(time::Duration::from_nanos(2 * one_way + 1_000_000));
        Ok(fetched)
    }

    fn repeat(&self, start: &Start, page: Page, share: &Path, report: &Report) -> Result<()> {
        self.watch.begin(self.cell.loss.rule()?)?;
        let period = self.cell.phase_period_ns.max(1);
        let boundary = clock::now().as_nanos().next_multiple_of(period);
        let begin = Time::from_nanos(boundary + start.phase_ns);
        clock::sleep_until(begin);
        let fetched = self.fetch(page)?;
        let seen = self.watch.finish()?;
        let (counts, mut packets) = (seen.counts, seen.packets);
        let mut seen = seen.transfers.into_iter();
        let watched = seen
            .next()
            .ok_or_else(|| anyhow!("the filter saw no transfer"))?;
        report.event(
            "transfer",
            &Row::new(self.cell, start, &watched, counts, fetched, seen.count()),
        );
        for resend in &watched.resends {
            let row = ResendRow {
                cell: self.cell.id,
                repetition: start.repetition,
                resend,
            };
            report.event("retransmission", &row);
        }
        if self.cell.packets {
            for packet in &mut packets {
                packet.at_ns -= begin.as_nanos() as i64;
            }
            let body = Packets {
                cell: self.cell.id,
                repetition: start.repetition,
                packets: &packets,
            };
            report.event("packets", &body);
        }
        if let Some((h1, h2)) = &self.captures {
            let folder = share.join("captures");
            fs::create_dir_all(&folder)?;
            let path = |host: &str| {
                folder.join(format!(
                    "{}-{}.{host}.pcapng",
                    self.cell.id, start.repetition
                ))
            };
            h1.write(&path("h1"), self.network.h1.device)?;
            h2.write(&path("h2"), self.network.h2.device)?;
        }
        Ok(())
    }
}
