//! TCP headers are found and decoded through every kind of layer.

mod common;

use common::{ethernet, segment, tcp, v4, v6, TIMESTAMPS};
use proptest::prelude::*;
use rexmit_wire::headers::{Headers, Notes, Timestamps};
use rexmit_wire::{Flags, LinkType, SeqNum, SeqRange, Skip};

fn decode(link: LinkType, data: &[u8]) -> Result<Headers, Skip> {
    Headers::decode(link, data, data.len() as u32)
}

/// Checks that the frame holds `segment()` and gives the notes.
fn holds_segment(link: LinkType, data: &[u8]) -> Notes {
    let headers = decode(link, data).unwrap_or_else(|skip| panic!("{link}: {skip}"));
    assert_eq!(
        (headers.flow.src_port, headers.seq.get(), headers.ack.get()),
        (80, 1000, 77)
    );
    assert_eq!(headers.payload_len, 100);
    assert_eq!(headers.timestamps, Some(Timestamps { value: 5, echo: 6 }));
    headers.notes
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn every_field_of_a_segment() {
    let headers = decode(LinkType::ETHERNET, &ethernet(0x0800, &v4(6, &segment()))).unwrap();
    assert_eq!(headers.flow.to_string(), "10.0.0.1:80 > 10.0.0.2:40000");
    let ip = |of: &Headers| (of.ip_id, of.ttl, of.dont_fragment, of.ecn);
    assert_eq!(ip(&headers), (Some(7), 63, true, 2));
    assert_eq!((headers.window, headers.flags), (258, Flags(0x18)));
    assert_eq!(headers.range(), SeqRange::new(SeqNum::new(1000), 100));
    assert!(headers.sack.is_empty() && headers.syn.is_none());
    assert_eq!(headers.notes, Notes::default());

    let headers = decode(LinkType::ETHERNET, &ethernet(0x86dd, &v6(6, &segment()))).unwrap();
    assert_eq!(headers.flow.to_string(), "[fd00::1]:80 > [fd00::2]:40000");
    assert_eq!(ip(&headers), (None, 62, true, 1));
    assert_eq!(headers.payload_len, 100);
}

#[test]
fn a_syn_carries_no_more_than_its_frame_holds() {
    let mut frame = v4(6, &tcp(0x02, &[2, 4, 5, 180], &[]));
    let whole = frame.len() as u32;
    frame[3] += 12;
    let headers = Headers::decode(LinkType::RAW, &frame, whole).unwrap();
    assert_eq!(headers.payload_len, 0);
    // Fast Open's data, of which the capture kept nothing.
    let headers = Headers::decode(LinkType::RAW, &frame, whole + 12).unwrap();
    assert_eq!(headers.payload_len, 12);
}

#[test]
fn every_option_of_a_syn() {
    let options = [
        2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 0, 1, 3, 3, 7, 30, 4, 0x10, 1, 34, 2, 0, 9,
    ];
    let frame = v4(6, &tcp(0x02, &options, &[]));
    let headers = decode(LinkType::RAW, &frame).unwrap();
    let syn = headers.syn.unwrap();
    assert_eq!((syn.mss, syn.window_scale), (Some(1460), Some(7)));
    assert!(syn.sack_permitted && syn.timestamps && syn.fast_open && syn.padding_used);
    assert_eq!(
        (syn.mptcp, syn.malformed, syn.ip_header_len),
        (Some(1), false, 20)
    );
    let layout = [
        (2, 4),
        (4, 2),
        (8, 10),
        (1, 1),
        (3, 3),
        (30, 4),
        (34, 2),
        (0, 2),
    ];
    assert_eq!(syn.layout.options(), layout);
    assert_eq!(headers.timestamps, Some(Timestamps { value: 5, echo: 0 }));
    assert_eq!(headers.seq_len(), 1);

    let broken = v4(6, &tcp(0x02, &[2, 4, 5, 180, 3, 30, 7, 0], &[]));
    let syn = decode(LinkType::RAW, &broken).unwrap().syn.unwrap();
    assert_eq!(
        (syn.mss, syn.window_scale, syn.malformed),
        (Some(1460), None, true)
    );

    let crowded = v4(6, &tcp(0x02, &[1; 40], &[]));
    let syn = decode(LinkType::RAW, &crowded).unwrap().syn.unwrap();
    assert!(syn.layout.is_full() && !syn.malformed);
}

#[test]
fn sack_blocks_come_in_their_order() {
    let mut options = TIMESTAMPS.to_vec();
    options.extend([1, 1, 5, 18]);
    for word in [0xffff_fff0_u32, 9, 20, 30] {
        options.extend(word.to_be_bytes());
    }
    let headers = decode(LinkType::RAW, &v4(6, &tcp(0x10, &options, &[]))).unwrap();
    let blocks = headers.sack.blocks().iter();
    let ranges: Vec<_> = blocks.map(|b| (b.start.get(), b.len())).collect();
    assert_eq!(ranges, [(0xffff_fff0, 25), (20, 10)]);
    assert_eq!(headers.timestamps, Some(Timestamps { value: 5, echo: 6 }));
}

#[test]
fn every_link() {
    let (four, six) = (v4(6, &segment()), v6(6, &segment()));
    for link in [LinkType::RAW, LinkType::RAW_BSD, LinkType::RAW_OPENBSD] {
        holds_segment(link, &four);
        holds_segment(link, &six);
    }
    holds_segment(LinkType::IPV4, &four);
    holds_segment(LinkType::IPV6, &six);
    holds_segment(LinkType::NULL, &join(&[&[2, 0, 0, 0], &four]));
    holds_segment(LinkType::NULL, &join(&[&[0, 0, 0, 30], &six]));
    holds_segment(LinkType::LOOP, &join(&[&[0, 0, 0, 24], &six]));
    // 802.3 with LLC and SNAP; the length field leaves out padding.
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0];
    holds_segment(LinkType::ETHERNET, &ethernet(160, &join(&[&snap, &four])));
    holds_segment(LinkType::ATM_RFC1483, &join(&[&snap, &four]));
    holds_segment(LinkType::SUNATM, &join(&[&[2, 0, 0, 5], &snap, &four]));
    holds_segment(LinkType::FDDI, &join(&[&[0x57; 13], &snap, &four]));
    for framing in [
        &[0xff, 0x03, 0, 0x21][..],
        &[0, 0x21],
        &[0x21],
        &[0xff, 0x03, 0x21],
    ] {
        holds_segment(LinkType::PPP, &join(&[framing, &four]));
    }
    holds_segment(LinkType::PPP, &join(&[&[0xff, 3, 0, 0x57], &six]));
    holds_segment(LinkType::PPP_HDLC, &join(&[&[0xff, 3, 0, 0x21], &four]));
    holds_segment(LinkType::PPP_HDLC, &join(&[&[0x0f, 0, 0x08, 0], &four]));
    holds_segment(LinkType::C_HDLC, &join(&[&[0x0f, 0, 0x86, 0xdd], &six]));
    let pppoe = [0x11, 0, 0, 9, 0, 154, 0, 0x21];
    holds_segment(LinkType::PPPOE, &join(&[&pppoe, &four]));
    let behind = ethernet(0x8864, &join(&[&pppoe, &four]));
    holds_segment(LinkType::ETHERNET, &behind);
    let sll = [0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0];
    holds_segment(LinkType::LINUX_SLL, &join(&[&sll, &four]));
    let sll2 = [
        0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    holds_segment(LinkType::LINUX_SLL2, &join(&[&sll2, &six]));
}

/// The payload by IP, PPPoE and 802.3 of an acknowledgement whose IP header counts padding.
fn padded(link: LinkType, frame: &[u8]) -> u32 {
    decode(link, frame).unwrap().payload_len
}

#[test]
fn link_layers_bound_the_length_of_what_they_carry() {
    let ack = v4(6, &tcp(0x18, &[], &[0; 6]));
    let pppoe = |length| [0x11, 0, 0, 9, 0, length, 0, 0x21];
    let over = |length| join(&[&pppoe(length), &ack, &[0; 8]]);
    assert_eq!(padded(LinkType::PPPOE, &over(48)), 6);
    assert_eq!(
        padded(LinkType::PPPOE, &over(42)),
        0,
        "all of it is padding"
    );
    let tagged = join(&[&[0, 5, 0x88, 0x64], &over(44)[..]]);
    assert_eq!(padded(LinkType::ETHERNET, &ethernet(0x8100, &tagged)), 2);
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0];
    let by_length = |length| ethernet(length, &join(&[&snap, &ack]));
    assert_eq!(padded(LinkType::ETHERNET, &by_length(54)), 6);
    assert_eq!(padded(LinkType::ETHERNET, &by_length(48)), 0);
    let behind_a_tag = join(&[&[0, 5, 0, 48], &snap, &ack]);
    assert_eq!(
        padded(LinkType::ETHERNET, &ethernet(0x8100, &behind_a_tag)),
        0
    );
    // A length that was not renewed when packets were merged.
    let merged = v4(6, &tcp(0x18, &[], &[7; 200]));
    let stale = join(&[&pppoe(142), &merged]);
    assert_eq!(padded(LinkType::PPPOE, &stale), 200);
}

#[test]
fn what_pads_an_acknowledgement_is_no_data() {
    let frame = |flags, bytes: &[u8]| ethernet(0x0800, &v4(6, &tcp(flags, &[], bytes)));
    let len = |frame: &[u8]| padded(LinkType::ETHERNET, frame);
    assert_eq!(len(&frame(0x10, &[0; 6])), 0);
    assert_eq!(len(&frame(0x18, &[0; 6])), 6, "data");
    assert_eq!(len(&frame(0x10, &[0; 5])), 5, "no frame is so short");
    assert_eq!(len(&frame(0x10, &[1; 6])), 6, "nothing tells");
    // The checksum is that of the header alone, whatever lies behind; or that of data which are zeros.
    let with_checksum = |bytes: &[u8], of: usize| {
        let mut frame = frame(0x10, bytes);
        let segment = frame[34..34 + of].to_vec();
        let mut sum: u32 = 6 + of as u32;
        for pair in frame[26..34].chunks(2).chain(segment.chunks(2)) {
            sum += u32::from(u16::from_be_bytes([pair[0], pair[1]]));
        }
        let folded = (sum & 0xffff) + (sum >> 16);
        frame[50..52].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        len(&frame)
    };
    assert_eq!(with_checksum(&[1; 6], 20), 0);
    assert_eq!(with_checksum(&[1; 2], 20), 0, "a tag took four bytes");
    assert_eq!(with_checksum(&[1; 7], 20), 7, "no padding is so long");
    assert_eq!(with_checksum(&[0; 6], 26), 6);
}

#[test]
fn tags_and_labels() {
    let four = v4(6, &segment());
    let q = ethernet(0x8100, &join(&[&[0, 5, 0x08, 0], &four]));
    holds_segment(LinkType::ETHERNET, &q);
    let q_in_q = ethernet(0x88a8, &join(&[&[0, 5, 0x81, 0, 0, 6, 0x08, 0], &four]));
    holds_segment(LinkType::ETHERNET, &q_in_q);
    let labels = ethernet(0x8847, &join(&[&[0, 1, 0, 64, 0, 2, 1, 64], &four]));
    holds_segment(LinkType::ETHERNET, &labels);
    let wire = ethernet(
        0x8847,
        &join(&[&[0, 1, 1, 64, 0, 0, 0, 0], &ethernet(0x0800, &four)]),
    );
    holds_segment(LinkType::ETHERNET, &wire);
}

#[test]
fn tunnels_are_looked_through() {
    let four = v4(6, &segment());
    let six = v6(6, &segment());
    let frame = ethernet(0x0800, &four);
    let udp = |port: u16, head: &[u8], next: &[u8]| {
        join(&[&[0xc0, 0], &port.to_be_bytes(), &[0; 4], head, next])
    };
    let gre = |head: &[u8], next: &[u8]| v4(47, &join(&[head, next]));
    for packet in [
        v4(4, &four),
        v4(41, &six),
        v6(41, &six),
        v6(4, &four),
        gre(&[0, 0, 0x08, 0], &four),
        gre(
            &[0xb0, 0, 0x86, 0xdd, 1, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3],
            &six,
        ),
        gre(&[0, 0, 0x65, 0x58], &frame),
        // PPTP with key, sequence and acknowledgement.
        gre(
            &[
                &[0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2][..],
                &[0xff, 3, 0, 0x21],
            ]
            .concat(),
            &four,
        ),
        // ERSPAN, types II and III.
        gre(
            &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0],
            &frame,
        ),
        gre(
            &[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20][..], &[0; 11]].concat(),
            &frame,
        ),
        v4(17, &udp(4789, &[8, 0, 0, 0, 0, 0, 9, 0], &frame)),
        v6(17, &udp(8472, &[8, 0, 0, 0, 0, 0, 9, 0], &frame)),
        v4(
            17,
            &udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4], &frame),
        ),
        v4(17, &udp(6081, &[0, 0, 0x86, 0xdd, 0, 0, 9, 0], &six)),
        v4(17, &udp(2152, &[0x30, 255, 0, 60, 0, 0, 0, 7], &four)),
        // GTP-U with a sequence number and two extensions.
        v6(
            17,
            &udp(
                2152,
                &[
                    &[0x36, 255, 0, 80, 0, 0, 0, 7, 0, 9, 0, 0x85][..],
                    &[1, 0, 9, 0x40, 2, 0, 0, 0, 0, 0, 0, 0],
                ]
                .concat(),
                &six,
            ),
        ),
        v4(97, &join(&[&[0x30, 0], &frame])),
        v4(137, &join(&[&[0, 1, 1, 64], &four])),
        v4(4, &v4(4, &v4(4, &four))),
    ] {
        assert_eq!(holds_segment(LinkType::RAW, &packet), Notes::TUNNELLED);
    }
    let mut deep = four;
    for _ in 0..8 {
        deep = v4(4, &deep);
    }
    assert_eq!(decode(LinkType::RAW, &deep), Err(Skip::TooDeep));
    // A VXLAN packet that is none: its flag is not set.
    let other = decode(LinkType::RAW, &v4(17, &udp(4789, &[0; 40], &[])));
    assert_eq!(other, Err(Skip::NotTcp { protocol: 17 }));
    // An echo request of GTP-U.
    let echo = decode(
        LinkType::RAW,
        &v4(17, &udp(2152, &[0x32, 1, 0, 4, 0, 0, 0, 0], &[0; 40])),
    );
    assert_eq!(echo, Err(Skip::NotTcp { protocol: 17 }));
    let arp_inside = v4(47, &[0, 0, 0x08, 0x06, 1, 2, 3, 4]);
    assert_eq!(decode(LinkType::RAW, &arp_inside), Err(Skip::Arp));
}

#[test]
fn ipv6_extension_headers_and_fragments() {
    let hop = [43, 0, 0, 0, 0, 0, 0, 0]; // hop-by-hop, then routing
    let routing = [60, 0, 0, 0, 0, 0, 0, 0];
    let destination = [51, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let authentication = [44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let atomic = [6, 0, 0, 0, 0, 0, 0, 1];
    let front = join(&[&hop, &routing, &destination, &authentication, &atomic]);
    let whole = v6(0, &join(&[&front, &segment()]));
    assert_eq!(holds_segment(LinkType::RAW, &whole), Notes::default());
    let fragment = |at| v6(44, &join(&[&[6, 0, 0, at, 0, 0, 0, 1], &segment()]));
    assert_eq!(
        holds_segment(LinkType::RAW, &fragment(1)),
        Notes::FIRST_FRAGMENT
    );
    assert_eq!(decode(LinkType::RAW, &fragment(9)), Err(Skip::Fragment));
}

#[test]
fn ipv4_fragments_and_options() {
    let mut first = v4(6, &segment());
    first[6] = 0x20;
    assert_eq!(holds_segment(LinkType::RAW, &first), Notes::FIRST_FRAGMENT);
    // A first fragment of 8 bytes has no whole header.
    let mut tiny = v4(6, &segment()[..8]);
    tiny[6] = 0x20;
    assert_eq!(decode(LinkType::RAW, &tiny), Err(Skip::Malformed));
    let mut later = v4(6, &segment());
    later[7] = 9;
    assert_eq!(decode(LinkType::RAW, &later), Err(Skip::Fragment));
    let mut with_options = v4(6, &segment());
    with_options[0] = 0x47;
    with_options[3] += 8;
    with_options.splice(20..20, [0x94, 4, 0, 0, 1, 1, 1, 0]);
    holds_segment(LinkType::RAW, &with_options);
}

#[test]
fn headers_cut_by_the_capture() {
    let frame = ethernet(0x0800, &v4(6, &segment()));
    let wire = frame.len() as u32;
    for cut in 0..=frame.len() {
        let got = Headers::decode(LinkType::ETHERNET, &frame[..cut], wire);
        match cut {
            0 => assert_eq!(got, Err(Skip::Empty)),
            14 => assert_eq!(got, Err(Skip::Empty), "IP has no byte"),
            1..50 => assert_eq!(got, Err(Skip::CutShort), "{cut}"),
            _ => {
                let got = got.unwrap();
                assert_eq!((got.payload_len, got.window), (100, 258));
                assert_eq!(got.notes.contains(Notes::OPTIONS_CUT), cut < 66, "{cut}");
                assert_eq!(got.timestamps.is_some(), cut >= 66, "{cut}");
            }
        }
    }
    // Of cut options those that are there are used.
    let options = [
        2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 0, 1, 3, 3, 7,
    ];
    let syn = v4(6, &tcp(0x02, &options, &[]));
    let got = Headers::decode(LinkType::RAW, &syn[..48], 60).unwrap();
    let offer = got.syn.unwrap();
    assert_eq!(
        (offer.mss, offer.sack_permitted, offer.timestamps),
        (Some(1460), true, false)
    );
    assert!(got.notes.contains(Notes::OPTIONS_CUT) && !offer.malformed);
}

#[test]
fn lengths_of_payload() {
    // Ethernet pads a bare ACK to 60 bytes.
    let mut padded = ethernet(0x0800, &v4(6, &tcp(0x10, &[], &[])));
    padded.resize(60, 0);
    assert_eq!(decode(LinkType::ETHERNET, &padded).unwrap().payload_len, 0);
    // Segmentation offload: the length field is 0, what was on the wire tells, less the link's header.
    let mut large = ethernet(0x0800, &v4(6, &segment()));
    large[16..18].fill(0);
    let got = Headers::decode(LinkType::ETHERNET, &large[..80], 70_066).unwrap();
    assert_eq!(
        (got.payload_len, got.notes),
        (70_000, Notes::LENGTH_FROM_CAPTURE)
    );
    let mut inner = v4(6, &segment());
    inner[2..4].fill(0);
    let tunnel = v4(4, &inner);
    assert_eq!(
        Headers::decode(LinkType::RAW, &tunnel[..100], 172)
            .unwrap()
            .payload_len,
        100
    );
}

#[test]
fn what_is_no_tcp_says_what_it_is() {
    let ether = LinkType::ETHERNET;
    let unknown = |link| Skip::UnknownLink { link };
    let wireless = LinkType::IEEE802_11;
    for (link, frame, skip) in [
        (ether, ethernet(0x0806, &[0; 28]), Skip::Arp),
        (ether, ethernet(0x8863, &[0; 28]), Skip::LinkControl),
        (ether, ethernet(38, &[0x42, 0x42, 3, 0]), Skip::LinkControl),
        (
            ether,
            ethernet(38, &[0xe0, 0xe0, 3, 0]),
            Skip::OtherFrame { kind: 0xe0e0 },
        ),
        (
            ether,
            ethernet(0x88f7, &[0; 40]),
            Skip::OtherFrame { kind: 0x88f7 },
        ),
        (
            ether,
            ethernet(0x0800, &v4(17, &[0; 8])),
            Skip::NotTcp { protocol: 17 },
        ),
        (
            ether,
            ethernet(0x0800, &[0x95; 40]),
            Skip::NotIp { version: 9 },
        ),
        (
            LinkType::PPP,
            vec![0xff, 3, 0xc0, 0x21, 1, 1],
            Skip::LinkControl,
        ),
        (
            LinkType::C_HDLC,
            vec![0x8f, 0, 0x80, 0x35, 0, 0, 0, 2],
            Skip::LinkControl,
        ),
        (
            LinkType::NULL,
            vec![7, 0, 0, 0, 1],
            Skip::OtherFrame { kind: 7 },
        ),
        (wireless, vec![8; 60], unknown(wireless)),
        (LinkType(999), vec![8; 60], unknown(LinkType(999))),
        (LinkType::RAW, v4(6, &[0; 40]), Skip::Malformed),
    ] {
        assert_eq!(decode(link, &frame), Err(skip), "{link}");
    }
    let labels = ethernet(0x8847, &[0, 1, 0, 64].repeat(100));
    assert_eq!(decode(LinkType::ETHERNET, &labels), Err(Skip::TooDeep));
    let tags = ethernet(0x8100, &[0, 1, 0x81, 0].repeat(100));
    assert_eq!(decode(LinkType::ETHERNET, &tags), Err(Skip::TooDeep));
}

proptest! {
    #[test]
    fn nothing_panics(
        link in prop::sample::select(vec![0u16, 1, 9, 10, 12, 50, 51, 100, 101, 104, 108, 113, 123, 276]),
        bytes in prop::collection::vec(any::<u8>(), 0..120),
        original in any::<u32>(),
    ) {
        let _ = Headers::decode(LinkType(link), &bytes, original);
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0usize..300, value in any::<u8>(), cut in 0usize..300) {
        let inner = ethernet(0x8100, &[&[0, 5, 0x08, 0][..], &v4(6, &segment())].concat());
        let vxlan = [&[0xc0, 0, 0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0][..], &inner].concat();
        let mut frame = ethernet(0x86dd, &v6(17, &vxlan));
        let at = at % frame.len();
        frame[at] = value;
        let cut = cut.min(frame.len());
        let _ = Headers::decode(LinkType::ETHERNET, &frame[..cut], frame.len() as u32);
    }
}
