//! The hosts, the network, the server, the client and the filter that a cell's transfers need, kept for the next cell
//! where that can do with them.
//!
//! Programs take long to start in a guest, so what a next cell needs in the same form stays: namespaces with all that
//! stands in them, the filter, and the web server unless a setting differs that a listening socket takes in when it
//! is made. Links get fresh queueing disciplines, and settings of the last cell go back to what they were at first.
//! Hosts remember nothing of earlier connections (`tcp_no_metrics_save`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{anyhow, Result};
use rexmit_plan::{
    Cell, ClientKind, Http, Ignored, NetworkPlan, Offloads, Place, Programs, Qdisc, RouteMetrics,
    Start, Workload,
};
use rexmit_time::{Streams, Time};

use crate::capture::{Buffer, Interface, Tap};
use crate::client::Client;
use crate::kernel::mptcp;
use crate::net::{self, line, Manner, Namespace, Network};
use crate::opener::Opener;
use crate::outlet;
use crate::page::Lengths;
use crate::real_time;
use crate::server::Nginx;
use crate::settings::{self, Former};
use crate::surroundings::Surroundings;
use crate::watch::{Options, Watch};

/// Settings of a namespace that TCP looks up when it needs them. Of all others a listening socket may hold what it found
/// when it was made, and give it to its connections (`tcp_init_sock`).
const LOOKED_UP: [&str; 7] = [
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
];

/// All that a cell's transfers need.
pub struct Bench {
    /// Hosts and links.
    pub network: Network,
    /// Who serves and fetches pages.
    web: Option<Web>,
    /// Who opens connections that this program watches to their ends.
    opener: Option<Opener>,
    /// The loss filter.
    pub watch: Watch,
    /// What is kept of h1's and h2's packets.
    captures: Option<(Buffer, Buffer)>,
    /// RACK finds losses on the server's host (`tcp_recovery` bit 0x1).
    pub rack: bool,
    /// What is known of the lengths of responses.
    pub lengths: Lengths,
    /// The cell's settings as the kernel has them, and those that it does not heed.
    pub settings: (BTreeMap<String, String>, Vec<Ignored>),
    /// The packet scheduler, of Multipath TCP.
    pub scheduler: Option<String>,
    /// What is otherwise here than on new kernels, for the run's record.
    pub older: Vec<String>,
    /// What is left to chance at the links, where they are a program.
    streams: Streams,
    _taps: Vec<Tap>,
    form: Option<Form>,
    listening: BTreeMap<String, String>,
    former: Former,
}

/// Who serves and fetches pages.
pub struct Web {
    /// The web server on h1.
    pub server: Nginx,
    /// Who fetches, from h2.
    pub client: Client,
}

/// What cells must have in common to share a bench.
#[derive(PartialEq, Eq)]
struct Form {
    family: u8,
    mtu: u32,
    paths: usize,
    line: bool,
    /// `None` for bursts.
    client: Option<ClientKind>,
    /// The path of a page's client, where a program chooses none itself.
    first_path: Option<u32>,
    offloads: Offloads,
    route: RouteMetrics,
    qdisc: Option<Qdisc>,
    /// `None` for bursts.
    http: Option<Http>,
    by_response: bool,
    both: bool,
    packets: bool,
    only_the_tail: bool,
}

impl Form {
    /// `None` when the cell's bench is for that cell alone.
    fn shared(cell: &Cell) -> Option<Self> {
        let page = cell.workload.page();
        // A bound window is part of the client's route, links in the hosts are part of the hosts.
        let alone = cell.capture
            || cell.network.at == Place::Host
            || page.is_some_and(|page| page.receive_window_bytes.is_some());
        (!alone).then(|| Self {
            family: cell.network.family,
            mtu: cell.network.mtu,
            paths: cell.network.paths(),
            line: line::carries(&cell.network),
            client: page.map(|page| page.client),
            first_path: page.map(|_| cell.first_path),
            offloads: cell.offload,
            route: cell.route,
            qdisc: cell.qdisc,
            http: page.map(|page| page.http),
            by_response: cell.by_response(),
            both: sees_both(cell),
            packets: cell.packets,
            only_the_tail: only_the_tail(cell),
        })
    }
}

/// Whether the filter must see the client's packets.
fn sees_both(cell: &Cell) -> bool {
    // A line carries both ways.
    line::carries(&cell.network) || cell.packets || cell.needs_client()
}

/// Whether nothing is asked of a transfer's packets before its tail. Where some are lost on the way, any may be sent again.
fn only_the_tail(cell: &Cell) -> bool {
    let all_are_asked_for = cell.capture || cell.packets || cell.lossy();
    cell.by_response() && !all_are_asked_for && !cell.offload.segmentation
}

impl Bench {
    /// Sets everything up for `cell`.
    pub fn set_up(cell: &Cell, around: &Surroundings<'_>) -> Result<Self> {
        let (programs, series) = (around.programs, around.series);
        let page = cell.workload.page();
        let window = page.and_then(|page| page.receive_window_bytes);
        let manner = Manner {
            receive_window_bytes: window,
            way: page.map(|_| cell.first_path as usize),
            offloads: cell.offload,
            route: cell.route,
            qdisc: cell.qdisc,
        };
        let network = Network::set_up(&cell.network, manner)?;
        let hosts = [&network.h1.namespace, &network.h2.namespace];
        let mut former = Former::default();
        let read_back =
            settings::apply(&hosts, &cell.sysctls, &cell.congestion_control, &mut former)?;
        let mut older = older_ways();
        if let Some(bytes) = window {
            let shared = settings::bound_receive_window(&network.h2.namespace, bytes, series)?;
            if !shared.is_empty() {
                let names = shared.join(" and ");
                older.push(format!("{names}, which bound the client's window, are the server's too: this kernel's hosts share them"));
            }
        }
        let both = sees_both(cell);
        let captures = cell.capture.then(|| (Buffer::default(), Buffer::default()));
        let taps = taps(&network, both, &captures)?;
        let web = match page {
            Some(page) => Some(Web {
                server: start_server(cell, programs, &network)?,
                client: Client::new(page, programs)?,
            }),
            None => None,
        };
        let scheduler = scheduler(cell, &network)?;
        let rack = rack_is_on(&network.h1.namespace, series);
        let options = Options {
            captures: captures.clone(),
            both,
            packets: cell.packets,
            minds_paths: !cell.by_response(),
            port: cell.workload.port(),
            only_the_tail: only_the_tail(cell),
        };
        let watch = Watch::start(&network, options)?;
        Ok(Self {
            opener: opener(cell, &network)?,
            streams: Streams::new(cell.seed.unwrap_or(0)),
            form: Form::shared(cell),
            listening: listening(cell),
            settings: (read_back, settings::ignored(&cell.sysctls, series)),
            lengths: Lengths::default(),
            web,
            watch,
            captures,
            rack,
            scheduler,
            network,
            older,
            _taps: taps,
            former,
        })
    }

    /// Whether `cell` can do with this bench once that is made ready for it.
    pub fn suits(&self, cell: &Cell) -> bool {
        self.form.is_some() && Form::shared(cell) == self.form
    }

    /// The bench made ready for another cell that it [suits](Bench::suits).
    pub fn made_ready(mut self, cell: &Cell, around: &Surroundings<'_>) -> Result<Self> {
        let (programs, series) = (around.programs, around.series);
        // Its port is the next one's, which listens under other settings.
        self.opener = None;
        self.network.replace_links(&cell.network)?;
        let hosts = [&self.network.h1.namespace, &self.network.h2.namespace];
        settings::restore(&hosts, &self.former)?;
        let read_back = settings::apply(
            &hosts,
            &cell.sysctls,
            &cell.congestion_control,
            &mut self.former,
        )?;
        self.settings = (read_back, settings::ignored(&cell.sysctls, series));
        self.scheduler = scheduler(cell, &self.network)?;
        self.rack = rack_is_on(&self.network.h1.namespace, series);
        let listening = listening(cell);
        if let Some(web) = self.web.as_mut().filter(|_| listening != self.listening) {
            web.server.stop();
            web.server = start_server(cell, programs, &self.network)?;
            self.listening = listening;
        }
        self.opener = opener(cell, &self.network)?;
        Ok(self)
    }

    /// Links that are a program begin afresh, for a transfer that starts at `begin`, `phase_ns` after a period. They fail at
    /// their times where that `counts`; what they draw is the same for all cells at this phase.
    pub fn begin_line(
        &self,
        plan: &NetworkPlan,
        begin: Time,
        phase_ns: u64,
        counts: bool,
    ) -> Result<()> {
        if plan.tells_of_large_packets() {
            self.network.forget_ways()?;
        }
        if let Some(line) = &self.network.line {
            let name = if counts { "transfer" } else { "rehearsal" };
            let streams = Streams::new(self.streams.stream(name, phase_ns).next_u64());
            line.begin(plan, &streams, counts.then_some(begin));
        }
        Ok(())
    }

    /// Who serves and fetches the page.
    pub fn web(&self) -> Result<&Web> {
        self.web
            .as_ref()
            .ok_or_else(|| anyhow!("a bench without a web server"))
    }

    /// Whether the web server serves still, where there is one.
    ///
    /// # Errors
    /// When it has ended.
    pub fn web_must_serve(&mut self) -> Result<()> {
        self.web
            .as_mut()
            .map_or(Ok(()), |web| web.server.must_serve())
    }

    /// Who opens connections, and the network that it opens them over.
    pub fn opener(&mut self) -> Result<(&mut Opener, &Network)> {
        let opener = self.opener.as_mut();
        let opener = opener.ok_or_else(|| anyhow!("a bench of responses"))?;
        Ok((opener, &self.network))
    }

    /// Forgets what was captured.
    pub fn forget_packets(&self) {
        self.captures.iter().for_each(|(h1, h2)| {
            h1.clear();
            h2.clear();
        });
    }

    /// Writes what was captured of a transfer.
    pub fn write_captures(&self, cell: &Cell, start: &Start, share: &Path) -> Result<()> {
        if let Some((h1, h2)) = &self.captures {
            let folder = share.join("captures");
            fs::create_dir_all(&folder)?;
            let path =
                |host: &str| folder.join(format!("{}-{}.{host}.pcapng", cell.id, start.repetition));
            h1.write(&path("h1"), &[self.network.h1.device])?;
            h2.write(&path("h2"), &self.network.client_devices)?;
            for host in ["h1", "h2"] {
                outlet::publish(share, &path(host))?;
            }
        }
        Ok(())
    }
}

fn start_server(cell: &Cell, programs: &Programs, network: &Network) -> Result<Nginx> {
    let folder = Path::new("/run/rexmit");
    Nginx::start(programs, &network.h1, folder, cell)
}

/// Who opens the connections of a cell whose paths the rule minds.
fn opener(cell: &Cell, network: &Network) -> Result<Option<Opener>> {
    if cell.by_response() {
        return Ok(None);
    }
    let listens = matches!(cell.workload, Workload::Burst(_));
    let first_path = cell.first_path as usize;
    Opener::open(network, cell.protocol, first_path, listens).map(Some)
}

/// The cell's settings that a listening socket may hold.
fn listening(cell: &Cell) -> BTreeMap<String, String> {
    cell.sysctls
        .iter()
        .filter(|(name, _)| !LOOKED_UP.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The packet scheduler, of Multipath TCP.
fn scheduler(cell: &Cell, network: &Network) -> Result<Option<String>> {
    let host = &network.h1.namespace;
    host.run(|| Ok(cell.is_multipath().then(mptcp::scheduler)))
}

/// What the filter does not see: what h1 receives, and both directions of h2 where it does not see what that sends. What
/// goes through the filter is kept there, dropped packets included.
fn taps(network: &Network, both: bool, captures: &Option<(Buffer, Buffer)>) -> Result<Vec<Tap>> {
    let Some((h1, h2)) = captures else {
        return Ok(Vec::new());
    };
    let mut taps = vec![Tap::start(
        &Interface::only(&network.h1),
        h1.clone(),
        false,
    )?];
    let devices = network.clients.iter().zip(&network.client_devices);
    for (number, (&address, device)) in devices.enumerate() {
        let at = Interface {
            host: &network.h2.namespace,
            device,
            address,
            number,
        };
        taps.push(Tap::start(&at, h2.clone(), !both)?);
    }
    Ok(taps)
}

/// What a run's record says of a bench on an old kernel.
fn older_ways() -> Vec<String> {
    let one = (!real_time::here() && net::netems() == 1).then(|| {
        "links have one netem each way: this kernel parts packets from their sockets as they leave the host".to_owned()
    });
    one.into_iter().collect()
}

/// Whether `host` finds losses by RACK.
fn rack_is_on(host: &Namespace, series: (u32, u32)) -> bool {
    // Kernels before 4.4 have neither.
    let recovery = settings::value(host, "net.ipv4.tcp_recovery").unwrap_or_default();
    series >= (6, 17) || recovery.parse().is_ok_and(|bits: u32| bits & 1 != 0)
}
