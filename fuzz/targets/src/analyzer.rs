//! Any packets of a few connections, in any order and at any time: nothing panics, every packet is counted once, and what
//! is kept stays within its bounds.

use arbitrary::{Arbitrary, Unstructured};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Analyzer, Of, Rows};
use rexmit_trace::columns::{tables, Purpose};
use rexmit_trace::multipath::Signal;
use rexmit_trace::rows::{Connection, Retransmission};
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::{Notes, Record, Sack, SynOptions, Timestamps};
use rexmit_wire::mptcp::{self, Capable, Dss, Identity, Mapping, Version};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum, SeqRange};

#[derive(Arbitrary, Debug)]
struct Script {
    most_connections: u8,
    most_events: u8,
    most_retransmissions: u8,
    whatif: bool,
    packets: Vec<Packet>,
}

#[derive(Arbitrary, Debug)]
struct Packet {
    connection: u8,
    from_client: bool,
    wait: Wait,
    flags: u8,
    seq: Number,
    ack: Number,
    length: Length,
    window: u16,
    ip_id: Option<u8>,
    stamps: Option<(u16, u16)>,
    sack: [Option<(Number, Length)>; 3],
    mss: Option<u16>,
    signal: Option<Options>,
}

/// Multipath TCP options: few keys, tokens and places, so that subflows join and data meet.
#[derive(Arbitrary, Debug)]
struct Options {
    capable: Option<CapableOption>,
    /// The token of a key, or one that no key has.
    join: Option<Result<u8, u8>>,
    dss: Option<DssOption>,
    failed: bool,
}

/// Whether it is of the older version; the sender's and the receiver's key; the length of the data.
type CapableOption = (bool, Option<u8>, Option<u8>, Option<u16>);

/// A data acknowledgement; a mapping: its data sequence number, its place in the subflow, its length.
type DssOption = (Option<DataNumber>, Option<(DataNumber, u16, u16)>);

/// Near a key's first number, or any.
#[derive(Arbitrary, Debug)]
enum DataNumber {
    Low(u8, u16),
    Full(u8, u16),
    Any(u64),
}

impl DataNumber {
    fn get(&self) -> mptcp::DataNumber {
        let near = |of: u8, at: u16| key(of).idsn.wrapping_add(u64::from(at) * 100);
        match *self {
            DataNumber::Low(of, at) => mptcp::DataNumber::Low(near(of, at) as u32),
            DataNumber::Full(of, at) => mptcp::DataNumber::Full(near(of, at)),
            DataNumber::Any(number) => mptcp::DataNumber::Full(number),
        }
    }
}

fn key(number: u8) -> Identity {
    Identity::of(u64::from(number % 4), Version::V1)
}

impl Options {
    fn signal(&self) -> Signal {
        let key_of = |number: u8| u64::from(number % 4);
        Signal {
            capable: self
                .capable
                .map(|(older, sender, receiver, data_len)| Capable {
                    version: u8::from(!older),
                    sender_key: sender.map(key_of),
                    receiver_key: receiver.map(key_of),
                    data_len,
                    ..Capable::default()
                }),
            joins: self.join.is_some(),
            token: self
                .join
                .map(|of| of.map_or_else(u32::from, |of| key(of).token)),
            dss: self.dss.as_ref().map(|(data_ack, mapping)| Dss {
                fin: false,
                data_ack: data_ack.as_ref().map(DataNumber::get),
                mapping: mapping
                    .as_ref()
                    .map(|(data_seq, subflow_seq, len)| Mapping {
                        data_seq: data_seq.get(),
                        subflow_seq: u32::from(*subflow_seq) * 100,
                        len: *len,
                        checksum: None,
                    }),
            }),
            failed: self.failed,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Wait {
    None,
    Micros(u16),
    Millis(u16),
    Back(u16),
    Any(i64),
}

/// Numbers in units of segments, so that packets meet, or any.
#[derive(Arbitrary, Debug)]
enum Number {
    Segment(u8),
    Near(u16),
    Any(u32),
}

#[derive(Arbitrary, Debug)]
enum Length {
    None,
    Segments(u8),
    Any(u32),
}

impl Number {
    fn get(&self) -> SeqNum {
        SeqNum::new(match *self {
            Number::Segment(n) => (u32::from(n) * 1_000).wrapping_sub(50_000),
            Number::Near(n) => u32::from(n).wrapping_sub(20_000),
            Number::Any(n) => n,
        })
    }
}

impl Length {
    fn get(&self) -> u32 {
        match *self {
            Length::None => 0,
            Length::Segments(n) => u32::from(n % 8) * 1_000,
            Length::Any(n) => n,
        }
    }
}

impl Packet {
    fn headers(&self) -> Headers {
        let (a, b) = ("10.0.0.1", "10.0.0.2");
        let flow = FlowKey {
            src: a.parse().unwrap_or_else(|_| unreachable!()),
            dst: b.parse().unwrap_or_else(|_| unreachable!()),
            src_port: 40_000 + u16::from(self.connection % 4),
            dst_port: 80,
        };
        let flags = Flags(self.flags);
        let sack = self.sack.iter().flatten();
        Headers {
            flow: if self.from_client {
                flow
            } else {
                flow.reversed()
            },
            seq: self.seq.get(),
            ack: self.ack.get(),
            payload_len: self.length.get(),
            window: self.window,
            flags,
            ttl: 64,
            ip_id: self.ip_id.map(u16::from),
            dont_fragment: true,
            ecn: 0,
            record: Record::None,
            notes: Notes::default(),
            timestamps: self.stamps.map(|(value, echo)| Timestamps {
                value: value.into(),
                echo: echo.into(),
            }),
            sack: sack
                .map(|(start, len)| SeqRange::new(start.get(), len.get()))
                .collect::<Sack>(),
            syn: flags.syn().then(|| SynOptions {
                mss: self.mss,
                window_scale: Some(self.window as u8),
                sack_permitted: self.connection & 4 != 0,
                timestamps: self.stamps.is_some(),
                ..SynOptions::default()
            }),
        }
    }
}

/// Reads the bytes as packets and analyses them.
pub fn analyzer(bytes: &[u8]) {
    if let Ok(script) = Script::arbitrary_take_rest(Unstructured::new(bytes)) {
        analyze(&script);
    }
}

fn analyze(script: &Script) {
    let settings = Settings {
        most_connections: usize::from(script.most_connections % 5),
        most_events: usize::from(script.most_events),
        most_retransmissions: usize::from(script.most_retransmissions),
        whatif: script.whatif.then(Default::default),
        ..Settings::default()
    };
    let most = settings.most_connections.max(1);
    let mut analyzer = Analyzer::new(settings);
    let mut rows = Rows::default();
    let mut now = Time::ZERO + Duration::from_secs(1_000_000);
    for packet in &script.packets {
        now += match packet.wait {
            Wait::None => Duration::ZERO,
            Wait::Micros(us) => Duration::from_micros(us.into()),
            Wait::Millis(ms) => Duration::from_millis(ms.into()),
            Wait::Back(us) => Duration::from_micros(-i64::from(us)),
            Wait::Any(ns) => Duration::from_nanos(ns),
        };
        match &packet.signal {
            Some(options) => analyzer.packet_with(now, &packet.headers(), &options.signal()),
            None => analyzer.packet(now, &packet.headers()),
        }
        assert!(analyzer.connections() <= most);
        if packet.window % 16 == 0 {
            analyzer.expire(now, 2);
            analyzer.drain(&mut rows);
        }
    }
    analyzer.finish(u64::MAX);
    analyzer.drain(&mut rows);
    let counters = analyzer.counters();
    // A panic at the end of a connection is contained, and counted.
    assert!(counters.failures.named.is_empty(), "{counters:#?}");
    assert_eq!(counters.packets, script.packets.len() as u64);
    assert_eq!(counters.connections, rows.connections.len() as u64);
    let halves = rows
        .connections
        .iter()
        .map(|of| [&of.row.forward, &of.row.backward]);
    let seen: u64 = halves.flatten().map(|half| half.packets).sum();
    assert_eq!(
        seen + counters.strays + counters.stray_resets,
        counters.packets
    );
    // A retransmission for each piece of each packet, at most, and a re-injection.
    assert!(rows.retransmissions.len() <= 2 * script.packets.len());
    let joined = |of: &Of<Box<Connection>>| of.row.multipath.is_some();
    let subflows = rows.connections.iter().filter(|of| joined(of)).count();
    let reinjected = |of: &Of<Retransmission>| of.row.mechanism == Mechanism::MptcpReinject;
    assert!(subflows > 0 || !rows.retransmissions.iter().any(reinjected));
    rows.sort();
    let _ = tables(&rows, "capture", &[], |_| Purpose::Page);
}
