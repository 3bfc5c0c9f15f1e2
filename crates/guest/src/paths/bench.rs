//! The hosts, the paths, the sockets and the filter that a cell's connections need, kept for the next cell where that can
//! do with them.

use std::collections::BTreeMap;

use anyhow::Result;
use rexmit_loss::paths::{PathRule, Settings};
use rexmit_plan::{Ignored, PathCell, Programs, Protocol};

use super::connection::Opener;
use super::witness::{Reading, Witness};
use crate::bench::rack_is_on;
use crate::capture::{Buffer, Interface, Tap};
use crate::kernel::mptcp;
use crate::net::{client_device, PathNetwork};
use crate::settings::{self, Former};
use crate::watch::{queue, Options, Sent, Watch};

/// All that a cell's connections need.
pub struct PathBench {
    /// Hosts and paths.
    pub network: PathNetwork,
    /// Who opens connections.
    pub opener: Opener,
    /// The loss filter.
    pub watch: Watch<Witness>,
    /// What is kept of h1's and h2's packets.
    pub captures: Option<(Buffer, Buffer)>,
    /// The cell's settings as the kernel has them, and those that it does not heed.
    pub settings: (BTreeMap<String, String>, Vec<Ignored>),
    /// The packet scheduler, of Multipath TCP.
    pub scheduler: Option<String>,
    /// RACK finds losses on the server's host.
    rack: bool,
    _taps: Vec<Tap>,
    form: Option<Form>,
    former: Former,
}

/// What cells must have in common to share a bench.
#[derive(PartialEq, Eq)]
struct Form {
    family: u8,
    mtu: u32,
    paths: usize,
    both: bool,
    packets: bool,
}

impl Form {
    /// `None` when the cell's bench is for that cell alone.
    fn shared(cell: &PathCell) -> Option<Self> {
        (!cell.capture).then(|| Self {
            family: cell.family,
            mtu: cell.mtu,
            paths: cell.paths.len(),
            both: sees_both(cell),
            packets: cell.packets,
        })
    }
}

/// Whether the filter must see the client's packets.
fn sees_both(cell: &PathCell) -> bool {
    cell.packets || cell.needs_client()
}

impl PathBench {
    /// Sets everything up for `cell`, on a kernel of release `series`.
    pub fn set_up(cell: &PathCell, programs: &Programs, series: (u32, u32)) -> Result<Self> {
        require(cell)?;
        let network = PathNetwork::set_up(cell.family, cell.mtu, &cell.paths, programs)?;
        let hosts = [&network.h1.namespace, &network.h2];
        let mut former = Former::default();
        let read_back =
            settings::apply(&hosts, &cell.sysctls, &cell.congestion_control, &mut former)?;
        let both = sees_both(cell);
        let captures = cell.capture.then(|| (Buffer::default(), Buffer::default()));
        let taps = taps(&network, both, &captures)?;
        let (rack, scheduler) = look(&network, cell, series)?;
        let options = Options {
            captures: captures.clone(),
            both,
            packets: cell.packets,
        };
        let watch = watch(&network, options, programs)?;
        Ok(Self {
            opener: open(&network, cell)?,
            watch,
            captures,
            settings: (read_back, settings::ignored(&cell.sysctls, series)),
            scheduler,
            rack,
            network,
            _taps: taps,
            form: Form::shared(cell),
            former,
        })
    }

    /// Whether `cell` can do with this bench once that is made ready for it.
    pub fn suits(&self, cell: &PathCell) -> bool {
        self.form.is_some() && Form::shared(cell) == self.form
    }

    /// The bench made ready for another cell that it [suits](PathBench::suits).
    pub fn made_ready(
        self,
        cell: &PathCell,
        programs: &Programs,
        series: (u32, u32),
    ) -> Result<Self> {
        require(cell)?;
        let Self {
            network,
            opener,
            mut former,
            ..
        } = self;
        // Its port is the next one's, which listens under other settings.
        drop(opener);
        network.replace_wires(&cell.paths, programs)?;
        let hosts = [&network.h1.namespace, &network.h2];
        settings::restore(&hosts, &former)?;
        let read_back =
            settings::apply(&hosts, &cell.sysctls, &cell.congestion_control, &mut former)?;
        let (rack, scheduler) = look(&network, cell, series)?;
        Ok(Self {
            opener: open(&network, cell)?,
            settings: (read_back, settings::ignored(&cell.sysctls, series)),
            scheduler,
            rack,
            network,
            former,
            ..self
        })
    }

    /// How the filter reads what it sees in `cell`.
    pub fn reading(&self, cell: &PathCell) -> Reading {
        Reading {
            bursts: cell.bursts.count as usize,
            paths: cell.paths.len(),
            lossy: cell.lossy(),
            rack: self.rack,
        }
    }
}

/// Fails where the kernel does not speak what the cell asks for.
fn require(cell: &PathCell) -> Result<()> {
    match cell.protocol {
        Protocol::Tcp => Ok(()),
        Protocol::Mptcp => mptcp::require(),
    }
}

fn open(network: &PathNetwork, cell: &PathCell) -> Result<Opener> {
    Opener::open(network, cell.protocol, cell.first_path as usize)
}

/// Whether RACK finds losses on the server's host, and the packet scheduler, of Multipath TCP.
fn look(
    network: &PathNetwork,
    cell: &PathCell,
    series: (u32, u32),
) -> Result<(bool, Option<String>)> {
    let multipath = cell.protocol == Protocol::Mptcp;
    let host = &network.h1.namespace;
    host.run(|| Ok((rack_is_on(series), multipath.then(mptcp::scheduler))))
}

/// What the filter does not see: what h1 receives, and both directions of h2 where it does not see what that sends.
fn taps(
    network: &PathNetwork,
    both: bool,
    captures: &Option<(Buffer, Buffer)>,
) -> Result<Vec<Tap>> {
    let Some((h1, h2)) = captures else {
        return Ok(Vec::new());
    };
    let mut taps = vec![Tap::start(
        &Interface::only(&network.h1),
        h1.clone(),
        false,
    )?];
    for (number, &address) in network.clients.iter().enumerate() {
        let at = Interface {
            host: &network.h2,
            device: &client_device(number + 1),
            address,
            number,
        };
        taps.push(Tap::start(&at, h2.clone(), !both)?);
    }
    Ok(taps)
}

fn watch(network: &PathNetwork, options: Options, programs: &Programs) -> Result<Watch<Witness>> {
    let nft = programs.nft()?;
    let sent = queue(&network.h1.namespace, Sent::ByServer, nft)?;
    let answered = options
        .both
        .then(|| queue(&network.h2, Sent::ByClient, nft))
        .transpose()?;
    let witness = network
        .h1
        .namespace
        .run(|| Witness::open(options, &network.clients))?;
    let rule = PathRule::new(Settings {
        pattern: "".parse()?,
        bursts: Vec::new(),
        clients: Vec::new(),
        totals: None,
    });
    Watch::over(sent, answered, rule, witness)
}
