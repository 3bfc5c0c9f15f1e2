//! The name of the server in a client's hello (RFC 6066 §3, RFC 8446 §4.1.2), as far as one packet has it, and the names of alerts.
//!
//! The first is a walk over lengths, each held against what is there; a parser of all of TLS would be many times as much code to trust.

use crate::message::host;

/// Bytes of a hello before the length of its session: record, handshake, version, random.
const HEAD: usize = 5 + 4 + 2 + 32;

/// The server's name in the hello that a payload begins with.
pub(crate) fn server_name(payload: &[u8]) -> Option<String> {
    let mut rest = payload.get(HEAD..)?;
    counted(&mut rest, 1)?; // session
    counted(&mut rest, 2)?; // ciphers
    counted(&mut rest, 1)?; // compression
                            // The packet may end before the extensions do.
    rest = rest.get(2..)?;
    loop {
        let kind = number(&mut rest, 2)?;
        let mut extension = counted(&mut rest, 2)?;
        if kind == 0 {
            let mut names = counted(&mut extension, 2)?;
            let is_host = number(&mut names, 1)? == 0;
            let name = core::str::from_utf8(counted(&mut names, 2)?).ok()?;
            return is_host.then(|| host(name)).flatten();
        }
    }
}

/// What the description of an alert is called (RFC 8446 §6, RFC 5246 §7.2); none of one that is in neither.
#[must_use]
pub const fn alert(description: u8) -> Option<&'static str> {
    Some(match description {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => return None,
    })
}

/// A number of so many bytes.
fn number(rest: &mut &[u8], bytes: usize) -> Option<usize> {
    let (number, behind) = rest.split_at_checked(bytes)?;
    *rest = behind;
    Some(
        number
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
    )
}

/// What follows its own length, which has so many bytes.
fn counted<'r>(rest: &mut &'r [u8], bytes: usize) -> Option<&'r [u8]> {
    let length = number(rest, bytes)?;
    let (counted, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(counted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hello(before: &[(u16, Vec<u8>)], name: &[u8]) -> Vec<u8> {
        let sized = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
        let names = sized(&[&[0][..], &sized(name)].concat());
        let named = (0, names);
        let all = before.iter().chain([&named]);
        let extensions: Vec<u8> = all
            .flat_map(|(kind, data)| [kind.to_be_bytes().to_vec(), sized(data)].concat())
            .collect();
        let ciphers = sized(&[0x13, 1]);
        let body = [
            &[3, 3][..],
            &[7; 32],
            &[2, 9, 9],
            &ciphers,
            &[1, 0],
            &sized(&extensions),
        ]
        .concat();
        let length = (body.len() as u32).to_be_bytes();
        let handshake = [&[1][..], &length[1..], &body].concat();
        [&[22, 3, 1][..], &sized(&handshake)].concat()
    }

    #[test]
    fn the_name_is_found_behind_other_extensions() {
        let bytes = hello(&[(16, vec![0; 40]), (10, vec![])], b"Example.org");
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
        assert_eq!(server_name(&hello(&[], b"a\0b")), None);
        assert_eq!(server_name(&hello(&[], &[0xff])), None);
    }

    proptest! {
        #[test]
        fn no_length_is_trusted(
            before in proptest::collection::vec((any::<u16>(), proptest::collection::vec(any::<u8>(), 0..9)), 0..4),
            cut in 0usize..200,
            wrong in proptest::collection::vec((0usize..200, any::<u8>()), 0..4),
        ) {
            let mut bytes = hello(&before, b"example.org");
            for (at, byte) in wrong {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            bytes.truncate(cut);
            let _ = server_name(&bytes);
        }
    }
}
