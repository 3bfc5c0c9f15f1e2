//! The "time sequenced headers" of NLANR: 44 bytes a packet, the headers of IPv4 and most of that of TCP.
//! Files have no header: the records tell.

use rexmit_time::Time;

use super::record::{NextRecord, RecordAt};
use super::window::ByteWindow;
use super::Error;
use crate::link::LinkType;

/// A TSH file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tsh;

/// Seconds, interface and microseconds.
const HEADER: usize = 8;
const RECORD: usize = HEADER + 36;

impl Tsh {
    /// Whether the file begins with plausible records.
    pub fn recognise(window: &mut ByteWindow<'_>) -> Result<Option<Self>, Error> {
        const JUDGED: usize = 4;
        window.need(JUDGED * RECORD)?;
        let mut records = window.ahead().chunks_exact(RECORD).take(JUDGED).peekable();
        let plausible = |record: &[u8]| micros(record) < 1_000_000 && record[HEADER] >> 4 == 4;
        Ok((records.peek().is_some() && records.all(plausible)).then_some(Tsh))
    }

    pub fn next(self, window: &mut ByteWindow<'_>) -> Result<NextRecord, Error> {
        if !window.need(RECORD)? {
            return Ok(NextRecord::End);
        }
        let record = window.at(window.position(), RECORD);
        let micros = micros(record);
        if micros >= 1_000_000 {
            let what = format!("a time stamp with {micros} µs");
            return Err(Error::broken(window.offset(), what));
        }
        let seconds = u32::from_be_bytes([record[0], record[1], record[2], record[3]]);
        let interface = u16::from(record[4]);
        let original_len = u32::from(u16::from_be_bytes([record[HEADER + 2], record[HEADER + 3]]));
        let from = window.position() + HEADER;
        window.consume(RECORD);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(micros) * 1_000;
        Ok(NextRecord::Packet(RecordAt {
            time: Time::from_nanos(nanos),
            link: LinkType::RAW,
            interface,
            original_len,
            from,
            len: RECORD - HEADER,
            options: 0,
        }))
    }
}

fn micros(record: &[u8]) -> u32 {
    u32::from_be_bytes([0, record[5], record[6], record[7]])
}
