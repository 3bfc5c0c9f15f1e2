//! Packets of scripted connections.

use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::{Analyzer, Rows};
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::{Notes, Record, Sack, SynOptions};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum, SeqRange};

/// The client's initial sequence number: its data crosses the wrap.
pub const CLIENT: u32 = u32::MAX - 99;
/// The server's.
pub const SERVER: u32 = 0x7fff_ff00;

pub fn flow(src_port: u16, dst_port: u16) -> FlowKey {
    FlowKey {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        src_port,
        dst_port,
    }
}

/// One connection, and the numbers that its sides have come to.
#[derive(Clone, Debug)]
pub struct Script {
    pub flow: FlowKey,
    /// What both have sent, as from their first number.
    pub client: SeqNum,
    pub server: SeqNum,
    pub now: Time,
    pub packets: Vec<(Time, Headers)>,
}

impl Script {
    /// Begins at 1,000 s of the capture's clock.
    pub fn new(client_port: u16) -> Self {
        Script {
            flow: flow(client_port, 80),
            client: SeqNum::new(CLIENT),
            server: SeqNum::new(SERVER),
            now: Time::ZERO + Duration::from_secs(1_000),
            packets: Vec::new(),
        }
    }

    /// Lets time go by, or back.
    pub fn wait(&mut self, ms: i64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    /// A packet of either side as it stands now.
    pub fn packet(&self, from_client: bool, flags: Flags, payload_len: u32) -> Headers {
        let (flow, seq, ack) = if from_client {
            (self.flow, self.client, self.server)
        } else {
            (self.flow.reversed(), self.server, self.client)
        };
        Headers {
            flow,
            seq,
            ack: if flags.ack() { ack } else { SeqNum::new(0) },
            payload_len,
            window: 60_000,
            flags,
            ttl: 64,
            ip_id: None,
            dont_fragment: true,
            ecn: 0,
            record: Record::None,
            notes: Notes::default(),
            timestamps: None,
            sack: Sack::default(),
            syn: flags.syn().then(|| SynOptions {
                mss: Some(if from_client { 1_460 } else { 1_400 }),
                window_scale: Some(if from_client { 7 } else { 2 }),
                sack_permitted: true,
                timestamps: false,
                ..SynOptions::default()
            }),
        }
    }

    /// Captures a packet.
    pub fn put(&mut self, headers: Headers) -> &mut Self {
        self.packets.push((self.now, headers));
        self
    }

    /// A packet of a side, whose numbers move on.
    pub fn send(&mut self, from_client: bool, flags: Flags, payload_len: u32) -> &mut Self {
        let headers = self.packet(from_client, flags, payload_len);
        let side = if from_client {
            &mut self.client
        } else {
            &mut self.server
        };
        *side += headers.seq_len();
        self.put(headers)
    }

    /// SYN, SYN-ACK, ACK: 30 ms from the monitor to the server and back, 10 ms to the client and back.
    pub fn handshake(&mut self) -> &mut Self {
        self.send(true, Flags::SYN, 0)
            .wait(30)
            .send(false, SYN_ACK, 0)
            .wait(10)
            .send(true, Flags::ACK, 0)
    }

    /// A request of 100 bytes and a response of two segments, each acknowledged.
    pub fn exchange(&mut self) -> &mut Self {
        self.send(true, Flags::ACK, 100)
            .wait(30)
            .send(false, Flags::ACK, 1_000)
            .send(false, Flags::ACK, 500)
            .wait(10)
            .send(true, Flags::ACK, 0)
    }

    /// Both sides close.
    pub fn close(&mut self) -> &mut Self {
        self.send(false, FIN_ACK, 0)
            .wait(10)
            .send(true, FIN_ACK, 0)
            .wait(30)
            .send(false, Flags::ACK, 0)
    }

    /// Everything that an analyzer says of it.
    pub fn rows(&self) -> Rows {
        analyse(&self.packets, Settings::default()).1
    }
}

pub const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);
pub const FIN_ACK: Flags = Flags(Flags::FIN.0 | Flags::ACK.0);
pub const RST: Flags = Flags::RST;

pub fn with_sack(mut headers: Headers, start: SeqNum, len: u32) -> Headers {
    headers.sack.push(SeqRange::new(start, len));
    headers
}

/// Everything that an analyzer says of some packets.
pub fn analyse(packets: &[(Time, Headers)], settings: Settings) -> (Analyzer, Rows) {
    let mut analyzer = Analyzer::new(settings);
    for (at, headers) in packets {
        analyzer.packet(*at, headers);
    }
    let mut rows = Rows::default();
    for below in 1.. {
        let any = analyzer.finish(below * 7);
        analyzer.drain(&mut rows);
        if !any {
            break;
        }
    }
    rows.sort();
    (analyzer, rows)
}
