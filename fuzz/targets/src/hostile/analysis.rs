//! All that reads captures, on a case.

use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::Failures;
use rexmit_trace::columns;
use rexmit_trace::points::{self, Clocks, Merged, Sample};
use rexmit_trace::requests::Request;
use rexmit_trace::run::Inline;
use rexmit_wire::capture::Reader;
use rexmit_wire::{pcap, Headers};

use super::grammar::Case;

/// LINKTYPE_RAW: packets begin with their IP header.
const RAW: u16 = 101;

impl Case {
    /// What each point's capture holds, as files.
    #[must_use]
    pub fn captures(&self) -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        for point in 0..self.points {
            let mut file = Vec::new();
            let mut writer = pcap::Writer::new(&mut file, RAW, 65_535).expect("into memory");
            for (at, packet) in self.sent.iter().flat_map(|sent| &sent.passes[point]) {
                writer
                    .packet(*at, &packet.bytes, packet.original_len)
                    .expect("times before 2106");
            }
            files.push(file);
        }
        files
    }

    /// Analyses the captures, alone and side by side.
    ///
    /// # Panics
    /// Where the analysis does, or where its rows and counts contradict each other.
    pub fn analyse(&self) {
        let captures = self.captures();
        for capture in &captures {
            self.trace(capture);
        }
        if captures.len() > 1 {
            follow(&captures);
        }
    }

    fn trace(&self, capture: &[u8]) {
        let mut run = Inline::new(reader(capture), &self.settings);
        let (mut connections, mut packets, mut copies) = (0, 0, 0);
        let settings = self.settings.whatif.as_ref();
        let settings = settings.map_or_else(Vec::new, |plan| plan.names().to_vec());
        while let Some(rows) = run.next_rows() {
            connections += rows.connections.len() as u64;
            let rows_of = rows.connections.iter();
            let sides = rows_of.flat_map(|of| [&of.row.forward, &of.row.backward]);
            for side in sides {
                packets += side.packets;
                copies += u64::from(side.capture_duplicates);
            }
            for of in &rows.connections {
                assert!(of.row.start <= of.row.end);
                let duration = of.row.end.since(of.row.start);
                for side in [&of.row.forward, &of.row.backward] {
                    let lengths = side.account.iter().map(|share| share.length);
                    let sum = lengths.fold(Duration::ZERO, |sum, length| sum + length);
                    assert_eq!(sum, duration, "{:?}", side.account);
                }
            }
            for of in &rows.requests {
                let Request {
                    start, last, owned, ..
                } = of.row;
                let took = last.map(|last| last.since(start).max(Duration::ZERO));
                assert!(took.is_none_or(|took| owned <= took), "{:?}", of.row);
            }
            let _ = columns::tables(&rows, "capture", &settings, |_| columns::Purpose::Tables);
        }
        let counters = run.summary().counters;
        none_failed(&counters.failures);
        assert_eq!(counters.connections, connections);
        let left_out = counters.strays + counters.stray_resets;
        // What a capture records more than once counts as one packet.
        let once = packets + left_out;
        assert!((once..=once + copies).contains(&counters.packets));
    }
}

fn reader(capture: &[u8]) -> Reader<'_> {
    Reader::new(capture).expect("what was written is a capture")
}

fn follow(captures: &[Vec<u8>]) {
    let samples: Vec<Sample> = captures.iter().map(|capture| sample(capture)).collect();
    let spans: Vec<Option<(Time, Time)>> = samples.iter().map(Sample::span).collect();
    let clocks = Clocks::of(&samples);
    let sources = captures.iter().map(|capture| reader(capture)).collect();
    let mut merged = Merged::new(sources, clocks, &spans);
    let names: Vec<String> = (0..captures.len()).map(|point| point.to_string()).collect();
    while let Some(rows) = merged.some(64) {
        let _ = points::tables(&rows, &names);
    }
    none_failed(merged.failures());
}

/// A panic in one connection is contained, and costs that one alone: here it counts as any other.
fn none_failed(failures: &Failures) {
    assert!(failures.count == 0, "{failures:#?}");
}

fn sample(capture: &[u8]) -> Sample {
    let mut sample = Sample::default();
    let mut reader = reader(capture);
    while let Ok(Some(frame)) = reader.next_frame() {
        if let Ok(headers) = Headers::decode(frame.link, frame.data, frame.original_len) {
            sample.add(frame.time, &headers);
        }
    }
    sample
}
