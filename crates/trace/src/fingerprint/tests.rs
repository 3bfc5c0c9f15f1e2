use rexmit_wire::headers::SynOptions;
use rexmit_wire::Flags;

use super::*;
use crate::testing::{bare, flow};

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
        window,
        flags: Flags(Flags::SYN.0 | if answer { Flags::ACK.0 } else { 0 }),
        ttl,
        ip_id: Some(0),
        syn: Some(SynOptions {
            mss: Some(1460),
            window_scale: scale,
            sack_permitted: has(4),
            timestamps: has(8),
            layout,
            ..SynOptions::default()
        }),
        ..bare(flow(40_000))
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
    let windows = &[MSS, NOP, WS, NOP, NOP, SOK];
    let no_stamps = &[MSS, NOP, NOP, SOK, NOP, WS];
    let no_sack = &[MSS, NOP, NOP, TS, NOP, WS];
    let xp = &[MSS, NOP, NOP, SOK];
    let bsd = &[MSS, NOP, WS, NOP, NOP, TS];
    let mac = &[MSS, NOP, WS, NOP, NOP, TS, SOK, (0, 2)];
    for (ttl, window, scale, options, answer, named) in [
        (64, 64_240, Some(7), &linux[..], false, Some("linux-6")),
        (64, 29_200, Some(7), linux, false, Some("linux-4")),
        (50, 14_600, Some(6), linux, false, Some("linux-3")),
        (64, 14_480, Some(6), linux, true, Some("linux-3")),
        (64, 5_840, Some(7), linux, false, Some("linux-2.6")),
        (64, 5_840, Some(0), linux, false, Some("linux-2.4")),
        (64, 12_345, Some(5), linux, false, Some("linux")),
        // Without SACK, timestamps or scaling (net.ipv4.tcp_sack and so on), by what is left and where its padding stands.
        (64, 64_240, Some(7), no_stamps, false, Some("linux-6")),
        (64, 12_345, Some(7), no_sack, false, Some("linux")),
        (64, 65_160, None, &[MSS, SOK, TS], true, Some("linux-6")),
        (64, 12_345, None, xp, true, None),
        (64, 64_240, Some(7), &[MSS, SOK, TS, WS], false, None),
        (128, 65_535, None, xp, false, Some("windows-xp")),
        (118, 8_192, Some(2), windows, false, Some("windows-7")),
        (118, 8_192, Some(8), windows, false, Some("windows")),
        // XP, or a later one that answers a SYN without a scale.
        (128, 65_535, None, xp, true, Some("windows")),
        (128, 64_240, Some(8), windows, false, Some("windows-10")),
        (64, 65_535, Some(1), bsd, false, Some("freebsd-5")),
        (
            64,
            65_535,
            Some(6),
            &[MSS, NOP, WS, SOK, TS],
            false,
            Some("freebsd"),
        ),
        (64, 65_535, Some(6), mac, false, Some("mac-os-x")),
        (64, 49_640, Some(0), windows, false, Some("solaris-10")),
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

/// The stacks of today are told from the old ones of the same makers where their SYNs are.
#[test]
fn a_syn_of_today_refutes_yesterday_s_stack() {
    let left = |ttl, window, scale, options: &[(u8, u8)]| {
        let hint = hint_of(&syn(ttl, window, scale, options, false), Some(0));
        let stacks = [
            "windows-xp",
            "windows-11",
            "freebsd-5",
            "freebsd-14",
            "freebsd-14-rack",
            "macos-15",
            "linux-6",
        ];
        let left = stacks.into_iter().filter(|stack| !hint.refutes(stack));
        left.collect::<Vec<_>>()
    };
    let windows = &[MSS, NOP, WS, NOP, NOP, SOK];
    assert_eq!(left(128, 64_240, Some(8), windows), ["windows-11"]);
    assert_eq!(left(128, 8_192, Some(2), windows), ["windows-xp"]);
    let either = ["windows-xp", "windows-11"];
    assert_eq!(left(128, 8_192, Some(8), windows), either);
    let xp = &[MSS, NOP, NOP, SOK];
    assert_eq!(left(128, 65_535, None, xp), ["windows-xp"]);
    let freebsd = &[MSS, NOP, WS, SOK, TS];
    let of_freebsd = ["freebsd-5", "freebsd-14", "freebsd-14-rack"];
    assert_eq!(left(64, 65_535, Some(6), freebsd), of_freebsd);
    let old = &[MSS, NOP, WS, NOP, NOP, TS];
    assert_eq!(left(64, 65_535, Some(1), old), ["freebsd-5"]);
    let mac = &[MSS, NOP, WS, NOP, NOP, TS, SOK, (0, 2)];
    assert_eq!(left(64, 65_535, Some(6), mac), ["freebsd-5", "macos-15"]);
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
