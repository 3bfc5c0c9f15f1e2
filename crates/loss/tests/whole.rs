//! A connection whose content only its ends can read: all of it is one transfer, up to its FIN.

mod common;

use common::{packet, Watched, ACK, FIN_ACK, SYN_ACK};
use rexmit_loss::{Drops, Mode, Note, Settings, Stretches, Transfer, Whole};
use rexmit_time::Duration;

/// Lengths of its packets, of which some are short: no length of the tail tells how many they are.
const SENT: [usize; 6] = [1000, 300, 1000, 1000, 20, 450];
const ALL: u64 = SENT.len() as u64;

fn rule(drops: Drops, lossless: Option<u64>) -> Watched {
    Watched::new(Settings {
        drops,
        stretches: Stretches::Whole(Whole { lossless }),
        linger: Duration::MAX,
        ..Settings::default()
    })
}

fn tail(segments: u32) -> Drops {
    Drops::Tail {
        segments,
        mode: Mode::Sequence,
        hold_limit: Duration::ZERO,
    }
}

/// Sends all of it, the FIN with the last of it, then again what was dropped; with the ids of what was dropped.
fn send(watched: &mut Watched) -> Vec<usize> {
    let mut seq = 100;
    watched.send(&packet(4000, seq, SYN_ACK, &[], &[]));
    seq += 1;
    let mut packets = Vec::new();
    for (number, len) in SENT.into_iter().enumerate() {
        let flags = if number + 1 == SENT.len() {
            FIN_ACK
        } else {
            ACK
        };
        // Nothing in it is a head.
        packets.push(packet(4000, seq, flags, &[], &vec![0x17; len]));
        seq += len as u32;
    }
    let ids: Vec<u64> = packets.iter().map(|bytes| watched.send(bytes)).collect();
    let lost: Vec<usize> = (0..SENT.len())
        .filter(|number| !watched.left.contains(&ids[*number]))
        .collect();
    for number in &lost {
        let again = watched.send(&packets[*number]);
        assert!(watched.left.contains(&again), "once each");
    }
    lost
}

fn row(watched: &mut Watched) -> Transfer {
    watched.rule.finish(watched.now);
    let mut found = Vec::new();
    while let Some(event) = watched.rule.poll_event() {
        if let rexmit_loss::Event::Finished(row) = event {
            found.push(*row);
        }
    }
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn a_rehearsal_counts_what_was_written() {
    let mut watched = rule(tail(3), None);
    assert_eq!(send(&mut watched), [] as [usize; 0]);
    let row = row(&mut watched);
    let bytes: usize = SENT.iter().sum();
    assert_eq!((row.size_bytes(), row.segments), (bytes as u64, ALL));
    assert_eq!((row.complete, row.fin_on_data), (true, Some(true)));
}

#[test]
fn the_tail_is_the_last_packets_however_long_they_are() {
    for lost in 0..=ALL as u32 {
        let mut watched = rule(tail(lost), Some(ALL));
        let last: Vec<usize> = (SENT.len() - lost as usize..SENT.len()).collect();
        assert_eq!(send(&mut watched), last);
        let row = row(&mut watched);
        assert_eq!(row.dropped_segments, u64::from(lost));
        assert!(row.exact && row.complete && row.notes.is_empty(), "{row:?}");
    }
}

#[test]
fn a_connection_of_another_number_of_packets_is_not_exact() {
    let mut watched = rule(tail(2), Some(ALL + 1));
    assert_eq!(send(&mut watched), [5]);
    let row = row(&mut watched);
    assert!(!row.exact);
    let short = Note::NotExact {
        asked: 2,
        dropped: 1,
        in_tail: 1,
    };
    assert_eq!(row.notes, [short]);
}

#[test]
fn a_pattern_counts_packets_from_either_end() {
    let drops = Drops::Pattern("data 2 -2".parse().unwrap());
    let mut watched = rule(drops, Some(ALL));
    assert_eq!(send(&mut watched), [1, 4]);
    assert!(row(&mut watched).exact);
}
