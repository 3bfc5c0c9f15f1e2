//! Several captures come as one stream in the order of time.

mod common;

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use common::files::{self, Packet};
use proptest::prelude::*;
use rexmit_wire::capture::{Batch, End, Error, Rotation};

/// A capture whose packets have these times and each the file's number.
fn file(number: u8, times: &[u64]) -> Vec<u8> {
    let data = [number];
    let packets: Vec<Packet<'_>> = times.iter().map(|&time| (time, &data[..])).collect();
    files::plain(&packets)
}

/// Time and file of each packet.
fn merged(files: &[Vec<u8>]) -> Vec<(u64, u8)> {
    let mut rotation = Rotation::new(files.len(), |at| Ok(&files[at][..])).unwrap();
    let mut told = Vec::new();
    while let Some(frame) = rotation.next_frame().unwrap() {
        told.push((frame.time.as_nanos(), frame.data[0]));
        let number = rotation.file().unwrap() as u8;
        assert_eq!(told.last().unwrap().1, number);
    }
    assert_eq!(rotation.ends().len(), files.len());
    assert!(rotation.ends().iter().all(|&(_, end)| end == End::Complete));
    assert!(!rotation.advance().unwrap());
    told
}

#[test]
fn files_in_any_order_come_in_that_of_time() {
    let files = [
        file(0, &[30, 31]),
        file(1, &[10, 11]),
        file(2, &[]),
        file(3, &[20]),
    ];
    assert_eq!(
        merged(&files),
        [(10, 1), (11, 1), (20, 3), (30, 0), (31, 0)]
    );
    assert_eq!(merged(&files[..1]), [(30, 0), (31, 0)]);
    assert_eq!(merged(&[]), []);
}

#[test]
fn files_that_overlap_are_merged_packet_by_packet() {
    let files = [
        file(0, &[5, 10, 15, 40]),
        file(1, &[6, 7, 16, 17]),
        file(2, &[7, 10, 50]),
    ];
    let times: Vec<u64> = merged(&files).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [5, 6, 7, 7, 10, 10, 15, 16, 17, 40, 50]);
    // At the same time the file given first comes first.
    assert_eq!(merged(&files)[2..6], [(7, 1), (7, 2), (10, 0), (10, 2)]);
}

#[test]
fn a_clock_that_steps_back_keeps_its_files_order() {
    let files = [file(0, &[10, 3, 12]), file(1, &[11, 13])];
    assert_eq!(merged(&files), [(10, 0), (3, 0), (11, 1), (12, 0), (13, 1)]);
}

#[test]
fn one_wrong_time_holds_no_file_back() {
    const S: u64 = 1_000_000_000;
    let hours = 5 * 3_600 * S;
    let files = [file(0, &[S, hours, 3 * S]), file(1, &[2 * S, 4 * S])];
    let expected = [(S, 0), (S, 0), (2 * S, 1), (3 * S, 0), (4 * S, 1)];
    assert_eq!(merged(&files), expected);
    let mut rotation = Rotation::new(2, |at| Ok(&files[at][..])).unwrap();
    while rotation.advance().unwrap() {}
    let [(0, found)] = rotation.misdated() else {
        panic!("{:?}", rotation.misdated())
    };
    assert_eq!((found.packets, found.farthest.as_secs_f64()), (1, 17_999.0));
}

/// Counts how many are open, now and at most.
struct Counted<'a>(&'a [u8], Arc<Mutex<(usize, usize)>>);

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.lock().unwrap().0 -= 1;
    }
}

#[test]
fn of_a_long_rotation_few_files_are_open() {
    let files: Vec<_> = (0..100)
        .map(|n| file(n, &[u64::from(n) * 10, u64::from(n) * 10 + 12]))
        .collect();
    let open = Arc::new(Mutex::new((0, 0)));
    let mut rotation = Rotation::new(files.len(), |at| {
        let mut count = open.lock().unwrap();
        count.0 += 1;
        count.1 = count.1.max(count.0);
        Ok(Counted(&files[at], open.clone()))
    })
    .unwrap();
    let mut batch = Batch::default();
    assert!(!rotation.fill(&mut batch, usize::MAX, 10).unwrap());
    assert_eq!(batch.len(), 200);
    assert!(batch.records.is_sorted_by_key(|record| record.time));
    drop(rotation);
    let (now, most) = *open.lock().unwrap();
    assert_eq!(now, 0);
    assert!(most <= 3, "{most} files were open");
}

#[test]
fn a_single_file_is_opened_once() {
    let bytes = file(0, &[1, 2]);
    let mut opened = 0;
    let mut rotation = Rotation::new(1, |_| {
        opened += 1;
        Ok(&bytes[..])
    })
    .unwrap();
    while rotation.advance().unwrap() {}
    drop(rotation);
    assert_eq!(opened, 1);
}

#[test]
fn a_pipe_among_files_is_opened_once() {
    let files = [file(0, &[20, 21]), file(1, &[10, 22]), file(2, &[11])];
    let mut opened = [0; 3];
    let open = |at: usize| {
        opened[at] += 1;
        Ok(&files[at][..])
    };
    let mut rotation = Rotation::with_pipes(3, open, |at| at == 0).unwrap();
    let mut batch = Batch::default();
    assert!(!rotation.fill(&mut batch, 100, 10).unwrap());
    drop(rotation);
    let times: Vec<_> = batch.records.iter().map(|r| r.time.as_nanos()).collect();
    assert_eq!(times, [10, 11, 20, 21, 22]);
    assert_eq!(opened, [1, 2, 2]);
}

#[test]
fn errors_name_the_file_and_the_others_go_on() {
    let mut broken = file(1, &[2]);
    broken.extend([0xde; 30]);
    let mut cut = file(2, &[3, 30]);
    cut.pop();
    let files = [file(0, &[1, 10]), broken, cut];
    let mut rotation = Rotation::new(3, |at| Ok(&files[at][..])).unwrap();
    let mut batch = Batch::default();
    let failed = rotation.fill(&mut batch, 100, 10).unwrap_err();
    assert_eq!(failed.file, 1);
    assert_eq!(
        failed.to_string(),
        "file 2: the capture is broken at byte 41: a packet of 3739147998 bytes"
    );
    assert!(!rotation.fill(&mut batch, 100, 10).unwrap());
    let times: Vec<_> = batch.records.iter().map(|r| r.time.as_nanos()).collect();
    assert_eq!(times, [1, 2, 3, 10]);
    let mut ends = rotation.ends().to_vec();
    ends.sort_by_key(|&(file, _)| file);
    assert_eq!(
        ends,
        [
            (0, End::Complete),
            (1, End::Failed),
            (2, End::Truncated { offset: 41 })
        ]
    );

    let open = |at| match at {
        0 => Ok(&files[0][..]),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let mut one = Rotation::new(2, open).unwrap();
    let mut batch = Batch::default();
    let failed = one.fill(&mut batch, 100, 10).unwrap_err();
    assert!(matches!(failed.error, Error::Input(_)) && failed.file == 1);
    assert!(!one.fill(&mut batch, 100, 10).unwrap());
    assert_eq!(batch.records.len(), 2);

    let none = Rotation::new(1, |_| {
        io::Result::<&[u8]>::Err(io::ErrorKind::NotFound.into())
    });
    let failed = none.err().unwrap();
    assert!(matches!(failed.error, Error::Input(_)) && failed.file == 0);
}

proptest! {
    #[test]
    fn every_packet_comes_once_and_in_order(
        times in prop::collection::vec(prop::collection::vec(0_u64..100, 0..20), 0..6),
    ) {
        let sorted = |mut times: Vec<u64>| {
            times.sort_unstable();
            times
        };
        let times: Vec<Vec<u64>> = times.into_iter().map(sorted).collect();
        let files: Vec<_> = times.iter().enumerate().map(|(n, t)| file(n as u8, t)).collect();
        let got = merged(&files);
        let mut all: Vec<_> = times
            .iter()
            .enumerate()
            .flat_map(|(n, t)| t.iter().map(move |&t| (t, n as u8)))
            .collect();
        all.sort_unstable();
        prop_assert_eq!(got, all);
    }
}
