use std::net::IpAddr;

use rexmit_wire::headers::{Notes, Record, Sack, SynOptions};
use rexmit_wire::{Flags, FlowKey, SeqNum};

use super::*;

const MSS: (u8, u8) = (2, 4);
const NOP: (u8, u8) = (1, 1);
const WS: (u8, u8) = (3, 3);
const SOK: (u8, u8) = (4, 2);
const TS: (u8, u8) = (8, 10);

fn syn(ttl: u8, window: u16, scale: Option<u8>, options: &[(u8, u8)], answer: bool) -> Signature {
    let mut layout = OptionLayout::default();
    for (kind, length) in options {
        layout.push(*kind, *length);
    }
    let has = |kind| options.iter().any(|(other, _)| *other == kind);
    let headers = Headers {
        flow: FlowKey {
            src: IpAddr::from([10, 0, 0, 1]),
            dst: IpAddr::from([10, 0, 0, 2]),
            src_port: 40_000,
            dst_port: 80,
        },
        seq: SeqNum::new(7),
        ack: SeqNum::new(0),
        payload_len: 0,
        window,
        flags: Flags(Flags::SYN.0 | if answer { Flags::ACK.0 } else { 0 }),
        ttl,
        ip_id: Some(0),
        dont_fragment: true,
        ecn: 0,
        record: Record::None,
        notes: Notes::default(),
        timestamps: None,
        sack: Sack::default(),
        syn: Some(SynOptions {
            mss: Some(1460),
            window_scale: scale,
            sack_permitted: has(4),
            timestamps: has(8),
            layout,
            ..SynOptions::default()
        }),
    };
    Signature::of(&headers).unwrap()
}

fn hint_of(signature: &Signature, ip_id: Option<u16>) -> Hint {
    Hint::by(signature, system(signature), ip_id)
}

#[test]
fn a_signature_reads_as_p0f_has_it() {
    let linux = syn(57, 64_240, Some(7), &[MSS, SOK, TS, NOP, WS], false);
    assert_eq!(linux.to_string(), "64:1460:mss*44,7:mss,sok,ts,nop,ws");
    let server = syn(64, 65_160, Some(7), &[MSS, SOK, TS, NOP, WS], true);
    assert_eq!(
        server.to_string(),
        "64:1460:(mss-12)*45,7:mss,sok,ts,nop,ws"
    );
    let bare = syn(128, 65_535, None, &[MSS, NOP, NOP, SOK], false);
    assert_eq!(bare.to_string(), "128:1460:65535,-:mss,nop,nop,sok");
}

#[test]
fn systems_are_told_by_window_and_order() {
    let linux = &[MSS, SOK, TS, NOP, WS];
    for (ttl, window, scale, options, answer, named) in [
        (64, 64_240, Some(7), &linux[..], false, Some("linux-6")),
        (64, 29_200, Some(7), linux, false, Some("linux-4")),
        (50, 14_600, Some(6), linux, false, Some("linux-3")),
        (64, 14_480, Some(6), linux, true, Some("linux-3")),
        (64, 5_840, Some(7), linux, false, Some("linux-2.6")),
        (64, 5_840, Some(0), linux, false, Some("linux-2.4")),
        (64, 12_345, Some(5), linux, false, Some("linux")),
        // Without SACK, timestamps or scaling (net.ipv4.tcp_sack and so on), by what is left and where its padding stands.
        (
            64,
            64_240,
            Some(7),
            &[MSS, NOP, NOP, SOK, NOP, WS],
            false,
            Some("linux-6"),
        ),
        (
            64,
            12_345,
            Some(7),
            &[MSS, NOP, NOP, TS, NOP, WS],
            false,
            Some("linux"),
        ),
        (64, 65_160, None, &[MSS, SOK, TS], true, Some("linux-6")),
        (64, 12_345, None, &[MSS, NOP, NOP, SOK], true, None),
        (64, 64_240, Some(7), &[MSS, SOK, TS, WS], false, None),
        (
            128,
            65_535,
            None,
            &[MSS, NOP, NOP, SOK],
            false,
            Some("windows-xp"),
        ),
        (
            118,
            8_192,
            Some(8),
            &[MSS, NOP, WS, NOP, NOP, SOK],
            false,
            Some("windows-7"),
        ),
        (
            128,
            64_240,
            Some(8),
            &[MSS, NOP, WS, NOP, NOP, SOK],
            false,
            Some("windows-10"),
        ),
        (
            64,
            65_535,
            Some(1),
            &[MSS, NOP, WS, NOP, NOP, TS],
            false,
            Some("freebsd-5"),
        ),
        (
            64,
            65_535,
            Some(6),
            &[MSS, NOP, WS, SOK, TS],
            false,
            Some("freebsd"),
        ),
        (
            64,
            65_535,
            Some(6),
            &[MSS, NOP, WS, NOP, NOP, TS, SOK, (0, 2)],
            false,
            Some("mac-os-x"),
        ),
        (
            64,
            49_640,
            Some(0),
            &[MSS, NOP, WS, NOP, NOP, SOK],
            false,
            Some("solaris-10"),
        ),
        (255, 4_128, None, &[MSS], false, None),
    ] {
        let got = syn(ttl, window, scale, options, answer);
        assert_eq!(system(&got), named, "{got}");
    }
}

/// An answer to a SYN that offered nothing but SACK: FreeBSD 5.2 knows none, all others do.
#[test]
fn what_an_answer_leaves_out_of_an_offer_tells_its_system() {
    let offer = |scale, sack, stamps| {
        Offered::by(&SynOptions {
            window_scale: scale,
            sack_permitted: sack,
            timestamps: stamps,
            ..SynOptions::default()
        })
    };
    let told = |ttl, window, offered| {
        let mut signature = syn(ttl, window, None, &[MSS], true);
        signature.offered = offered;
        system(&signature)
    };
    let sack = offer(None, true, false);
    assert_eq!(told(64, 65_535, sack), Some("freebsd-5"));
    assert_eq!(told(64, 5_840, sack), None);
    assert_eq!(told(128, 65_535, sack), None, "Windows takes SACK");
    assert_eq!(told(64, 65_535, offer(Some(0), true, true)), None);
    assert_eq!(told(64, 65_535, offer(None, false, false)), None);
    assert_eq!(told(64, 65_535, None), None, "the SYN was not seen");

    // Mac OS X knows SACK, too, and would have taken it.
    let mut answer = syn(64, 65_535, Some(1), &[MSS, NOP, WS, NOP, NOP, TS], true);
    assert_eq!(system(&answer), Some("bsd"), "of either");
    answer.offered = offer(Some(0), true, true);
    assert_eq!(system(&answer), Some("freebsd-5"));
}

fn with_mss(mss: u16, window: u16, answer: bool) -> Option<&'static str> {
    let layout = [MSS, SOK, TS, NOP, WS];
    let mut signature = syn(64, window, Some(7), &layout, answer);
    signature.mss = Some(mss);
    system(&signature)
}

/// `tcp_select_initial_window`: half of 131,072 bytes in whole segments; in an answer they leave room for timestamps.
#[test]
fn the_window_of_linux_is_reckoned_from_its_segments() {
    for (mss, window, answer, named) in [
        (1400, 64_400, false, "linux-6"),
        (1400, 65_236, true, "linux-6"),
        (536, 65_392, false, "linux-6"),
        (8960, 62_720, false, "linux-6"),
        (8960, 62_636, true, "linux-6"),
        (1440, 64_260, true, "linux-6"),
        (8960, 26_880, false, "linux-4"),
        // A router lowered the offer.
        (1360, 64_240, false, "linux-6"),
        (1452, 65_160, true, "linux-6"),
        (1200, 29_200, false, "linux-4"),
        (1400, 64_401, false, "linux"),
        // Two segments of a loopback, of any version before 4.20.
        (16_396, 32_792, false, "linux"),
    ] {
        assert_eq!(with_mss(mss, window, answer), Some(named), "{mss} {window}");
    }
}

#[test]
fn a_syn_refutes_the_stacks_of_others() {
    let linux = &[MSS, SOK, TS, NOP, WS];
    let hint = hint_of(&syn(64, 65_160, Some(7), linux, true), Some(0));
    assert!(!hint.refutes("linux-6"));
    for other in ["windows-xp", "linux-2.4", "solaris-10", "rfc"] {
        assert!(hint.refutes(other), "{other}");
    }
    let unnamed = hint_of(&syn(64, 12_345, None, &[MSS], false), None);
    assert!(unnamed.refutes("windows-xp") && !unnamed.refutes("freebsd-5"));
    assert!(
        !Hint::default().refutes("windows-xp"),
        "no SYN says nothing"
    );
}

#[test]
fn linux_numbers_each_connection_apart() {
    let linux = &[MSS, SOK, TS, NOP, WS];
    let counts_own = |window, scale, options, answer, ip_id| {
        hint_of(&syn(64, window, scale, options, answer), ip_id).counts_own()
    };
    assert!(counts_own(64_240, Some(7), linux, false, Some(4_711)));
    assert!(counts_own(65_160, Some(7), linux, true, Some(0)));
    // An answer with a number was not written by Linux, or was changed on the way.
    assert!(!counts_own(65_160, Some(7), linux, true, Some(4_711)));
    assert!(!counts_own(12_345, None, &[MSS], false, Some(4_711)));
    assert!(!Hint::default().counts_own());
}
