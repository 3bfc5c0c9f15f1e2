//! A subflow as its connection sees it.

use rexmit_time::Time;

use super::blest::Range;
use super::mapping::{Mapping, Mappings};
use super::{DataAck, Hello, Map, PacketOptions};
use crate::connection::{Connection, State};
use crate::segment::Segment;
use crate::sender::Sender;

/// A subflow.
pub(super) struct Subflow {
    pub path: usize,
    /// It opened the connection.
    pub first: bool,
    pub connection: Connection,
    /// When it could be used by both ends, as this one knows (`fully_established`).
    pub confirmed: Option<Time>,

    // Sending
    /// Bytes handed to it.
    pub written: u64,
    /// What they are.
    pub mappings: Mappings,

    // Receiving
    /// What came is.
    pub known: Mappings,
    /// After the last byte of data that it offered to take (`rcv_wnd_sent`).
    pub offered: u64,

    // Upstream
    /// Bytes a second, averaged over what was handed to it; 0 before the first (`avg_pacing_rate`).
    pub rate: u64,
    /// The scheduler chose it, and nothing was handed to it yet.
    pub scheduled: bool,
    /// Its send buffer, as the connection's counts it (`cached_sndbuf`).
    pub counted_buffer: u32,
    /// It is to send once the call is over.
    pub delegated: bool,
    /// It is passed over until it hears something.
    pub stale: bool,
    /// Periods of the connection's timer without a packet.
    pub stale_count: u32,
    /// When it had heard something last, when that was looked at.
    pub stale_heard: i64,

    // Out of tree
    /// It timed out and has heard nothing since (`pf`).
    pub failed: bool,
    /// It had its segment of this turn (`quota`).
    pub served: bool,
    /// As BLEST saw them.
    pub round_trips: Option<Range>,
    /// The tick at which another subflow was last slowed down for its sake (`last_rbuf_opti`).
    pub penalised: Option<i64>,
}

impl Subflow {
    pub fn new(path: usize, first: bool, connection: Connection) -> Self {
        Subflow {
            path,
            first,
            connection,
            confirmed: None,
            written: 0,
            mappings: Mappings::default(),
            known: Mappings::default(),
            offered: 0,
            rate: 0,
            scheduled: false,
            counted_buffer: 0,
            delegated: false,
            stale: false,
            stale_count: 0,
            stale_heard: 0,
            failed: false,
            served: false,
            round_trips: None,
            penalised: None,
        }
    }

    pub fn sender(&self) -> Option<&Sender> {
        self.connection.sender()
    }

    /// Its smoothed round-trip time, nanoseconds; 0 before the first.
    pub fn srtt_ns(&self) -> u64 {
        let srtt = self.sender().and_then(|sender| sender.timing().srtt());
        srtt.map_or(0, |srtt| srtt.as_nanos().unsigned_abs())
    }

    /// Its handshake is over, and neither end closed.
    pub fn is_open(&self) -> bool {
        self.connection.state() == State::Established
    }

    /// Data may be sent on it; on a join's not before both ends know of it.
    pub fn is_usable(&self) -> bool {
        self.is_open() && (self.first || self.confirmed.is_some())
    }

    /// Data of `len` bytes may be handed to it now (`mptcp_is_available`).
    pub fn takes(&self, len: u32) -> bool {
        let sender = self.sender().filter(|_| self.is_usable());
        !self.failed && sender.is_some_and(|sender| sender.takes_more(len))
    }

    /// Data may be handed to it now, upstream. One that is passed over no longer is once it heard something
    /// (`mptcp_subflow_active`).
    pub fn is_active(&mut self) -> bool {
        if self.stale {
            if self.last_heard() == self.stale_heard {
                return false;
            }
            self.stale = false;
        }
        self.is_usable()
    }

    /// The tick at which something came last.
    fn last_heard(&self) -> i64 {
        self.sender().map_or(0, Sender::last_heard)
    }

    /// Counts a period of the connection's timer in which it had data out; whether it heard nothing in several.
    pub fn is_silent(&mut self) -> bool {
        let heard = self.last_heard();
        if self.stale_count == 0 {
            self.stale_heard = heard;
            self.stale_count = 1;
        } else if self.stale_heard == heard {
            self.stale_count = (self.stale_count + 1).min(255);
            return true;
        } else {
            self.stale_count = 0;
            self.stale = false;
        }
        false
    }

    /// `sk_stream_memory_free`
    pub fn has_memory(&self) -> bool {
        let limit = self.connection.send_buffer();
        self.sender()
            .is_some_and(|sender| sender.buffered() < limit)
    }

    /// Ticks until its timer is due, 0 when it has none (`mptcp_timeout_from_subflow`).
    pub fn pending_ticks(&self, now: Time) -> i64 {
        let sender = self.sender().filter(|_| self.stale_count == 0);
        sender
            .and_then(|s| s.timing().pending_ticks(now))
            .unwrap_or(0)
    }

    /// Both ends are known to know of it (`check_fully_established`).
    pub fn confirm(&mut self, now: Time, options: &PacketOptions) {
        let knows = options.map.is_some() || (options.ack.is_some() && options.hello.is_none());
        if self.is_open() && knows {
            self.confirmed.get_or_insert(now);
        }
    }

    /// What a packet that leaves on it carries: the mapping `map` of its payload, and `ack`. `is_client`: of the end that
    /// opened the connection.
    pub fn options(
        &self,
        segment: &Segment,
        map: Option<&Mapping>,
        ack: DataAck,
        is_client: bool,
    ) -> PacketOptions {
        if segment.flags.rst() {
            return PacketOptions::default();
        }
        let hello = Some(if self.first {
            Hello::Capable
        } else {
            Hello::Join
        });
        if segment.flags.syn() {
            return PacketOptions {
                hello,
                ..PacketOptions::default()
            };
        }
        let map = map.map(|map| Map {
            data: map.data,
            subflow: map.at as u32 + 1,
            len: map.len,
        });
        // The third packet of the handshake, and the first with data after it (RFC 8684 §3.1).
        let first = map.map_or(self.written == 0, |map| map.subflow == 1);
        let opens = is_client && self.confirmed.is_none() && first;
        PacketOptions {
            hello: hello.filter(|_| opens),
            ack: (!opens).then_some(ack),
            map,
        }
    }

    /// Neither sent nor unsent data wait (`tcp_rtx_and_write_queues_empty`).
    pub fn is_idle(&self) -> bool {
        self.sender().is_some_and(Sender::is_empty)
    }

    /// Packets in order wait for the connection to take them (`mptcp_subflow_data_available`).
    pub fn has_packets(&self) -> bool {
        self.connection.readable() > 0
    }

    /// Bytes of memory for packets that came (`sk_rcvbuf`).
    pub fn receive_buffer(&self) -> u32 {
        self.connection.receiver().window().buffer
    }

    /// The peer's window reaches at least `window` bytes beyond what is acknowledged: another subflow said so
    /// (`mptcp_check_allowed_size`).
    pub fn raise_peer_window(&mut self, window: u64) {
        if let Some(sender) = self.connection.sender_mut() {
            sender.raise_peer_window(u32::try_from(window).unwrap_or(u32::MAX));
        }
    }

    /// Where `segment` begins in the stream that this end sends, from 0.
    fn offset_of(&self, segment: &Segment) -> Option<u64> {
        let una = self.sender()?.flight().una();
        let acked = self.acked()?;
        let from_una = segment.seq.offset_from(una);
        acked.checked_add_signed(i64::from(from_una))
    }

    /// Bytes that the peer acknowledged.
    pub fn acked(&self) -> Option<u64> {
        let sender = self.sender()?;
        let waiting = sender
            .end()
            .offset_from(sender.flight().una())
            .unsigned_abs();
        Some(self.written - u64::from(waiting))
    }

    /// The mapping of what `segment` carries.
    pub fn mapping_of(&self, segment: &Segment) -> Option<Mapping> {
        if segment.len == 0 || segment.flags.syn() {
            return None;
        }
        self.mappings.find(self.offset_of(segment)?).copied()
    }

    /// Hands `len` bytes of data to the subflow, without sending them.
    pub fn append(&mut self, now: Time, data: u64, len: u32, apart: bool, again: bool, by: u32) {
        if let Some(sender) = self.connection.sender_mut() {
            sender.writer(now).append(len, apart);
        }
        if apart {
            self.mappings.push(Mapping {
                at: self.written,
                data,
                len,
                again,
                carried_by: by,
                pages: 1,
            });
        } else {
            self.mappings.extend(len);
        }
        self.written += u64::from(len);
    }

    /// What is out or waits on it, in order.
    pub fn outstanding(&self) -> Vec<Mapping> {
        let acked = self.acked().unwrap_or(self.written);
        let open = self.mappings.iter().filter(|map| map.end() > acked);
        open.copied().collect()
    }
}
