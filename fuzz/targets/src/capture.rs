//! Any bytes are read as a capture to its end.

use rexmit_wire::capture::{Batch, End, Reader, Rotation};

/// Bytes that are read at most: a few packed ones can unpack to very many.
const MOST_BYTES: usize = 64 << 20;

/// Reads the bytes as a capture, and as a rotation of two files.
pub fn capture(bytes: &[u8]) {
    let Ok(mut reader) = Reader::new(bytes) else {
        return;
    };
    let (mut packets, mut seen) = (0_usize, 0_usize);
    let failed = loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break false,
            Err(_) => break true,
        }
        let frame = reader.frame().expect("there is a packet");
        assert!(frame.data.len() <= 1 << 18);
        let _ = reader.comment();
        packets += 1;
        seen += frame.data.len() + 16;
        if seen > MOST_BYTES {
            return;
        }
    };
    assert_eq!(failed, reader.end() == Some(End::Failed));
    assert!(!reader.advance().expect("the end stays the end"));
    assert!(reader.frame().is_none() && reader.comment().is_none());

    // As a rotation with itself every packet comes twice.
    let Ok(mut rotation) = Rotation::new(2, |_| Ok(bytes)) else {
        return;
    };
    let mut batch = Batch::default();
    let mut errors = 0;
    loop {
        match rotation.fill(&mut batch, usize::MAX, 64) {
            Ok(more) => {
                assert!(!more);
                break;
            }
            Err(_) => errors += 1,
        }
    }
    assert_eq!(
        (batch.len(), errors),
        (2 * packets, 2 * usize::from(failed))
    );
}
