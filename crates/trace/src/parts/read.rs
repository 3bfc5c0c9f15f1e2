//! Step 1: one file of a capture to the packets of each group of connections.

use std::io::Write;

use rexmit_time::Time;
use rexmit_wire::capture::{Drops, End, Misdated, Reader};

use super::blocks::Packer;
use super::packets::{Flows, PacketWriter};
use super::part::{Detail, Part, Stretch, Taught};
use super::{group_of, most_groups, spread, Error};
use crate::multipath::Lesson;
use crate::run::decode::{Counted, Decoder};
use crate::run::{Progress, STRETCH};
use crate::settings::Settings;

/// Frames between two calls that tell how far it is.
const TOLD: u64 = 1 << 16;

/// Reads a file of a capture and writes its packets to `writers`, one for each group. `report` hears now and then
/// how far it is; when it says false, reading stops as if the file ended there.
///
/// A file that breaks in the middle is read up to there, and the part says why.
///
/// # Errors
/// Those of the writers.
pub fn read<W: Write>(
    mut capture: Reader<'_>,
    name: &str,
    settings: &Settings,
    writers: Vec<W>,
    mut report: impl FnMut(Progress) -> bool,
) -> Result<(Part, Detail), Error> {
    let most = most_groups(settings);
    let groups = writers.len() as u16;
    if groups == 0 || groups > most {
        return Err(Error::format(format!(
            "there can be 1 to {most} groups, not {}",
            writers.len()
        )));
    }
    let mut packer = Packer::new()?;
    let mut writers: Vec<_> = writers
        .into_iter()
        .map(PacketWriter::new)
        .collect::<Result<_, _>>()?;
    let mut part = Part::new(name, settings, groups);
    let mut detail = Detail {
        stretches: Vec::new(),
        verdicts: Vec::new(),
        flows: Flows::new(),
    };
    let spread = spread(settings, groups);
    // Which of the files it is, is known when all are there.
    let mut decoder = Decoder::new(0, spread);
    let (mut decoded, mut besides) = (Vec::with_capacity(1), Vec::new());
    loop {
        match capture.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                part.error = Some(error.to_string());
                break;
            }
        }
        let Some(frame) = capture.frame() else { break };
        let so_far = decoder.progress();
        let number = so_far.frames;
        let latest = so_far.clock.max(frame.time);
        if number % STRETCH == 0 {
            detail.stretches.push(Stretch {
                frame: number,
                latest,
                now: if number > 0 { decoder.now } else { frame.time },
            });
        }
        let earliest = part.earliest.unwrap_or(frame.time);
        part.earliest = Some(earliest.min(frame.time));
        decoded.clear();
        if let Some(packet) = decoder.decode(&frame, &mut decoded, &mut besides) {
            part.packets += 1;
            detail.flows.add(spread.hash(&packet.headers.flow));
            let beside = besides.pop();
            let signal = beside.as_ref().and_then(|beside| beside.signal.as_ref());
            if let Some(lesson) = signal.and_then(Lesson::of) {
                part.lessons.push(Taught {
                    frame: number,
                    latest,
                    flow: packet.headers.flow,
                    lesson,
                });
            }
            let group = group_of(packet.shard() as u16, groups);
            writers[usize::from(group)].add(
                number,
                latest,
                packet,
                beside.as_ref(),
                &mut packer,
            )?;
        }
        if number % TOLD == TOLD - 1 {
            let progress = Progress {
                frames: number + 1,
                clock: latest,
            };
            if !report(progress) {
                break;
            }
        }
    }
    for writer in writers {
        writer.finish(&mut packer)?;
    }
    part.now = decoder.now;
    detail.verdicts = decoder.numbering.verdicts().collect();
    part.counted = decoder.counted();
    if let Some(End::Truncated { offset }) = capture.end() {
        part.cut = Some(offset);
    }
    part.undated = capture.undated();
    part.misdated = capture.misdated();
    part.missing = capture.missing();
    part.drops = capture.drops();
    Ok((part, detail))
}

impl Part {
    /// Nothing is read.
    fn new(name: &str, settings: &Settings, groups: u16) -> Self {
        Part {
            name: name.to_owned(),
            key: settings.key.mark(),
            groups,
            counted: Counted::default(),
            earliest: None,
            packets: 0,
            lessons: Vec::new(),
            now: Time::ZERO,
            error: None,
            cut: None,
            undated: 0,
            misdated: Misdated::default(),
            missing: None,
            drops: Drops::default(),
        }
    }
}
