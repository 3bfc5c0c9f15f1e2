//! DNS (RFC 1035 §4): questions over TCP, behind their length (§4.2.2), and questions and answers over UDP.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::ip::{self, protocol};
use crate::link::{self, LinkType};
use crate::message::MOST_TEXT;

/// Servers' port.
pub const PORT: u16 = 53;

/// Bytes before the question.
const HEAD: usize = 12;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The name.
    pub name: Option<String>,
    /// The type of the records that are wanted (RFC 1035 §3.2.2).
    pub kind: u16,
}

impl Question {
    /// The question that a payload of TCP begins with; none if it is no question.
    #[must_use]
    pub fn over_tcp(payload: &[u8]) -> Option<Question> {
        let message = payload.get(2..)?;
        let &[_, _, flags, _, 0, 1, ..] = message else {
            return None;
        };
        // A standard query: neither an answer nor another operation.
        (flags & 0xf8 == 0).then_some(())?;
        let (name, rest) = name(message.get(HEAD..)?)?;
        let &[high, low, ..] = rest else { return None };
        Some(Question {
            name: Some(name),
            kind: u16::from_be_bytes([high, low]),
        })
    }

    /// The type by its name, of those that programs ask for.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            1 => "A",
            2 => "NS",
            5 => "CNAME",
            6 => "SOA",
            12 => "PTR",
            15 => "MX",
            16 => "TXT",
            28 => "AAAA",
            33 => "SRV",
            64 => "SVCB",
            65 => "HTTPS",
            252 => "AXFR",
            255 => "ANY",
            _ => "other",
        }
    }
}

/// Bytes of a UDP header (RFC 768).
const UDP_HEADER: usize = 8;
/// Records of an answer that are looked at.
const MOST_RECORDS: u16 = 64;

/// A question about a name, or the answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Who asks, and whom.
    pub asker: IpAddr,
    /// Who is asked.
    pub server: IpAddr,
    /// The asker's port, and the number of the question, which its answer repeats (RFC 1035 §4.1.1).
    pub port: u16,
    /// The question's number.
    pub id: u16,
    /// The name that is asked for, and the type of the records that are wanted; none if the capture cut them off.
    pub question: Option<(String, u16)>,
    /// Of an answer: the addresses that the name has, as far as they were captured; none where there was an error.
    pub answer: Option<Vec<IpAddr>>,
}

impl Datagram {
    /// The message in a captured frame as [`crate::Headers::decode`] takes it, over UDP and in no tunnel.
    #[must_use]
    pub fn in_frame(link: LinkType, data: &[u8], original_len: u32) -> Option<Datagram> {
        let packet = link::strip(link, data).ok()?.bytes;
        let located = ip::locate(packet, original_len as usize).ok()?;
        let (udp, message) = packet
            .get(located.offset..)?
            .split_first_chunk::<UDP_HEADER>()?;
        let [from, to] = [[udp[0], udp[1]], [udp[2], udp[3]]].map(u16::from_be_bytes);
        (located.protocol == protocol::UDP).then_some(())?;
        let (&[id_high, id_low, flags, _, 0, 1, high, low, ..], question) =
            message.split_first_chunk::<HEAD>()?
        else {
            return None;
        };
        // A standard query, or the answer to one.
        let answers = match (flags & 0xf8, from, to) {
            (0x80, PORT, _) => true,
            (0, _, PORT) => false,
            _ => return None,
        };
        let length = usize::from(u16::from_be_bytes([udp[4], udp[5]]));
        let read = name(question).and_then(|(name, rest)| {
            let (&[high, low, ..], rest) = rest.split_first_chunk::<4>()?;
            Some(((name, u16::from_be_bytes([high, low])), rest))
        });
        if read.is_none() && UDP_HEADER + message.len() >= length {
            return None;
        }
        let records = u16::from_be_bytes([high, low]).min(MOST_RECORDS);
        let [(asker, port), (server, _)] = if answers {
            [(located.dst, to), (located.src, from)]
        } else {
            [(located.src, from), (located.dst, to)]
        };
        let (question, rest) =
            read.map_or((None, &[][..]), |(question, rest)| (Some(question), rest));
        Some(Datagram {
            asker,
            server,
            port,
            id: u16::from_be_bytes([id_high, id_low]),
            question,
            answer: answers.then(|| addresses(rest, records)),
        })
    }
}

/// The addresses in so many records, as far as the packet has them.
fn addresses(mut rest: &[u8], records: u16) -> Vec<IpAddr> {
    let all = (0..records).map_while(|_| record(&mut rest));
    all.flatten().collect()
}

/// Reads a record: its address, if that is what it has.
fn record(rest: &mut &[u8]) -> Option<Option<IpAddr>> {
    loop {
        let (&length, behind) = rest.split_first()?;
        *rest = behind;
        match length {
            0 => break,
            1..=63 => *rest = rest.get(usize::from(length)..)?,
            // The rest of the name stands elsewhere (§4.1.4).
            0xc0.. => {
                *rest = rest.get(1..)?;
                break;
            }
            _ => return None,
        }
    }
    let (head, behind) = rest.split_first_chunk::<10>()?;
    let length = usize::from(u16::from_be_bytes([head[8], head[9]]));
    let (data, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    // The internet's A (RFC 1035 §3.4.1) and AAAA (RFC 3596 §2.1).
    let address = match head[..4] {
        [0, 1, 0, 1] => <[u8; 4]>::try_from(data).ok().map(IpAddr::from),
        [0, 28, 0, 1] => <[u8; 16]>::try_from(data).ok().map(IpAddr::from),
        _ => None,
    };
    Some(address)
}

/// A name that is not compressed, and what follows it.
fn name(mut bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut name = String::new();
    loop {
        let (&length, rest) = bytes.split_first()?;
        if length == 0 {
            let name = if name.is_empty() {
                ".".to_owned()
            } else {
                name
            };
            return Some((name, rest));
        }
        // RFC 1035 §2.3.4; the upper two bits point elsewhere.
        let (label, rest) = rest
            .split_at_checked(usize::from(length))
            .filter(|_| length < 64)?;
        // Of hosts and services (RFC 1123 §2.1, RFC 8552 §1.2), wildcards and parts of networks (RFC 2317 §4): what else may
        // stand there names nothing, and a spreadsheet may take it for a formula.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_*/".contains(byte);
        if !label.iter().all(plain) || name.len() + label.len() >= MOST_TEXT {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(
            label
                .iter()
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(name: &[u8]) -> Vec<u8> {
        let message = [
            &[1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..],
            name,
            &[0, 28, 0, 1],
        ]
        .concat();
        [&(message.len() as u16).to_be_bytes()[..], &message].concat()
    }

    #[test]
    fn a_question_has_a_name_and_a_type() {
        let question = Question::over_tcp(&query(b"\x03wWw\x07example\x03org\0")).unwrap();
        assert_eq!(question.name.as_deref(), Some("www.example.org"));
        assert_eq!(question.kind_name(), "AAAA");
        let root = Question::over_tcp(&query(b"\0")).unwrap();
        assert_eq!(root.name.as_deref(), Some("."));
        let formula = &b"\x0c=cmd|'/c'!A1\0"[..];
        for wrong in [
            &b"\xc0\x0c"[..],
            b"\x03a.b\0",
            b"\x02a\n\0",
            b"\x09abc\0",
            formula,
        ] {
            assert_eq!(Question::over_tcp(&query(wrong)), None, "{wrong:?}");
        }
        let mut answer = query(b"\0");
        answer[4] |= 0x80;
        assert_eq!(Question::over_tcp(&answer), None);
    }

    /// An IPv4 packet to 10.0.0.2 with an answer of these records.
    fn answer(records: &[&[u8]]) -> Vec<u8> {
        let mut frame = vec![
            0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 9, 10, 0, 0, 2,
        ];
        frame.extend([0, 53, 0xc0, 0, 0, 0, 0, 0]);
        frame.extend([7, 7, 0x81, 0x80, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
        frame.extend(b"\x03wWw\x01a\x03org\0\0\x01\0\x01");
        records.iter().for_each(|record| frame.extend(*record));
        frame
    }

    fn read(frame: &[u8]) -> Option<Datagram> {
        Datagram::in_frame(LinkType::RAW, frame, frame.len() as u32)
    }

    const ALIAS: &[u8] = b"\xc0\x0c\0\x05\0\x01\0\0\0\x09\0\x04\x01b\xc0\x10";
    const V4: &[u8] = b"\x01b\xc0\x10\0\x01\0\x01\0\0\0\x09\0\x04\x0a\0\0\x01";
    const V6: &[u8] = b"\xc0\x0c\0\x1c\0\x01\0\0\0\x09\0\x10\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01";

    #[test]
    fn an_answer_says_which_addresses_a_name_has() {
        let datagram = read(&answer(&[ALIAS, V4, V6])).unwrap();
        let [asker, server] = [2, 9].map(|last| IpAddr::from([10, 0, 0, last]));
        assert_eq!((datagram.asker, datagram.server), (asker, server));
        assert_eq!(datagram.question, Some(("www.a.org".to_owned(), 1)));
        let v6: IpAddr = "fd00::1".parse().unwrap();
        assert_eq!(datagram.answer, Some(vec![IpAddr::from([10, 0, 0, 1]), v6]));
        let cut = answer(&[V4, V6]);
        let addresses = read(&cut[..cut.len() - 1]).unwrap().answer.unwrap();
        assert_eq!(addresses.len(), 1);
        for (place, byte) in [(9, 6), (21, 54), (30, 1)] {
            let mut other = answer(&[V4]);
            other[place] = byte;
            assert_eq!(read(&other), None, "{place}");
        }
    }

    #[test]
    fn a_question_over_udp_is_of_the_same_name_the_other_way() {
        let mut question = answer(&[]);
        question[12..20].rotate_left(4);
        question[20..24].rotate_left(2);
        question[30] = 1;
        let [datagram, answered] = [&question, &answer(&[])].map(|frame| read(frame).unwrap());
        assert_eq!(datagram.answer, None);
        let of = |one: Datagram| Datagram {
            answer: None,
            ..one
        };
        assert_eq!(of(datagram), of(answered));
    }

    #[test]
    fn a_name_that_was_cut_off_leaves_the_number_of_its_question() {
        let mut frame = answer(&[V4]);
        let length = frame.len() - 20;
        frame[24..26].copy_from_slice(&(length as u16).to_be_bytes());
        let whole = read(&frame).unwrap();
        let original_len = frame.len() as u32;
        let cut = |to: usize| Datagram::in_frame(LinkType::RAW, &frame[..to], original_len);
        for to in [40, 46, 54] {
            let cut = cut(to).unwrap();
            assert_eq!(
                (cut.question.as_ref(), cut.answer.as_deref()),
                (None, Some(&[][..]))
            );
            assert_eq!((cut.port, cut.id), (whole.port, whole.id));
        }
        assert_eq!(cut(39), None);
        // What is no name is none, however much of it was captured.
        frame[40] = 0xc0;
        assert_eq!(read(&frame), None);
    }

    proptest! {
        #[test]
        fn any_answer_will_do(
            records in proptest::collection::vec(any::<u8>(), 0..80),
            wrong in proptest::collection::vec((20usize..120, any::<u8>()), 0..5),
            cut in 0usize..160,
        ) {
            let mut frame = answer(&[V4, &records, V6]);
            for (place, byte) in wrong {
                if let Some(at) = frame.get_mut(place) {
                    *at = byte;
                }
            }
            frame.truncate(cut);
            if let Some(datagram) = read(&frame) {
                let name = datagram.question.map_or(0, |(name, _)| name.len());
                prop_assert!(name <= MOST_TEXT);
                prop_assert!(datagram.answer.is_none_or(|all| all.len() <= usize::from(MOST_RECORDS)));
            }
        }

        #[test]
        fn no_length_is_trusted(name in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..300) {
            let mut bytes = query(&name);
            bytes.truncate(cut);
            if let Some(question) = Question::over_tcp(&bytes) {
                prop_assert!(question.name.unwrap_or_default().len() <= MOST_TEXT);
            }
        }
    }
}
