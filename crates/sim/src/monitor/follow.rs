//! Which packets of several captures are one packet that a host sent.

use std::collections::BTreeMap;

use rexmit_time::Time;

use super::packet::{ip_at, IpHead};
use super::Captures;
use crate::synth::Point;

/// A packet that a host sent.
#[derive(Clone, Debug)]
pub(super) struct SentPacket {
    /// When the first point saw it.
    pub time: Time,
    pub head: IpHead,
    /// The truth knows it as a retransmission.
    pub is_retransmission: bool,
    /// Where it is: capture and packet of each sight, the first one first.
    pub sights: Vec<(usize, usize)>,
}

/// The packets that hosts sent, in the order in which they did.
///
/// Bytes alike but for what routers and network cards change are one packet. Where a host sent the same bytes again (a
/// SYN-ACK without time stamps), the point beside it shows how often; what comes by elsewhere is the latest sent before.
pub(super) fn sent(captures: &Captures) -> Vec<SentPacket> {
    let mut alike: BTreeMap<Vec<u8>, Vec<(Time, usize, usize)>> = BTreeMap::new();
    for (capture, seen) in captures.iter().enumerate() {
        let ip = ip_at(seen.link);
        for (place, packet) in seen.packets.iter().enumerate() {
            if let Some(name) = name(&packet.bytes, ip) {
                let sights = alike.entry(name).or_default();
                sights.push((packet.time, capture, place));
            }
        }
    }
    let mut all: Vec<SentPacket> = Vec::new();
    for mut sights in alike.into_values() {
        sights.sort_unstable();
        let home = sights[0].1;
        let at_home = captures[home].point != Point::Switch;
        let begin = all.len();
        for (time, capture, place) in sights {
            let seen = &captures[capture];
            let packet = &seen.packets[place];
            let is_retransmission = !packet.rows.is_empty();
            if all.len() == begin || (at_home && capture == home) {
                let Some(head) = IpHead::read(&packet.bytes, ip_at(seen.link)) else {
                    continue;
                };
                all.push(SentPacket {
                    time,
                    head,
                    is_retransmission,
                    sights: Vec::new(),
                });
            }
            if let Some(sent) = all[begin..].last_mut() {
                sent.is_retransmission |= is_retransmission;
                sent.sights.push((capture, place));
            }
        }
    }
    all.sort_by_key(|sent| (sent.time, sent.sights.first().copied()));
    all
}

/// The headers of a packet without what changes on its way: time to live and checksums.
fn name(bytes: &[u8], ip: usize) -> Option<Vec<u8>> {
    let head = IpHead::read(bytes, ip)?;
    let end = match head.tcp {
        Some(tcp) => tcp.payload_at.min(bytes.len()),
        None => bytes.len().min(ip + 28),
    };
    let mut name = bytes[ip..end].to_vec();
    name[8] = 0;
    name[10..12].fill(0);
    if head.tcp.is_some() {
        let checksum = usize::from(name[0] & 15) * 4 + 16;
        name[checksum..checksum + 2].fill(0);
    }
    Some(name)
}
