//! The network between a cell's hosts.

use anyhow::{bail, Result};
use serde::Deserialize;

use crate::Link;

/// Most paths of a network; their addresses are numbered in a byte.
const MOST_PATHS: usize = 32;

/// Hosts h1 and h2 and what is between them.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Text")]
pub struct NetworkPlan {
    /// 4 or 6.
    pub family: u8,
    /// Where rate and delay act.
    pub at: Place,
    /// Bytes of an IP packet.
    pub mtu: u32,
    /// The paths from h1 to h2.
    pub layout: Layout,
}

/// The paths from h1 to h2.
#[derive(Clone, Debug)]
pub enum Layout {
    /// One, over a switch: h1 to the switch, the switch to h2.
    Links(Box<[Link; 2]>),
    /// One for each address of h2; the delay of a path is that of all of it, one way.
    Paths(Vec<Link>),
}

/// A network as a plan writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    family: u8,
    #[serde(default)]
    at: Place,
    mtu: u32,
    #[serde(default)]
    links: Option<[Link; 2]>,
    #[serde(default)]
    paths: Option<Vec<Link>>,
}

impl TryFrom<Text> for NetworkPlan {
    type Error = anyhow::Error;

    fn try_from(text: Text) -> Result<Self> {
        let Text {
            family, at, mtu, ..
        } = text;
        let layout = match (text.links, text.paths) {
            (Some(links), None) => Layout::Links(Box::new(links)),
            (None, Some(paths)) => Layout::Paths(paths),
            _ => bail!("a network has either links or paths"),
        };
        if let Layout::Paths(paths) = &layout {
            let number = paths.len();
            if number == 0 || number > MOST_PATHS {
                bail!("{number} paths: 1 to {MOST_PATHS}");
            }
            if at != Place::Wire {
                bail!("a path's rate and delay act on the wire");
            }
        }
        Ok(Self {
            family,
            at,
            mtu,
            layout,
        })
    }
}

impl NetworkPlan {
    /// How many paths it has.
    #[must_use]
    pub fn paths(&self) -> usize {
        match &self.layout {
            Layout::Links(_) => 1,
            Layout::Paths(paths) => paths.len(),
        }
    }

    /// The links of each path.
    pub fn each_path(&self) -> impl Iterator<Item = &[Link]> {
        match &self.layout {
            Layout::Links(links) => links.chunks(2),
            Layout::Paths(paths) => paths.chunks(1),
        }
    }

    /// All links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        match &self.layout {
            Layout::Links(links) => links.as_slice(),
            Layout::Paths(paths) => paths,
        }
    }

    /// Whether a link does what no queueing discipline of Linux does below another: then links have to be a program.
    #[must_use]
    pub fn is_beyond_netem(&self) -> bool {
        let mut ways = self.links().iter().flat_map(Link::ways);
        ways.any(Link::is_beyond_netem)
    }

    /// Whether a router tells senders of packets that are too large.
    #[must_use]
    pub fn tells_of_large_packets(&self) -> bool {
        let mut ways = self.links().iter().flat_map(Link::ways);
        ways.any(|way| way.path_mtu.is_some_and(|there| there.icmp))
    }

    /// The links, to be changed.
    pub fn links_mut(&mut self) -> &mut [Link] {
        match &mut self.layout {
            Layout::Links(links) => links.as_mut_slice(),
            Layout::Paths(paths) => paths,
        }
    }
}

/// Where a link's rate and delay act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// After the packet has left its host.
    #[default]
    Wire,
    /// In the sending host's own queueing discipline, as mininet does it.
    Host,
}
