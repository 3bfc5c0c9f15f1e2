//! What bytes that are no known capture seem to be.

/// What has not even a header.
pub(super) const EMPTY: &str = "no bytes at all";

/// What begins as a known format and is none.
const CUT: &str = "a capture that is cut off in its header";

/// First bytes of formats that are met in the place of captures.
const BEGINNINGS: [(&[u8], &str); 33] = [
    (
        b"\xff\xfe",
        "text in UTF-16 without a line of a TCP packet and its sequence numbers",
    ),
    (b"GMBU", "a capture of Microsoft Network Monitor 2"),
    (b"RTSS", "a capture of Microsoft Network Monitor 1"),
    (b"\x7fver", "a capture of OmniPeek or EtherPeek 9"),
    (b"btsnoop\0", "a Bluetooth capture (btsnoop)"),
    (b"iptrace", "a capture of AIX iptrace"),
    (b"TRSNIFF data", "a capture of the Sniffer"),
    (b"XCP\0", "a capture of NetXRay or Windows Sniffer"),
    (b"\x54\x52\x00\x64", "a capture of nettl"),
    (b"\x00\x00\x64\x76", "a capture of NetMetrix"),
    (b"\xd4\xc3\xb2\xa1", CUT),
    (b"\xa1\xb2\xc3\xd4", CUT),
    (b"\x4d\x3c\xb2\xa1", CUT),
    (b"\xa1\xb2\x3c\x4d", CUT),
    (b"\x34\xcd\xb2\xa1", CUT),
    (b"\xa1\xb2\xcd\x34", CUT),
    (b"\x0a\x0d\x0d\x0a", CUT),
    (b"snoop\0\0\0", CUT),
    (b"BZh", "packed by bzip2, which is not read"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive"),
    (b"Rar!", "a RAR archive"),
    (
        b"\x02\x21\x4c\x18",
        "packed by the legacy form of lz4, which is not read",
    ),
    (b"\x5d\x00\x00", "packed by lzma, which is not read"),
    (b"LZIP", "packed by lzip, which is not read"),
    (b"\x1f\x9d", "packed by compress, which is not read"),
    (b"PAR1", "a parquet file"),
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a picture"),
    (b"GIF8", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// What `bytes`, the beginning of something, seem to be.
pub(super) fn seems(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        return EMPTY;
    }
    for (beginning, what) in BEGINNINGS {
        if bytes.starts_with(beginning) {
            return what;
        }
    }
    // A version, then reserved bytes.
    if let [5..=7, 0, head @ ..] = bytes {
        if head.len() > 60 && head[20..44].iter().all(|&byte| byte == 0) {
            return "a capture of EtherPeek";
        }
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return "a tar archive";
    }
    if is_quiet(bytes) {
        return "a list of tcpdump -q, which leaves sequence numbers out: print it without -q, best by \
                tcpdump -n -vv -tttt -r CAPTURE";
    }
    let head = &bytes[..bytes.len().min(512)];
    let printable = |&byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if head.iter().all(printable) {
        return "text without a line of a TCP packet and its sequence numbers";
    }
    if head.iter().all(|&byte| byte == 0) {
        return "zeros";
    }
    "not recognised"
}

/// Whether a line is one of `tcpdump -q`: `… 10.0.0.1.80 > 10.0.0.2.40000: tcp 1448`.
fn is_quiet(bytes: &[u8]) -> bool {
    let is_one = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let behind = line
            .split_once(" > ")
            .and_then(|(_, rest)| rest.split_once(": tcp "));
        behind.is_some_and(|(_, rest)| rest.trim_end().bytes().all(|byte| byte.is_ascii_digit()))
    };
    bytes.split(|&byte| byte == b'\n').take(100).any(is_one)
}
