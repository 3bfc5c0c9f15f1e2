//! Captures that are compressed.

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new()
        .content_checksum(true)
        .block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Packets, three thousand, that do not compress well.
/// A form of compression.
type Pack = fn(&[u8]) -> Vec<u8>;

const PACKS: [Pack; 4] = [gzip, zstd, lz4, xz];

fn many() -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..3_000)
        .map(|_| (0..200).map(|_| next()).collect())
        .collect()
}

#[test]
fn compression_is_taken_off() {
    let bytes = files::plain(&SAMPLE);
    let (one, two) = bytes.split_at(50);
    for pack in PACKS {
        assert_eq!(read(&pack(&bytes)[..]).unwrap().0, expected(&SAMPLE));
        // Several members, frames or streams are one after the other.
        let several = [pack(one), pack(two)].concat();
        let (packets, end) = read(&several[..]).unwrap();
        assert_eq!((packets, end), (expected(&SAMPLE), End::Complete));
        for outer in PACKS {
            assert_eq!(
                read(&outer(&pack(&bytes))[..]).unwrap().0,
                expected(&SAMPLE)
            );
        }
    }
    let skippable = [
        &[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..],
        &zstd(&bytes),
    ]
    .concat();
    assert_eq!(read(&skippable[..]).unwrap().0, expected(&SAMPLE));
    let four = gzip(&gzip(&gzip(&gzip(&bytes))));
    assert_eq!(read(&four[..]).unwrap().0, expected(&SAMPLE));
    assert!(matches!(read(&gzip(&four)[..]), Err(Error::Unknown { .. })));
}

/// A capture of 24 MiB in packets of 64 KiB, all zeros, packed by `pack` and then by zstd.
fn bomb(pack: Pack) -> Vec<u8> {
    let zeros = vec![0; (1 << 16) - 16];
    let capture = files::plain(&[(5_000, &zeros)]);
    let (head, record) = capture.split_at(24);
    zstd(&[pack(head), pack(record).repeat(24 << 4)].concat())
}

#[test]
fn what_unpacks_to_far_more_is_read_up_to_a_limit() {
    for pack in PACKS {
        let bomb = bomb(pack);
        let mut reader = Reader::new(&bomb[..]).unwrap();
        let mut packets = 0;
        let error = loop {
            match reader.advance() {
                Ok(more) => assert!(more, "24 MiB came out of {} bytes", bomb.len()),
                Err(error) => break error.to_string(),
            }
            packets += 1;
        };
        // 16 MiB of anything are read, but for what the window holds.
        assert!((240..=256).contains(&packets), "{packets}");
        let start = format!(
            "the capture cannot be read: {} bytes have unpacked to ",
            bomb.len()
        );
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains("the limit is 10000 times"), "{error}");
        assert_eq!(reader.end(), Some(End::Failed));
    }
}

#[test]
fn a_packed_capture_that_is_cut_gives_what_is_there() {
    let data = many();
    let packets: Vec<Packet<'_>> = data.iter().map(|d| (5_000, &d[..])).collect();
    let bytes = files::plain(&packets);
    for pack in PACKS {
        let packed = pack(&bytes);
        let (got, end) = read(&packed[..]).unwrap();
        assert_eq!((got.len(), end), (3_000, End::Complete));
        let (got, end) = read(&packed[..packed.len() / 2]).unwrap();
        assert!(matches!(end, End::Truncated { .. }), "{end:?}");
        assert!(got.len() > 200, "{} packets of a half", got.len());
        assert_eq!(got, expected(&packets[..got.len()]));
        assert!(matches!(
            read(&packed[..20]),
            Err(Error::Unknown {
                what: "packed, and cut off before its first packet"
            })
        ));
    }
}

#[test]
fn a_packed_capture_that_is_broken_is_an_error() {
    let data = many();
    let packets: Vec<Packet<'_>> = data.iter().map(|d| (5_000, &d[..])).collect();
    let bytes = files::plain(&packets);
    for pack in PACKS {
        let mut packed = pack(&bytes);
        let middle = packed.len() / 2;
        packed[middle..middle + 40].fill(0x55);
        let got = read(&packed[..]).map(|(packets, end)| (packets.len(), end));
        assert!(
            matches!(got, Err(Error::Input(_) | Error::Broken { .. })),
            "{got:?}"
        );
    }
}
