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
}

impl PathBench {
    /// Sets everything up for `cell`, on a kernel of release `series`.
    pub fn set_up(cell: &PathCell, programs: &Programs, series: (u32, u32)) -> Result<Self> {
        if cell.protocol == Protocol::Mptcp {
            mptcp::require()?;
        }
        let network = PathNetwork::set_up(cell.family, cell.mtu, &cell.paths, programs)?;
        let hosts = [&network.h1.namespace, &network.h2];
        let mut former = Former::default();
        let read_back =
            settings::apply(&hosts, &cell.sysctls, &cell.congestion_control, &mut former)?;
        let both = cell.packets || cell.needs_client();
        let captures = cell.capture.then(|| (Buffer::default(), Buffer::default()));
        let taps = taps(&network, both, &captures)?;
        let (rack, scheduler) = network
            .h1
            .namespace
            .run(|| Ok((rack_is_on(series), mptcp::scheduler())))?;
        let options = Options {
            captures: captures.clone(),
            both,
            packets: cell.packets,
        };
        let watch = watch(&network, options, programs)?;
        Ok(Self {
            opener: Opener::open(&network, cell.protocol, cell.first_path as usize)?,
            watch,
            captures,
            settings: (read_back, settings::ignored(&cell.sysctls, series)),
            scheduler: (cell.protocol == Protocol::Mptcp).then_some(scheduler),
            rack,
            network,
            _taps: taps,
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
