//! Compressed streams, known by their first bytes.

#[cfg(feature = "packed")]
use std::io;
use std::io::Read;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use super::unpacked;
#[cfg(feature = "packed")]
use super::unpacked::Unpacked;
use super::window::ByteWindow;
#[cfg(feature = "packed")]
use super::window::Input;
use super::Error;

/// A form of compression.
#[derive(Clone, Copy)]
enum Packed {
    Gzip,
    Zstd,
    Lz4,
    Xz,
}

impl Packed {
    fn recognise(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Packed::Gzip),
            // The second is a frame to be passed over (RFC 8878 §3.1.2), which lz4 has as well.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Packed::Zstd)
            }
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Packed::Lz4),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packed::Xz),
            _ => None,
        }
    }
}

/// Takes off all layers of compression.
pub(super) fn unpack<'r>(input: impl Read + Send + 'r) -> Result<ByteWindow<'r>, Error> {
    /// Layers that are taken off.
    const MOST_LAYERS: usize = 4;
    let (input, bytes) = unpacked::Packed::new(input);
    let mut window = ByteWindow::new(Box::new(input));
    for _ in 0..=MOST_LAYERS {
        window.need(6)?;
        window = match Packed::recognise(window.ahead()) {
            Some(packed) => layer(packed, window, &bytes)?,
            None => return Ok(window),
        };
    }
    Err(Error::Unknown {
        what: "more than four layers of compression",
    })
}

#[cfg(not(feature = "packed"))]
fn layer<'r>(_: Packed, _: ByteWindow<'r>, _: &Arc<AtomicU64>) -> Result<ByteWindow<'r>, Error> {
    Err(Error::Unknown {
        what: "compressed, which this program is built not to read",
    })
}

#[cfg(feature = "packed")]
fn layer<'r>(
    packed: Packed,
    window: ByteWindow<'r>,
    bytes: &Arc<AtomicU64>,
) -> Result<ByteWindow<'r>, Error> {
    /// Largest window that a zstd frame may ask for, as the power of two that `zstd --long` takes.
    const ZSTD_WINDOW: u32 = 27;
    /// Largest dictionary that an xz stream may ask for, KiB, with what else the decoder takes; `xz -9` has
    /// 64 MiB.
    const XZ_MEMORY_KIB: u32 = 130 << 10;
    let input: Input<'r> = match packed {
        Packed::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(window)),
        Packed::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(window)?;
            decoder.window_log_max(ZSTD_WINDOW)?;
            Box::new(decoder)
        }
        Packed::Lz4 => Box::new(Lz4(lz4_flex::frame::FrameDecoder::new(window))),
        Packed::Xz => {
            let decoder = lzma_rust2::XzReader::new_mem_limit(window, true, XZ_MEMORY_KIB);
            Box::new(Bites(decoder))
        }
    };
    Ok(ByteWindow::new(Box::new(Unpacked {
        input,
        packed: Arc::clone(bytes),
        bytes: 0,
    })))
}

/// Asks for little at a time: what a decoder fills a buffer with before it fails is lost.
#[cfg(feature = "packed")]
struct Bites<R>(R);

#[cfg(feature = "packed")]
impl<R: Read> Read for Bites<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bite = buffer.len().min(1024);
        self.0.read(&mut buffer[..bite])
    }
}

/// LZ4 frames one after the other.
#[cfg(feature = "packed")]
struct Lz4<'r>(lz4_flex::frame::FrameDecoder<ByteWindow<'r>>);

#[cfg(feature = "packed")]
impl Read for Lz4<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(buffer)?;
            // The decoder tells the end of a frame as that of the stream.
            if read > 0 || buffer.is_empty() || !self.0.get_mut().need(1)? {
                return Ok(read);
            }
        }
    }
}
