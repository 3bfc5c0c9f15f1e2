//! A connection's packets as the bytes of captures.

use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

use super::look::Look;
use super::record::{Made, Point, Record};
use crate::bytes::{fill_in_checksums_of, fill_in_ip_checksum, headers};
use crate::world::EndId;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const TTL: usize = ETHERNET + 8;

/// The packets of one or two connections that follow each other, as captures hold them.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    bytes: Vec<u8>,
    packets: Vec<Placed>,
    /// What each point saw: when, and which packet.
    pub seen: [Vec<(Time, u32)>; 3],
}

/// Where a packet lies in the bytes.
#[derive(Clone, Copy, Debug)]
struct Placed {
    start: usize,
    captured: u32,
    original: u32,
    /// Time to live at each point.
    ttl: [u8; 3],
}

/// The hosts of a connection, client first, and the routers between them.
pub(super) struct Hosts<'a> {
    pub looks: [&'a Look; 2],
    /// Identification of each host's first packet.
    pub ids: [u16; 2],
    /// Routers from the host that sends most to each point.
    pub hops: [u8; 3],
    /// The client sends most.
    pub upload: bool,
}

impl Rendered {
    /// Renders what `record` holds, up to `snaplen` bytes of each packet; times are moved on by `shift`.
    pub fn new<'k>(
        record: &Record,
        key: impl Fn(EndId) -> &'k FlowKey,
        hosts: &Hosts<'_>,
        snaplen: usize,
        shift: Duration,
    ) -> Self {
        let mut rendered = Rendered::default();
        let mut ids = hosts.ids;
        for made in &record.packets {
            rendered.add(made, key(made.from), hosts, &mut ids, snaplen);
        }
        for (to, from) in rendered.seen.iter_mut().zip(&record.seen) {
            *to = from
                .iter()
                .map(|(at, packet)| (*at + shift, *packet))
                .collect();
        }
        rendered
    }

    fn add(
        &mut self,
        made: &Made,
        key: &FlowKey,
        hosts: &Hosts<'_>,
        ids: &mut [u16; 2],
        snaplen: usize,
    ) {
        let segment = &made.segment;
        let by_client = made.from.is_client();
        let side = usize::from(!by_client);
        let look = hosts.looks[side];
        let is_syn_ack = segment.flags.syn() && segment.flags.ack();
        let id = if is_syn_ack && look.syn_ack_id_zero {
            0
        } else {
            ids[side] = ids[side].wrapping_add(1);
            ids[side]
        };
        let style = look.style(id);
        let start = self.bytes.len();
        self.ethernet(by_client);
        headers(&mut self.bytes, key, segment, &style, &[]);
        let packet = &mut self.bytes[start + ETHERNET..];
        let total = packet.len() + segment.len as usize;
        fill_in_checksums_of(packet, total);
        let frame = ETHERNET + total;
        let captured = frame.min(snaplen);
        // The payload is zeros.
        self.bytes.resize(start + captured, 0);
        self.packets.push(Placed {
            start,
            captured: captured as u32,
            original: frame as u32,
            ttl: ttls(look.ttl, hosts, by_client),
        });
    }

    fn ethernet(&mut self, by_client: bool) {
        // Locally administered addresses of the two routers beside the tap.
        let (client, server) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let (to, from) = if by_client {
            (server, client)
        } else {
            (client, server)
        };
        self.bytes.extend(to);
        self.bytes.extend(from);
        self.bytes.extend([0x08, 0x00]);
    }

    /// Packet number `packet` as it came by at `point`, in `buffer`, and how long it was.
    pub fn packet<'b>(
        &self,
        packet: u32,
        point: Point,
        buffer: &'b mut Vec<u8>,
    ) -> (&'b [u8], u32) {
        let placed = &self.packets[packet as usize];
        let end = placed.start + placed.captured as usize;
        buffer.clear();
        buffer.extend_from_slice(&self.bytes[placed.start..end]);
        if let Some(header) = buffer.get_mut(ETHERNET..ETHERNET + IPV4) {
            header[TTL - ETHERNET] = placed.ttl[point as usize];
            fill_in_ip_checksum(header);
        }
        (buffer, placed.original)
    }
}

/// What is left of the time to live at each point.
fn ttls(first: u8, hosts: &Hosts<'_>, by_client: bool) -> [u8; 3] {
    let whole = hosts.hops[2];
    hosts.hops.map(|hops| {
        let passed = if by_client == hosts.upload {
            hops
        } else {
            whole - hops
        };
        first.saturating_sub(passed).max(1)
    })
}
