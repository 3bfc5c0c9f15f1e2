//! Any bytes of any link are decoded, and what their payload names is read.

use rexmit_wire::dns::Datagram;
use rexmit_wire::headers::{Headers, Notes};
use rexmit_wire::message::{Message, MOST_TEXT};
use rexmit_wire::{mptcp, LinkType, TcpPacket};

/// Reads a link type, an original length and a frame.
pub fn headers(bytes: &[u8]) {
    let Some((&[link, link_high, l0, l1, l2, l3], data)) = bytes.split_first_chunk() else {
        return;
    };
    let link = LinkType(u16::from_le_bytes([link, link_high]));
    let original_len = u32::from_le_bytes([l0, l1, l2, l3]);
    if let Some(datagram) = Datagram::in_frame(link, data, original_len) {
        let name = datagram.question.map_or(0, |(name, _)| name.len());
        assert!(name <= MOST_TEXT);
    }
    for original_len in [original_len, data.len() as u32] {
        let Ok(headers) = Headers::decode(link, data, original_len) else {
            continue;
        };
        assert!(headers.sack.blocks().len() <= 4);
        assert_eq!(headers.syn.is_some(), headers.flags.syn());
        let whole = Notes::LENGTH_FROM_CAPTURE;
        assert!(headers.notes.contains(whole) || headers.payload_len <= 65_535 + 40);
        if let Ok(packet) = TcpPacket::in_frame(link, data, original_len) {
            let message = Message::of(headers.record, packet.payload());
            assert!(message.is_none() || headers.record.tells());
            if let Some(Message::Hello(Some(name))) = message {
                assert!(name.len() <= MOST_TEXT);
            }
        }
        // The view of the same packet says the same.
        if link == LinkType::RAW && !headers.notes.contains(Notes::TUNNELLED) {
            match TcpPacket::parse_captured(data, original_len as usize) {
                Ok(packet) => {
                    assert_eq!(packet.flow(), headers.flow);
                    assert_eq!(packet.seq_len(), headers.seq_len());
                    assert_eq!(
                        packet.options_cut(),
                        headers.notes.contains(Notes::OPTIONS_CUT)
                    );
                }
                Err(_) => assert!(headers.notes.contains(Notes::FIRST_FRAGMENT)),
            }
        }
    }
    if let Ok(packet) = TcpPacket::parse(data) {
        assert!(mptcp::options(&packet).count() <= 13);
    }
}
