//! What the files before say of a packet: how its host numbers packets, and which shard its connection's other subflows are in.

use super::decode::Decoded;
use super::numbering::Verdicts;
use crate::multipath::{Lesson, Routes, Signal};

/// What the files before say. It depends on nothing but what each file alone shows, and their order.
#[derive(Debug, Default)]
pub(crate) struct Carry {
    /// How hosts numbered their packets in files that have ended.
    pub verdicts: Verdicts,
    pub routes: Routes,
}

impl Carry {
    /// A packet, and what its Multipath TCP options say: learns from it, and tells it what is known.
    #[inline]
    pub fn pass(&mut self, packet: &mut Decoded, signal: Option<&Signal>) {
        if let Some(lesson) = signal.and_then(Lesson::of) {
            self.learn(packet, &lesson);
        }
        self.tell(packet);
    }

    /// Learns from a packet that has this to teach.
    #[cold]
    pub fn learn(&mut self, packet: &Decoded, lesson: &Lesson) {
        let flow = &packet.headers.flow;
        let own = packet.shard() as u16;
        self.routes.learn(packet.hash, flow, own, lesson);
    }

    /// Tells a packet what is known.
    #[inline]
    pub fn tell(&self, packet: &mut Decoded) {
        self.verdicts.note(&mut packet.headers);
        if let Some(shard) = self.routes.shard(packet.hash, &packet.headers.flow) {
            packet.redirect(shard);
        }
    }
}
