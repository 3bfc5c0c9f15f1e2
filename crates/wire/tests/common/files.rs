//! Captures built byte by byte.

/// A byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    pub fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    pub fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }
}

/// The time of a packet in nanoseconds and its bytes; its length on the wire is 1,000 more.
pub type Packet<'a> = (u64, &'a [u8]);

/// Three packets whose times are whole microseconds.
pub const SAMPLE: [Packet<'static>; 3] = [
    (1_000_000_001_000, b"first packet"),
    (1_000_000_002_000, b""),
    (1_001_999_999_000, b"the third one"),
];

/// A pcap file: its magic number tells the unit and the extra bytes of a record.
pub fn pcap(order: Order, magic: u32, minor: u16, link: u32, packets: &[Packet<'_>]) -> Vec<u8> {
    let mut bytes = order.u32(magic).to_vec();
    bytes.extend(order.u16(2));
    bytes.extend(order.u16(minor));
    for word in [0, 0, 65_535, link] {
        bytes.extend(order.u32(word));
    }
    let unit = if magic == 0xa1b2_3c4d { 1 } else { 1_000 };
    for &(time, data) in packets {
        let mut lengths = [data.len() as u32, data.len() as u32 + 1_000];
        if minor < 3 {
            lengths.reverse();
        }
        let words = [
            (time / 1_000_000_000) as u32,
            (time % 1_000_000_000 / unit) as u32,
            lengths[0],
            lengths[1],
        ];
        for word in words {
            bytes.extend(order.u32(word));
        }
        if magic == 0xa1b2_cd34 {
            bytes.extend([0x55; 8]);
        }
        bytes.extend(data);
    }
    bytes
}

/// A pcap file of today.
pub fn plain(packets: &[Packet<'_>]) -> Vec<u8> {
    pcap(Order::Little, 0xa1b2_3c4d, 4, 1, packets)
}

/// A block of pcapng around `body`.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let length = 12 + body.len().next_multiple_of(4);
    let mut bytes = order.u32(kind).to_vec();
    bytes.extend(order.u32(length as u32));
    bytes.extend(body);
    bytes.resize(length - 4, 0);
    bytes.extend(order.u32(length as u32));
    bytes
}

/// A section header.
pub fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend([0xff; 8]);
    block(order, 0x0a0d_0d0a, &body)
}

pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = order.u16(code).to_vec();
    bytes.extend(order.u16(value.len() as u16));
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The description of an interface: link type, snap length, options.
pub fn interface(order: Order, link: u16, snap: u32, options: &[u8]) -> Vec<u8> {
    let mut body = order.u16(link).to_vec();
    body.extend([0, 0]);
    body.extend(order.u32(snap));
    body.extend(options);
    block(order, 1, &body)
}

/// An enhanced packet block.
pub fn enhanced(order: Order, interface: u32, ticks: u64, data: &[u8], options: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for word in [
        interface,
        (ticks >> 32) as u32,
        ticks as u32,
        data.len() as u32,
        data.len() as u32 + 1_000,
    ] {
        body.extend(order.u32(word));
    }
    body.extend(data);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(order, 6, &body)
}

/// A pcapng file of one section and one interface with times in nanoseconds.
pub fn pcapng(order: Order, packets: &[Packet<'_>]) -> Vec<u8> {
    let mut bytes = section(order);
    bytes.extend(interface(order, 1, 0, &option(order, 9, &[9])));
    for &(time, data) in packets {
        bytes.extend(enhanced(order, 0, time, data, &[]));
    }
    bytes
}

/// A snoop file.
pub fn snoop(link: u32, packets: &[Packet<'_>]) -> Vec<u8> {
    let mut bytes = b"snoop\0\0\0".to_vec();
    bytes.extend(2_u32.to_be_bytes());
    bytes.extend(link.to_be_bytes());
    for &(time, data) in packets {
        let record = 24 + data.len().next_multiple_of(4);
        for word in [
            data.len() as u64 + 1_000,
            data.len() as u64,
            record as u64,
            0,
            time / 1_000_000_000,
            time % 1_000_000_000 / 1_000,
        ] {
            bytes.extend((word as u32).to_be_bytes());
        }
        bytes.extend(data);
        bytes.resize(bytes.len() + record - 24 - data.len(), 0);
    }
    bytes
}

/// An ERF record of `kind` around `body`, `wire` bytes long on the wire, 2^-32 s more than `seconds` a tick.
pub fn erf(kind: u8, seconds: u32, ticks: u32, wire: u16, body: &[u8]) -> Vec<u8> {
    let length = 16 + body.len().next_multiple_of(8);
    let mut bytes = ticks.to_le_bytes().to_vec();
    bytes.extend(seconds.to_le_bytes());
    bytes.extend([kind, 4]);
    bytes.extend((length as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(wire.to_be_bytes());
    bytes.extend(body);
    bytes.resize(length, 0);
    bytes
}
