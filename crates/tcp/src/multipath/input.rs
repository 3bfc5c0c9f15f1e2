//! Segments that come in on a subflow (`mptcp_incoming_options`).

use rexmit_time::Time;

use super::mapping::Mapping;
use super::options::{ack_bytes, data_bytes};
use super::{DataAck, Hello, Map, Meta, Options};
use crate::connection::{Event, Socket, State};
use crate::receiver::Arrived;
use crate::segment::Segment;
use crate::settings::MptcpOptions;

impl Meta {
    pub(super) fn take_segment(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        options: &Options,
    ) {
        self.share_memory(index);
        self.share_windows(index);
        self.catch_up(index, segment.len);
        if let Some(map) = options.map {
            self.learn(index, &map);
        }
        let before = self.watch(index);
        let was_open = self.subflows[index].connection.state() == State::Established;
        let (syn, ack) = (segment.flags.syn(), segment.flags.ack());
        let header = options.header_len(self.settings.multipath.mptcp_options, syn, ack);
        let subflow = &mut self.subflows[index];
        subflow.connection.receiver_mut().expect_options(header);
        subflow.connection.on_segment(now, segment);
        subflow.failed = false;
        while let Some(event) = subflow.connection.poll_event() {
            if event == Event::Writable {
                // The connection's own buffer counts, see check_space.
                continue;
            }
        }
        if was_open {
            self.keep_bounds(index);
        } else if self.subflows[index].connection.state() == State::Established {
            self.opened(now, index);
        }
        self.confirm(now, index, options);
        self.data_ready(index);
        self.share_memory(index);
        self.drain(now, index);
        if let Some(ack) = options.ack {
            if self.is_upstream() {
                self.take_data_ack(now, index, ack.next);
            } else {
                self.take_data_ack_of_pieces(now, index, ack.next);
            }
        }
        self.subflows[index].connection.finish_segment(now);
        self.drain(now, index);
        if let Some(trigger) = self.watch(index).since(before) {
            self.reinject_after(now, index, trigger);
        }
        let acked = self.subflows[index].acked();
        if let Some(acked) = acked {
            self.subflows[index].mappings.forget_before(acked);
        }
        self.look_for_space(index, 0);
    }

    /// A mapping came with a packet; if it has numbers of 64 bits, so have our acknowledgements from here on.
    fn learn(&mut self, index: usize, map: &Map) {
        self.subflows[index].known.learn(Mapping {
            at: u64::from(map.subflow) - 1,
            data: map.data,
            len: map.len,
            again: false,
            carried_by: 0,
            pages: 0,
        });
        let form = self.settings.multipath.mptcp_options;
        if form == MptcpOptions::Rfc8684 && !self.long_acks {
            self.long_acks = true;
            for subflow in &mut self.subflows {
                subflow
                    .connection
                    .set_options(data_bytes(form, true), ack_bytes(form, true));
            }
        }
    }

    /// A subflow's handshake is over.
    fn opened(&mut self, now: Time, index: usize) {
        let (nodelay, corked) = (self.nodelay, self.corked);
        let subflow = &mut self.subflows[index];
        if nodelay {
            subflow.connection.set_nodelay(now, true);
        }
        if corked {
            // sync_socket_options
            subflow.connection.set_cork(now, true);
        }
        let window = subflow.sender().map_or(0, |sender| sender.peer_window());
        if subflow.first {
            self.window_end = self.una + u64::from(window);
            let receiver = subflow.connection.receiver();
            let (left, mss) = (receiver.window_left(), receiver.window().mss);
            self.received.begin(now, left, mss);
        }
        self.add_memory(index);
        self.buffer_of_opened(index);
        self.subflows[index].offered = self.received.offered;
        if !self.is_client && !self.subflows[index].first {
            // The fourth packet of a join's handshake (RFC 8684 §3.2).
            self.subflows[index].confirmed = Some(now);
            self.subflows[index].connection.acknowledge_now(now);
        }
    }

    /// Both ends are known to know of the subflow (`check_fully_established`).
    fn confirm(&mut self, now: Time, index: usize, options: &Options) {
        let subflow = &mut self.subflows[index];
        if subflow.connection.state() == State::Established
            && (options.map.is_some() || (options.ack.is_some() && options.hello.is_none()))
        {
            subflow.confirmed.get_or_insert(now);
        }
    }

    /// What came in order on the subflow goes where it belongs in the data, unless there is no memory left for it
    /// (`subflow_data_ready`, `mptcp_data_ready`).
    fn data_ready(&mut self, index: usize) {
        if !self.subflows[index].has_packets() {
            return;
        }
        let limit = self.subflows[index].receive_buffer();
        let mut news = true;
        if !self.is_upstream() || self.received.cost() <= self.received.buffer.max(limit) {
            let before = self.received.next;
            news = self.move_packets(index);
            self.readable |= self.received.next > before;
            self.received.close_gap();
        }
        if news && self.received.readable() == 0 {
            let receiver = self.subflows[index].connection.receiver_mut();
            receiver.acknowledge_unreadable();
        }
    }

    /// Moves packets of a subflow until their memory is too much for the connection; whether any brought what had not been
    /// read yet (`__mptcp_move_skbs_from_subflow`).
    fn move_packets(&mut self, index: usize) -> bool {
        let upstream = self.is_upstream();
        if upstream {
            let limit = self.subflows[index].receive_buffer();
            self.received.buffer = self.received.buffer.max(limit);
        }
        let mut news = false;
        while let Some(packet) = self.subflows[index].connection.receiver_mut().hand_over() {
            news |= self.take_packet(index, &packet);
            if upstream && self.received.cost() > self.received.buffer {
                break;
            }
        }
        news
    }

    /// A packet is data as the mappings say; bytes of which nothing says what they are are dropped.
    fn take_packet(&mut self, index: usize, packet: &Arrived) -> bool {
        let known = &mut self.subflows[index].known;
        let (mut at, end) = (packet.at, packet.at + u64::from(packet.len));
        let mut news = false;
        while let Some(map) = known.find(at).copied().filter(|_| at < end) {
            let len = (map.end().min(end) - at) as u32;
            let data = map.data + (at - map.at);
            news |= self.received.take(data, len, packet);
            at += u64::from(len);
        }
        known.forget_before(end);
        news
    }

    /// Takes what waits on the subflows since there was no memory for it; whether there is more to read
    /// (`__mptcp_move_skbs`).
    pub(super) fn move_what_waits(&mut self) -> bool {
        if !self.is_upstream() {
            return false;
        }
        let mut moved = false;
        for index in 0..self.subflows.len() {
            if self.subflows[index].has_packets() {
                self.move_packets(index);
                moved = true;
                if self.received.cost() > self.received.buffer {
                    break;
                }
            }
        }
        self.received.close_gap();
        moved && self.received.readable() > 0
    }

    /// What a packet that leaves on the subflow carries; `map` is the mapping of its payload.
    pub(super) fn options_of(
        &self,
        index: usize,
        segment: &Segment,
        map: Option<&Mapping>,
    ) -> Options {
        let subflow = &self.subflows[index];
        let hello = if subflow.first {
            Hello::Capable
        } else {
            Hello::Join
        };
        if segment.flags.rst() {
            return Options::default();
        }
        let map = map.map(|map| Map {
            data: map.data,
            subflow: map.at as u32 + 1,
            len: map.len,
        });
        if segment.flags.syn() {
            return Options {
                hello: Some(hello),
                ..Options::default()
            };
        }
        // The third packet of the handshake, and the first with data after it (RFC 8684 §3.1).
        let first = map.map_or(subflow.written == 0, |map| map.subflow == 1);
        if self.is_client && subflow.confirmed.is_none() && first {
            return Options {
                hello: Some(hello),
                ack: None,
                map,
            };
        }
        Options {
            hello: None,
            ack: Some(DataAck {
                next: self.received.next,
                long: self.long_acks,
            }),
            map,
        }
    }
}
