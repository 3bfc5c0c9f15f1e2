//! What the rule tells of a connection's packets, and what the kernel says at each drop and retransmission.

use std::net::IpAddr;

use anyhow::Result;
use rexmit_loss::{Carried, Event, LossRule};
use rexmit_plan::{comment, Again, Direction, Label, PacketLog, Sender, SocketInfo, Story};
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};

use super::{Confirmed, Options, Seen};
use crate::capture::Buffer;
use crate::filter::Observer;
use crate::kernel::causes::CauseLog;
use crate::kernel::sender::SenderKernel;
use crate::source::Fate;

/// Asks the kernel at each event of the rule; lives in the server's network namespace.
pub struct Witness {
    kernel: Kernel,
    story: Story,
    confirmed: Confirmed,
    captures: Option<(Buffer, Buffer)>,
    log: Option<PacketLog>,
    minds_paths: bool,
    clients: Vec<IpAddr>,
    /// What the rule of bursts told of the packet at hand, if it has data.
    carried: Option<Box<Carried>>,
    /// What was told of it, if it is a retransmission.
    told: Option<Label>,
}

struct Kernel {
    sender: SenderKernel,
    /// The kernel's own record of causes, where it keeps one and several subflows may retransmit at once.
    causes: Option<CauseLog>,
}

impl Witness {
    /// For the calling thread's network namespace.
    ///
    /// `clients`: the client's addresses, path by path.
    pub fn open(options: Options, clients: Vec<IpAddr>) -> Result<Self> {
        let sender = SenderKernel::open()?;
        let causes = if options.minds_paths {
            CauseLog::open()?
        } else {
            None
        };
        Ok(Self {
            kernel: Kernel { sender, causes },
            story: Story::new(0, 0, false),
            confirmed: Confirmed::default(),
            captures: options.captures,
            log: options.packets.then(PacketLog::default),
            minds_paths: options.minds_paths,
            clients,
            carried: None,
            told: None,
        })
    }

    /// Starts afresh.
    pub fn begin(&mut self, story: Story, rack: bool) -> Result<()> {
        self.kernel.sender.begin(rack)?;
        if let Some(causes) = &mut self.kernel.causes {
            causes.clear()?;
        }
        self.story = story;
        self.confirmed = Confirmed::default();
        if let Some(log) = &mut self.log {
            log.take();
        }
        Ok(())
    }

    /// What was seen since [`Witness::begin`].
    pub fn finish(&mut self, rule: &LossRule) -> Result<Seen> {
        let (before, after) = self.kernel.sender.counted()?;
        let probes = after.probe_reinjections.zip(before.probe_reinjections);
        Ok(Seen {
            watched: self.story.end(),
            unmapped: rule.unmapped(),
            unfollowed: rule.unfollowed(),
            confirmed: std::mem::take(&mut self.confirmed),
            packets: self.log.as_mut().map(PacketLog::take).unwrap_or_default(),
            counts: after.since(&before),
            mptcp_retransmissions: after.mptcp_retrans - before.mptcp_retrans,
            probe_reinjections: probes.map(|(after, before)| after - before),
        })
    }
}

impl Sender for Kernel {
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>> {
        self.sender.info(flow)
    }

    fn mechanism(&mut self, again: &Again) -> Result<Mechanism> {
        match &mut self.causes {
            Some(causes) => causes.next(again.flow, again.span.seq),
            // Only the counters are left: one retransmission at a time, whichever subflow's it is.
            None => self.sender.cause(again.flow, again.highest),
        }
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) -> Result<()> {
        if let Event::Carried(carried) = event {
            self.carried = Some(carried.clone());
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
        let direction = if by_server {
            Direction::Data
        } else {
            Direction::Ack
        };
        let mut path = None;
        if let Ok(packet) = TcpPacket::parse(bytes) {
            if by_server {
                self.story.packet(&packet);
                self.confirmed.packet(&packet, time);
            }
            path = self.path(&packet.flow());
            if let Some(log) = &mut self.log {
                let mechanism = told.map(|(mechanism, _)| mechanism);
                let number = path
                    .filter(|_| self.minds_paths)
                    .map(|path| path as u32 + 1);
                let fate = (dropped, mechanism);
                log.push(&packet, direction, number, time, carried.as_deref(), fate);
            }
        }
        if let Some((h1, h2)) = &self.captures {
            // h2 has an interface a path, h1 one in all.
            let (buffer, interface) = if by_server {
                (h1, 0)
            } else {
                (h2, path.unwrap_or(0))
            };
            buffer.push(time, interface, bytes, comment(dropped, told));
        }
    }
}

impl Witness {
    /// The place of a packet's path among the client's addresses.
    fn path(&self, flow: &FlowKey) -> Option<usize> {
        let is_client = |own: &IpAddr| *own == flow.src || *own == flow.dst;
        self.clients.iter().position(is_client)
    }
}
