//! Writing pcap (draft-ietf-opsawg-pcap).

use std::io::{self, Write};

use rexmit_time::Time;

/// The magic number of captures whose times are in nanoseconds.
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Writes a pcap file with time stamps in nanoseconds.
///
/// Every packet is handed to the writer in two calls; give it a `BufWriter`, and call [`Writer::flush`] at the end.
#[derive(Debug)]
pub struct Writer<W: Write> {
    pub(crate) out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a file whose packets begin with the header of `linktype` and are cut to `snaplen` bytes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W, linktype: u16, snaplen: u32) -> io::Result<Self> {
        let mut head = Vec::with_capacity(24);
        head.extend(NANOSECONDS.to_le_bytes());
        // Version 2.4; two reserved words.
        head.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        head.extend(snaplen.to_le_bytes());
        head.extend(u32::from(linktype).to_le_bytes());
        out.write_all(&head)?;
        Ok(Writer { out })
    }

    /// Writes one packet, `data` being what was captured of its `original_len` bytes.
    ///
    /// # Errors
    /// Those of `out`; `InvalidInput` for times after 2106 and data over 4 GiB, which the format cannot hold.
    pub fn packet(&mut self, time: Time, data: &[u8], original_len: u32) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let nanos = time.as_nanos();
        let seconds = u32::try_from(nanos / 1_000_000_000).map_err(invalid)?;
        let captured = u32::try_from(data.len()).map_err(invalid)?;
        let mut head = [0; 16];
        let words = [
            seconds,
            (nanos % 1_000_000_000) as u32,
            captured,
            original_len,
        ];
        for (bytes, word) in head.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&head)?;
        self.out.write_all(data)
    }

    /// Flushes what lies below.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_reads_what_was_written() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, 1, 96).unwrap();
        let time = Time::from_nanos(1_700_000_000_123_456_789);
        writer.packet(time, &[7; 60], 1514).unwrap();
        writer.packet(time, &[8; 3], 3).unwrap();
        writer.flush().unwrap();
        let file = pcap_parser::parse_pcap(&out).unwrap().1;
        assert_eq!(file.header.network, pcap_parser::Linktype::ETHERNET);
        assert!(file.header.is_nanosecond_precision());
        assert_eq!(file.header.snaplen, 96);
        let packets: Vec<_> = file
            .blocks
            .iter()
            .map(|block| (block.ts_sec, block.ts_usec, block.caplen, block.origlen))
            .collect();
        let (seconds, nanos) = (1_700_000_000, 123_456_789);
        assert_eq!(
            packets,
            [(seconds, nanos, 60, 1514), (seconds, nanos, 3, 3)]
        );
        assert_eq!(file.blocks[1].data, [8; 3]);
    }

    #[test]
    fn a_time_that_does_not_fit_is_refused() {
        let mut writer = Writer::new(Vec::new(), 1, 96).unwrap();
        let error = writer.packet(Time::MAX, &[], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
