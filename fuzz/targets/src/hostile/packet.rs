//! A packet as bytes from its IP header on.

use rexmit_wire::mptcp::MptcpOption;
use rexmit_wire::Flags;

/// Bytes that a TCP header's options may take.
const MOST_OPTIONS: usize = 40;

/// What payloads begin with.
const TEXTS: [&[u8]; 9] = [
    b"GET /a?b HTTP/1.1\r\nHost: x.org\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET /",
    b"POST http://me:a;b@x.org/%3F HTTP/1.1\r\nHost: ",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03",
    b"\x14\x03\x03\x00\x01\x01",
    b"\x17\x03\x03\x00\xff",
    b"\x15\x03\x03\x00\x02\x01\x00",
];

/// What the headers of one packet say.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub from_client: bool,
    pub port: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: Flags,
    pub window: u16,
    pub ip_id: u16,
    pub ttl: u8,
    pub len: u32,
    /// Maximum segment size and window scale, of a SYN.
    pub offer: Option<(u16, u8)>,
    pub stamps: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
    pub mptcp: Vec<u8>,
}

/// A packet as a capture has it: its headers, and how long it was.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub bytes: Vec<u8>,
    pub original_len: u32,
}

impl Fields {
    pub fn signal(&mut self, option: &MptcpOption<'_>) {
        option.write(&mut self.mptcp);
        while self.mptcp.len() % 4 != 0 {
            self.mptcp.push(1);
        }
    }

    /// What of the payload a capture has. Its numbers choose it, so that what was found before stays what it was.
    fn text(&self) -> &'static [u8] {
        let number = (self.seq ^ u32::from(self.ip_id)) as usize % (2 * TEXTS.len());
        let text = TEXTS.get(number).copied().unwrap_or_default();
        &text[..text.len().min(self.len as usize)]
    }

    /// The packet. Options that do not fit are left out.
    pub fn packet(&self) -> Packet {
        let mut options = Vec::new();
        if let Some((mss, scale)) = self.offer {
            options.extend([2, 4]);
            options.extend(mss.to_be_bytes());
            options.extend([1, 3, 3, scale, 1, 1, 4, 2]);
        }
        if let Some((value, echo)) = self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if options.len() + self.mptcp.len() <= MOST_OPTIONS {
            options.extend(&self.mptcp);
        }
        let fit = MOST_OPTIONS.saturating_sub(options.len() + 4) / 8;
        let blocks = &self.sack[..self.sack.len().min(fit)];
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                options.extend(start.to_be_bytes());
                options.extend(end.to_be_bytes());
            }
        }
        let header = 20 + options.len();
        let total = (20 + header) as u32 + self.len;
        // What does not fit into the field left as one of several packets of a network card: it says 0.
        let told = u16::try_from(total).unwrap_or(0);
        let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let (src, dst, ports) = if self.from_client {
            (client, server, [self.port, 80])
        } else {
            (server, client, [80, self.port])
        };
        let mut bytes = vec![0x45, 0];
        bytes.extend(told.to_be_bytes());
        bytes.extend(self.ip_id.to_be_bytes());
        bytes.extend([0x40, 0, self.ttl, 6, 0, 0]);
        bytes.extend(src);
        bytes.extend(dst);
        ports
            .iter()
            .for_each(|port| bytes.extend(port.to_be_bytes()));
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([(header as u8 / 4) << 4, self.flags.0]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.extend(self.text());
        Packet {
            bytes,
            original_len: total,
        }
    }
}
