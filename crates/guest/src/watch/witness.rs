//! What the kernel says at each drop and retransmission.

use anyhow::Result;
use rexmit_loss::{Event, Retransmitted};
use rexmit_plan::{comment, Direction, Label, PacketLog, Sender, SocketInfo, Story};
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};

use super::{AnyRule, Options, Reading, Seen, Watcher};
use crate::capture::Buffer;
use crate::filter::Observer;
use crate::kernel::sender::SenderKernel;
use crate::nfqueue::Fate;

/// Asks the kernel at each event of the rule; lives in the server's network namespace.
pub struct Witness {
    kernel: SenderKernel,
    story: Story,
    captures: Option<(Buffer, Buffer)>,
    log: Option<PacketLog>,
    /// What was told of the packet at hand, if it is a retransmission.
    retransmission: Option<Label>,
}

impl Witness {
    /// For the calling thread's network namespace.
    pub fn open(options: Options) -> Result<Self> {
        Ok(Self {
            kernel: SenderKernel::open()?,
            story: Story::new(false),
            captures: options.captures,
            log: options.packets.then(PacketLog::default),
            retransmission: None,
        })
    }
}

impl Watcher for Witness {
    type Rule = AnyRule;
    type Reading = Reading;
    type Seen = Seen;

    fn begin(&mut self, reading: Reading) -> Result<()> {
        self.kernel.begin(reading.rack)?;
        self.story = Story::new(reading.lossy);
        if let Some(log) = &mut self.log {
            log.take();
        }
        Ok(())
    }

    fn finish(&mut self, _: &AnyRule) -> Result<Seen> {
        let (before, after) = self.kernel.counted()?;
        Ok(Seen {
            transfers: self.story.finish(),
            counts: after.since(&before),
            packets: self.log.as_mut().map(PacketLog::take).unwrap_or_default(),
        })
    }
}

impl Sender for SenderKernel {
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>> {
        self.info(flow)
    }

    fn mechanism(&mut self, retransmitted: &Retransmitted) -> Result<Mechanism> {
        self.cause(retransmitted.flow, retransmitted.highest)
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) -> Result<()> {
        if let Some(told) = self.story.event(event, &mut self.kernel)? {
            self.retransmission = Some(told);
        }
        Ok(())
    }

    fn fate(&mut self, from: usize, time: Time, bytes: &[u8], fate: Fate) {
        let (retransmission, dropped) = (self.retransmission.take(), fate == Fate::Drop);
        let direction = if from == 0 {
            Direction::Data
        } else {
            Direction::Ack
        };
        if let Ok(packet) = TcpPacket::parse(bytes) {
            if direction == Direction::Data {
                self.story.packet(&packet);
            }
            if let Some(log) = &mut self.log {
                log.push(&packet, direction, time, dropped, retransmission);
            }
        }
        if let Some((h1, h2)) = &self.captures {
            let buffer = if direction == Direction::Data { h1 } else { h2 };
            buffer.push(time, 0, bytes, comment(dropped, retransmission));
        }
    }
}
