//! From a captured frame to the value of its headers.

use super::{Headers, Notes, Record, Sack, SynOptions, Timestamps};
use crate::ip::{self, Located};
use crate::link::{self, LinkType};
use crate::mptcp::KIND;
use crate::options::TcpOption;
use crate::{dns, Skip, TcpPacket};

/// IP packets that are looked at inside each other.
const MOST_PACKETS: usize = 8;

impl Headers {
    /// Decodes a captured frame: `data` is what was captured of `original_len` bytes on the wire, and
    /// `link` what its first byte begins. Tunnels are looked through; never panics.
    ///
    /// # Errors
    /// [`Skip`] says why there are no TCP headers.
    #[inline]
    pub fn decode(link: LinkType, data: &[u8], original_len: u32) -> Result<Headers, Skip> {
        let (packet, located, notes) = innermost(link, data, original_len)?;
        Ok(value(&packet, &located, notes))
    }
}

impl<'a> TcpPacket<'a> {
    /// The packet whose headers [`Headers::decode`] gives.
    ///
    /// # Errors
    /// [`Skip`] says why there is none.
    pub fn in_frame(link: LinkType, data: &'a [u8], original_len: u32) -> Result<Self, Skip> {
        innermost(link, data, original_len).map(|(packet, ..)| packet)
    }
}

/// The TCP packet in a frame, within however many tunnels.
#[inline]
fn innermost(
    link: LinkType,
    data: &[u8],
    original_len: u32,
) -> Result<(TcpPacket<'_>, Located, Notes), Skip> {
    let mut notes = Notes::default();
    let stripped = link::strip(link, data)?;
    let (mut packet, mut most) = (stripped.bytes, stripped.most);
    let mut on_wire = (original_len as usize).saturating_sub(data.len() - packet.len());
    for _ in 0..MOST_PACKETS {
        let mut located = ip::locate(packet, on_wire)?;
        located.bound(most, on_wire);
        if located.protocol == ip::protocol::TCP {
            let tcp = TcpPacket::located(packet, &located, on_wire)?;
            return Ok((tcp, located, notes));
        }
        let whole = packet.get(..located.total).unwrap_or(packet);
        let carried = whole.get(located.offset..).ok_or(Skip::CutShort)?;
        let inner = link::inside(located.protocol, carried)?;
        notes.insert(Notes::TUNNELLED);
        on_wire = located
            .total
            .saturating_sub(whole.len() - inner.bytes.len());
        (packet, most) = (inner.bytes, inner.most);
    }
    Err(Skip::TooDeep)
}

#[inline]
fn value(packet: &TcpPacket<'_>, located: &Located, mut notes: Notes) -> Headers {
    let flags = packet.flags();
    if located.more_fragments {
        notes.insert(Notes::FIRST_FRAGMENT);
    }
    if located.zero_length {
        notes.insert(Notes::LENGTH_FROM_CAPTURE);
    }
    if packet.options_cut() {
        notes.insert(Notes::OPTIONS_CUT);
    }
    let mut headers = Headers {
        flow: packet.flow(),
        seq: packet.seq(),
        ack: packet.ack(),
        payload_len: packet.payload_len(),
        window: packet.window(),
        flags,
        ttl: located.ttl,
        ip_id: located.id,
        dont_fragment: located.dont_fragment,
        ecn: located.ecn,
        record: record(packet),
        notes,
        timestamps: None,
        sack: Sack::default(),
        syn: None,
    };
    if flags.syn() {
        syn(&mut headers, packet, located.offset);
    } else {
        options(&mut headers, packet);
    }
    headers
}

/// What the payload begins with.
#[inline]
fn record(packet: &TcpPacket<'_>) -> Record {
    let payload = packet.payload();
    match Record::begins(payload, packet.payload_len()) {
        Record::None if packet.flow().dst_port == dns::PORT && !payload.is_empty() => Record::Query,
        record => record,
    }
}

#[inline]
fn options(headers: &mut Headers, packet: &TcpPacket<'_>) {
    // The layout that RFC 7323 appendix A recommends, and nearly all segments have.
    if let &[1, 1, 8, 10, a, b, c, d, e, f, g, h] = packet.option_bytes() {
        headers.timestamps = Some(Timestamps {
            value: u32::from_be_bytes([a, b, c, d]),
            echo: u32::from_be_bytes([e, f, g, h]),
        });
        return;
    }
    for option in packet.options() {
        one(headers, &option);
    }
}

fn one(headers: &mut Headers, option: &TcpOption<'_>) {
    match option {
        &TcpOption::Timestamps { value, echo } => {
            headers.timestamps = Some(Timestamps { value, echo });
        }
        TcpOption::Sack(blocks) => blocks.iter().for_each(|block| headers.sack.push(block)),
        TcpOption::Other { kind: KIND, .. } => headers.notes.insert(Notes::MPTCP),
        _ => {}
    }
}

#[cold]
fn syn(headers: &mut Headers, packet: &TcpPacket<'_>, ip_header_len: usize) {
    let mut syn = SynOptions {
        urgent: packet.urgent().unwrap_or(0),
        ip_header_len: u8::try_from(ip_header_len).unwrap_or(u8::MAX),
        ..SynOptions::default()
    };
    let mut items = packet.option_items();
    for item in items.by_ref() {
        syn.layout.push(item.kind, item.length);
        if item.kind == 0 {
            syn.padding_used = item.data.iter().any(|&byte| byte != 0);
        }
        let option = item.decode();
        match option {
            TcpOption::MaxSegmentSize(mss) => syn.mss = Some(mss),
            TcpOption::WindowScale(shift) => syn.window_scale = Some(shift),
            TcpOption::SackPermitted => syn.sack_permitted = true,
            TcpOption::Timestamps { .. } => syn.timestamps = true,
            TcpOption::Other { kind: KIND, data } => {
                syn.mptcp = Some(data.first().map_or(u8::MAX, |first| first >> 4));
            }
            TcpOption::Other { kind: 34, .. } => syn.fast_open = true,
            _ => {}
        }
        one(headers, &option);
    }
    syn.cut = packet.options_cut();
    syn.malformed = !items.rest().is_empty() && !syn.cut;
    headers.syn = Some(syn);
}
