//! What the rule tells of a connection's packets, and what the kernel says of those that were sent again.

use std::net::IpAddr;

use anyhow::Result;
use rexmit_loss::paths::{PathRule, Totals};
use rexmit_loss::{Carried, Event};
use rexmit_plan::{
    comment, Counts, Direction, Label, PathLog, PathPacket, PathSender, PathStory, PathWatched,
    SocketInfo,
};
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};

use super::subflows::Confirmed;
use crate::capture::Buffer;
use crate::filter::Observer;
use crate::kernel::causes::CauseLog;
use crate::kernel::sender::SenderKernel;
use crate::nfqueue::Fate;
use crate::watch::{Options, Watcher};

/// What must be known of a connection before it is watched.
pub struct Reading {
    /// Bursts of the connection.
    pub bursts: usize,
    /// Paths of the network.
    pub paths: usize,
    /// Packets may also be lost on the way.
    pub lossy: bool,
    /// RACK finds losses on the server's host (`tcp_recovery` bit 0x1).
    pub rack: bool,
}

/// What was seen of a connection.
#[derive(Default)]
pub struct Seen {
    /// What was sent, and sent again.
    pub watched: PathWatched,
    /// Packets of new data by burst and path.
    pub totals: Totals,
    /// Packets with data that no mapping said anything of.
    pub unmapped: u64,
    /// Every packet, where they are logged; times are the clock's.
    pub packets: Vec<PathPacket>,
    /// When the server could use each subflow.
    pub confirmed: Confirmed,
    /// What the server's host counted meanwhile.
    pub counts: Counts,
    /// Packets that Multipath TCP sent again at its own level.
    pub mptcp_retransmissions: u64,
    /// Those that tail loss probes caused; `None` where the kernel does not count them.
    pub probe_reinjections: Option<u64>,
}

/// Asks the kernel at each packet that is sent again; lives in the server's network namespace.
pub struct Witness {
    kernel: Kernel,
    story: PathStory,
    confirmed: Confirmed,
    captures: Option<(Buffer, Buffer)>,
    log: Option<PathLog>,
    clients: Vec<IpAddr>,
    /// What the rule told of the packet at hand, if it has data.
    carried: Option<Carried>,
    /// What was told of it, if it is sent again.
    told: Option<Label>,
}

struct Kernel {
    sender: SenderKernel,
    /// The kernel's own record of causes, where it keeps one.
    causes: Option<CauseLog>,
}

impl Witness {
    /// For the calling thread's network namespace.
    ///
    /// `clients`: the client's addresses, path by path.
    pub fn open(options: Options, clients: &[IpAddr]) -> Result<Self> {
        Ok(Self {
            kernel: Kernel {
                sender: SenderKernel::open()?,
                causes: CauseLog::open()?,
            },
            story: PathStory::new(0, 0, false),
            confirmed: Confirmed::default(),
            captures: options.captures,
            log: options.packets.then(PathLog::default),
            clients: clients.to_vec(),
            carried: None,
            told: None,
        })
    }
}

impl Watcher for Witness {
    type Rule = PathRule;
    type Reading = Reading;
    type Seen = Seen;

    fn begin(&mut self, reading: Reading) -> Result<()> {
        self.kernel.sender.begin(reading.rack)?;
        if let Some(causes) = &mut self.kernel.causes {
            causes.clear()?;
        }
        self.story = PathStory::new(reading.bursts, reading.paths, reading.lossy);
        self.confirmed = Confirmed::default();
        if let Some(log) = &mut self.log {
            log.take();
        }
        Ok(())
    }

    fn finish(&mut self, rule: &PathRule) -> Result<Seen> {
        let (before, after) = self.kernel.sender.counted()?;
        let probes = after.probe_reinjections.zip(before.probe_reinjections);
        Ok(Seen {
            watched: self.story.finish(),
            totals: rule.counts().clone(),
            unmapped: rule.unmapped(),
            packets: self.log.as_mut().map(PathLog::take).unwrap_or_default(),
            confirmed: std::mem::take(&mut self.confirmed),
            counts: after.since(&before),
            mptcp_retransmissions: after.mptcp_retrans - before.mptcp_retrans,
            probe_reinjections: probes.map(|(after, before)| after - before),
        })
    }
}

impl PathSender for Kernel {
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>> {
        self.sender.info(flow)
    }

    fn mechanism(&mut self, carried: &Carried) -> Result<Mechanism> {
        match &mut self.causes {
            Some(causes) => causes.next(carried.flow, carried.span.seq),
            // Only the counters are left: one retransmission at a time, whichever subflow's it is.
            None => self.sender.cause(carried.flow, carried.highest),
        }
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) -> Result<()> {
        if let Event::Carried(carried) = event {
            self.carried = Some((**carried).clone());
        }
        if let Some(told) = self.story.event(event, &mut self.kernel)? {
            self.told = Some(told);
        }
        Ok(())
    }

    fn fate(&mut self, from: usize, time: Time, bytes: &[u8], fate: Fate) {
        let (told, dropped) = (self.told.take(), fate == Fate::Drop);
        let carried = self.carried.take();
        let by_server = from == 0;
        let Ok(packet) = TcpPacket::parse(bytes) else {
            return;
        };
        if by_server {
            self.story.packet(&packet);
            self.confirmed.packet(&packet, time);
        }
        let (direction, client) = if by_server {
            (Direction::Data, packet.flow().dst)
        } else {
            (Direction::Ack, packet.flow().src)
        };
        let Some(path) = self.clients.iter().position(|own| *own == client) else {
            return;
        };
        if let Some(log) = &mut self.log {
            let mechanism = told.map(|(mechanism, _)| mechanism);
            let number = path as u32 + 1;
            let fate = (dropped, mechanism);
            log.push(&packet, direction, number, time, carried.as_ref(), fate);
        }
        if let Some((h1, h2)) = &self.captures {
            // h2 has an interface a path, h1 one in all.
            let (buffer, interface) = if by_server { (h1, 0) } else { (h2, path) };
            buffer.push(time, interface, bytes, comment(dropped, told));
        }
    }
}
