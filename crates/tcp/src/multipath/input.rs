//! Segments that come in on a subflow (`mptcp_incoming_options`).

use rexmit_time::Time;

use super::coupling::share_windows;
use super::mapping::Mapping;
use super::options::{ack_bytes, data_bytes};
use super::{Map, Meta, PacketOptions};
use crate::connection::{Event, Socket};
use crate::segment::Segment;
use crate::settings::MptcpOptions;

impl Meta {
    pub(super) fn take_segment(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        options: &PacketOptions,
    ) {
        share_windows(&self.settings, &mut self.subflows, index);
        let subflow = &mut self.subflows[index];
        self.received.share_with(subflow);
        self.received.catch_up(subflow, segment.len);
        if let Some(map) = options.map {
            self.learn(index, &map);
        }
        let subflow = &mut self.subflows[index];
        let (before, was_open) = (subflow.watch(), subflow.is_open());
        let (syn, ack) = (segment.flags.syn(), segment.flags.ack());
        let header = options.header_len(self.settings.multipath.mptcp_options, syn, ack);
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
            self.received.keep_bounds(subflow);
        } else if subflow.is_open() {
            self.opened(now, index);
        }
        let subflow = &mut self.subflows[index];
        subflow.confirm(now, options);
        self.readable |= self.received.data_ready(subflow);
        self.received.share_with(subflow);
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
        if let Some(trigger) = self.subflows[index].watch().since(before) {
            self.reinject_after(now, index, trigger);
        }
        let subflow = &mut self.subflows[index];
        if let Some(acked) = subflow.acked() {
            subflow.mappings.forget_before(acked);
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
            self.data.window_end = self.data.una + u64::from(window);
            let receiver = subflow.connection.receiver();
            let (left, mss) = (receiver.window_left(), receiver.window().mss);
            self.received.begin(now, left, mss);
        }
        self.received.add_memory(subflow);
        subflow.offered = self.received.offered;
        if !self.is_client && !subflow.first {
            // The fourth packet of a join's handshake (RFC 8684 §3.2).
            subflow.confirmed = Some(now);
            subflow.connection.acknowledge_now(now);
        }
        let subflows = &mut self.subflows;
        self.send_buffer.opened(subflows, index, self.is_client);
    }
}
