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

use anyhow::Result;
use rexmit_plan::{Cell, ClientKind, Ignored, Place, Programs, Server};

use crate::capture::{Buffer, Interface, Tap};
use crate::client::Client;
use crate::net::Network;
use crate::page::Lengths;
use crate::server::Nginx;
use crate::settings::{self, Former};
use crate::watch::{Options, PageWatch, Reading};

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
    /// The web server on h1.
    pub server: Nginx,
    /// Who fetches, from h2.
    pub client: Client,
    /// The loss filter.
    pub watch: PageWatch,
    /// What is kept of h1's and h2's packets.
    pub captures: Option<(Buffer, Buffer)>,
    /// How the filter reads what the kernel says in this cell.
    pub reading: Reading,
    /// What is known of the lengths of responses.
    pub lengths: Lengths,
    /// The cell's settings as the kernel has them, and those that it does not heed.
    pub settings: (BTreeMap<String, String>, Vec<Ignored>),
    _taps: Vec<Tap>,
    form: Option<Form>,
    listening: BTreeMap<String, String>,
    former: Former,
}

/// What cells must have in common to share a bench.
#[derive(PartialEq, Eq)]
struct Form {
    family: u8,
    mtu: u32,
    client: ClientKind,
    both: bool,
    packets: bool,
}

impl Form {
    /// `None` when the cell's bench is for that cell alone.
    fn shared(cell: &Cell) -> Option<Self> {
        // A bound window is part of the client's route, links in the hosts are part of the hosts.
        let alone = cell.capture
            || cell.network.at == Place::Host
            || cell.workload.receive_window_bytes.is_some();
        (!alone).then(|| Self {
            family: cell.network.family,
            mtu: cell.network.mtu,
            client: cell.workload.client,
            both: sees_both(cell),
            packets: cell.packets,
        })
    }
}

/// Whether the filter must see the client's packets.
fn sees_both(cell: &Cell) -> bool {
    cell.packets || cell.loss.needs_client()
}

impl Bench {
    /// Sets everything up for `cell`, on a kernel of release `series`.
    pub fn set_up(cell: &Cell, programs: &Programs, series: (u32, u32)) -> Result<Self> {
        let network = Network::set_up(&cell.network, programs, cell.workload.receive_window_bytes)?;
        let hosts = [&network.h1.namespace, &network.h2.namespace];
        let mut former = Former::default();
        let read_back =
            settings::apply(&hosts, &cell.sysctls, &cell.congestion_control, &mut former)?;
        if let Some(bytes) = cell.workload.receive_window_bytes {
            settings::bound_receive_window(&network.h2.namespace, bytes, series)?;
        }
        let both = sees_both(cell);
        let captures = cell.capture.then(|| (Buffer::default(), Buffer::default()));
        let mut taps = Vec::new();
        if let Some((h1, h2)) = &captures {
            // What goes through the filter is kept there, dropped packets included.
            taps.push(Tap::start(
                &Interface::only(&network.h1),
                h1.clone(),
                false,
            )?);
            taps.push(Tap::start(
                &Interface::only(&network.h2),
                h2.clone(),
                !both,
            )?);
        }
        let server = start_server(cell, programs, &network)?;
        let reading = read(cell, &network, series)?;
        let options = Options {
            captures: captures.clone(),
            both,
            packets: cell.packets,
        };
        let watch = PageWatch::start(&network, programs.nft()?, options)?;
        Ok(Self {
            client: Client::new(cell.workload.client, programs)?,
            form: Form::shared(cell),
            listening: listening(cell),
            settings: (read_back, settings::ignored(&cell.sysctls, series)),
            lengths: Lengths::default(),
            network,
            server,
            watch,
            captures,
            reading,
            _taps: taps,
            former,
        })
    }

    /// Whether `cell` can do with this bench once that is made ready for it.
    pub fn suits(&self, cell: &Cell) -> bool {
        self.form.is_some() && Form::shared(cell) == self.form
    }

    /// Makes the bench ready for another cell that it [suits](Bench::suits).
    pub fn make_ready(
        &mut self,
        cell: &Cell,
        programs: &Programs,
        series: (u32, u32),
    ) -> Result<()> {
        self.network.replace_links(&cell.network, programs)?;
        let hosts = [&self.network.h1.namespace, &self.network.h2.namespace];
        settings::restore(&hosts, &self.former)?;
        let read_back = settings::apply(
            &hosts,
            &cell.sysctls,
            &cell.congestion_control,
            &mut self.former,
        )?;
        self.settings = (read_back, settings::ignored(&cell.sysctls, series));
        self.reading = read(cell, &self.network, series)?;
        let listening = listening(cell);
        if listening != self.listening {
            self.server.stop();
            self.server = start_server(cell, programs, &self.network)?;
            self.listening = listening;
        }
        Ok(())
    }
}

fn start_server(cell: &Cell, programs: &Programs, network: &Network) -> Result<Nginx> {
    match cell.workload.server {
        Server::Nginx => Nginx::start(programs.nginx()?, &network.h1, Path::new("/run/rexmit")),
    }
}

/// The cell's settings that a listening socket may hold.
fn listening(cell: &Cell) -> BTreeMap<String, String> {
    cell.sysctls
        .iter()
        .filter(|(name, _)| !LOOKED_UP.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn read(cell: &Cell, network: &Network, series: (u32, u32)) -> Result<Reading> {
    Ok(Reading {
        rack: network.h1.namespace.run(|| Ok(rack_is_on(series)))?,
        lossy: cell.lossy(),
    })
}

/// Whether the calling thread's namespace finds losses by RACK.
pub fn rack_is_on(series: (u32, u32)) -> bool {
    let recovery = fs::read_to_string("/proc/sys/net/ipv4/tcp_recovery").unwrap_or_default();
    series >= (6, 17) || recovery.trim().parse().is_ok_and(|bits: u32| bits & 1 != 0)
}
