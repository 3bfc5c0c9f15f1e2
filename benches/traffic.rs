//! Packets as a web server sends them.

use rexmit_time::Streams;

/// Data bytes of a full segment: 1,500 bytes less the headers of IPv4 and TCP with timestamps.
const SEGMENT: usize = 1_448;

/// Whole packets back to back, IPv4 on.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    bytes: Vec<u8>,
    /// Where each packet begins and ends.
    bounds: Vec<(usize, usize)>,
}

impl Traffic {
    /// `connections` transfers of `segments` full segments each, from handshake to FIN, at most
    /// `at_once` of them under way and then interleaved at random.
    ///
    /// With `lost` above 0 the last segments and the FIN are sent once more, as after their loss.
    #[must_use]
    pub fn responses(connections: u32, segments: u32, at_once: usize, lost: u32) -> Self {
        let mut traffic = Traffic::default();
        let mut dice = Streams::new(1).stream("traffic", 0);
        let mut waiting = 0..connections;
        let mut running: Vec<(u32, u32)> = Vec::new();
        loop {
            while running.len() < at_once {
                let Some(next) = waiting.next() else { break };
                running.push((next, 0));
            }
            if running.is_empty() {
                return traffic;
            }
            let at = dice.below(running.len() as u64) as usize;
            let (connection, step) = running[at];
            running[at].1 += 1;
            let again = if lost == 0 { 0 } else { lost + 1 };
            if step == segments + 1 + again {
                running.swap_remove(at);
            }
            // 0: SYN-ACK; then the segments, the FIN, and the last ones with the FIN again.
            let step = if step > segments + 1 {
                step - again
            } else {
                step
            };
            traffic.push(connection, step, segments);
        }
    }

    fn push(&mut self, connection: u32, step: u32, segments: u32) {
        let isn = connection.wrapping_mul(0x9e37_79b9);
        let (flags, seq) = match step {
            0 => (0x12, isn),
            n if n <= segments => (0x10, isn.wrapping_add(1 + (n - 1) * SEGMENT as u32)),
            _ => (0x11, isn.wrapping_add(1 + segments * SEGMENT as u32)),
        };
        let payload = if step == 0 || step > segments {
            0
        } else {
            SEGMENT
        };
        let start = self.bytes.len();
        let total = (20 + 32 + payload) as u16;
        let client = 0x0a00_0000 | (connection >> 14);
        let port = 1_024 + (connection & 0x3fff) as u16;
        self.bytes.extend([0x45, 0]);
        self.bytes.extend(total.to_be_bytes());
        self.bytes
            .extend([0, 0, 0x40, 0, 64, 6, 0, 0, 192, 168, 0, 1]);
        self.bytes.extend(client.to_be_bytes());
        self.bytes.extend(80u16.to_be_bytes());
        self.bytes.extend(port.to_be_bytes());
        self.bytes.extend(seq.to_be_bytes());
        self.bytes
            .extend([0, 0, 0, 1, 8 << 4, flags, 2, 0, 0, 0, 0, 0]);
        self.bytes.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        if payload > 0 {
            let head = format!(
                "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
                 Content-Type: text/html\r\nContent-Length: {:07}\r\nLast-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
                 Connection: close\r\nETag: \"0-0\"\r\nAccept-Ranges: bytes\r\n\r\n",
                0
            );
            let body = segments as usize * SEGMENT - head.len();
            let head = head.replace("0000000", &format!("{body:07}"));
            let before = self.bytes.len();
            if step == 1 {
                self.bytes.extend(head.as_bytes());
            }
            self.bytes.resize(before + payload, b'x');
        }
        self.bounds.push((start, self.bytes.len()));
    }

    /// The packets in the order in which they are sent.
    pub fn packets(&self) -> impl Iterator<Item = &[u8]> {
        self.bounds.iter().map(|&(from, to)| &self.bytes[from..to])
    }

    /// How many packets there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.bounds.len() as u64
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }
}
