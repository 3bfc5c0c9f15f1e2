//! Which frames rows are about.

use rexmit_testing::bare;
use rexmit_time::Time;
use rexmit_trace::frames::{Frames, RowFrames, RowKey};
use rexmit_wire::headers::{Headers, Timestamps};
use rexmit_wire::{FlowKey, SeqNum};

fn flow() -> FlowKey {
    rexmit_testing::flow(40_000).reversed()
}

fn packet(flow: FlowKey, seq: u32, payload_len: u32, ack: u32) -> Headers {
    Headers {
        seq: SeqNum::new(seq),
        ack: SeqNum::new(ack),
        payload_len,
        window: 100,
        ..bare(flow)
    }
}

fn data(seq: u32, len: u32) -> Headers {
    packet(flow(), seq, len, 1)
}

fn ack(ack: u32) -> Headers {
    packet(flow().reversed(), 1, 0, ack)
}

fn row(time: u64, start: u32, heard_by: Option<u64>) -> RowKey {
    RowKey {
        flow: flow(),
        time: Time::from_nanos(time),
        start: SeqNum::new(start),
        since: Time::from_nanos(5),
        heard_by: heard_by.map(Time::from_nanos),
    }
}

/// Frames are the packets' places, from 1.
fn found(rows: Vec<RowKey>, packets: &[(u64, Headers)]) -> Vec<RowFrames> {
    let mut frames = Frames::new(rows);
    for (place, (at, headers)) in packets.iter().enumerate() {
        frames.packet(place as u64 + 1, Time::from_nanos(*at), headers);
    }
    frames.finish()
}

fn places(itself: u64, before: Option<u64>, trigger: Option<u64>) -> RowFrames {
    RowFrames {
        itself: Some(itself),
        before,
        trigger,
    }
}

#[test]
fn a_retransmission_its_original_and_its_trigger() {
    let packets = [
        (10, data(100, 50)),
        (11, data(150, 50)),
        (20, ack(100)),
        (30, ack(100)),
        (31, data(100, 50)),
        (40, ack(200)),
    ];
    let rows = vec![row(31, 100, Some(31))];
    assert_eq!(found(rows, &packets), [places(5, Some(1), Some(4))]);
}

#[test]
fn an_acknowledgement_on_its_way_to_the_sender_is_no_trigger() {
    let packets = [
        (10, data(100, 50)),
        (20, ack(100)),
        (29, ack(100)),
        (30, data(100, 50)),
    ];
    let rows = vec![row(30, 100, Some(25))];
    assert_eq!(found(rows, &packets), [places(4, Some(1), Some(2))]);
    assert_eq!(
        found(vec![row(30, 100, None)], &packets),
        [places(4, Some(1), None)]
    );
    // One that came by behind the retransmission in the capture is none, whatever its time stamp.
    let packets = [(10, data(100, 50)), (30, data(100, 50)), (30, ack(100))];
    assert_eq!(
        found(vec![row(30, 100, Some(30))], &packets),
        [places(2, Some(1), None)]
    );
}

#[test]
fn data_that_acknowledge_nothing_new_are_no_trigger() {
    let reply = packet(flow().reversed(), 1, 30, 100);
    let packets = [
        (10, data(100, 50)),
        (20, ack(100)),
        (25, reply),
        (30, data(100, 50)),
    ];
    assert_eq!(
        found(vec![row(30, 100, Some(30))], &packets),
        [places(4, Some(1), Some(2))]
    );
}

#[test]
fn time_stamps_tell_what_the_sender_had_heard() {
    let stamped = |mut headers: Headers, value, echo| {
        headers.timestamps = Some(Timestamps { value, echo });
        headers
    };
    let packets = [
        (10, stamped(data(100, 50), 1, 7)),
        (20, stamped(ack(100), u32::MAX, 1)),
        (21, stamped(ack(100), 4, 1)),
        (30, stamped(data(100, 50), 9, u32::MAX)),
    ];
    assert_eq!(
        found(vec![row(30, 100, Some(25))], &packets),
        [places(4, Some(1), Some(2))]
    );
}

#[test]
fn each_copy_has_the_one_before_it() {
    let packets = [
        (10, data(100, 50)),
        (20, data(100, 50)),
        (30, data(100, 50)),
    ];
    let rows = vec![row(30, 100, None), row(20, 100, None)];
    let expected = [places(3, Some(2), None), places(2, Some(1), None)];
    assert_eq!(found(rows, &packets), expected);
}

#[test]
fn of_copies_with_one_time_stamp_the_later_one_is_meant() {
    let packets = [(10, data(100, 50)), (10, data(100, 50))];
    assert_eq!(
        found(vec![row(10, 100, None)], &packets),
        [places(2, Some(1), None)]
    );
    // Unless each has a row of its own.
    let rows = vec![row(10, 100, None), row(10, 100, None)];
    let packets = [(8, data(100, 50)), (10, data(100, 50)), (10, data(100, 50))];
    let both = found(rows, &packets);
    assert_eq!(both.iter().filter_map(|one| one.itself).sum::<u64>(), 5);
}

#[test]
fn a_packet_may_hold_what_several_rows_repeat_and_may_wrap() {
    let start = u32::MAX - 49;
    let packets = [
        (10, data(start, 100)),
        (20, data(start, 50)),
        (21, data(0, 50)),
    ];
    let rows = vec![row(20, start, None), row(21, 0, None)];
    let expected = [places(2, Some(1), None), places(3, Some(1), None)];
    assert_eq!(found(rows, &packets), expected);
}

#[test]
fn what_was_before_the_connection_is_of_another() {
    let packets = [(3, data(100, 50)), (4, ack(100)), (30, data(100, 50))];
    assert_eq!(
        found(vec![row(30, 100, Some(30))], &packets),
        [places(3, None, None)]
    );
}

#[test]
fn rows_without_a_packet_stay_without() {
    let packets = [(10, data(100, 50)), (20, data(100, 50))];
    let rows = vec![row(21, 100, None), row(20, 400, None)];
    assert_eq!(
        found(rows, &packets),
        [
            RowFrames {
                before: Some(2),
                ..RowFrames::default()
            },
            RowFrames::default()
        ]
    );
}

#[test]
fn rows_are_found_behind_a_clock_that_was_set_back() {
    let packets = [
        (90, data(100, 50)),
        (95, data(100, 50)),
        (40, data(100, 50)),
    ];
    let rows = vec![row(40, 100, None), row(95, 100, None)];
    let expected = [places(3, Some(2), None), places(2, Some(1), None)];
    assert_eq!(found(rows, &packets), expected);
}
