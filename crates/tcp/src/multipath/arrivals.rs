//! Packets that came in order on a subflow go where they belong in the data.

use super::receive::Received;
use super::subflow::Subflow;
use crate::receiver::Arrived;

impl Received {
    /// What came in order on the subflow goes where it belongs in the data, unless there is no memory left for it; whether
    /// there is more to read (`subflow_data_ready`, `mptcp_data_ready`).
    pub fn data_ready(&mut self, subflow: &mut Subflow) -> bool {
        if !subflow.has_packets() {
            return false;
        }
        let (mut news, mut more) = (true, false);
        let limit = self.buffer.max(subflow.receive_buffer());
        if !self.settings.multipath.is_upstream() || self.cost() <= limit {
            let before = self.next;
            news = self.move_packets(subflow);
            more = self.next > before;
            self.close_gap();
        }
        if news && self.readable() == 0 {
            subflow.connection.receiver_mut().acknowledge_unreadable();
        }
        more
    }

    /// Moves packets of a subflow until their memory is too much for the connection; whether any brought what had not been
    /// read yet (`__mptcp_move_skbs_from_subflow`).
    fn move_packets(&mut self, subflow: &mut Subflow) -> bool {
        let upstream = self.settings.multipath.is_upstream();
        if upstream {
            self.buffer = self.buffer.max(subflow.receive_buffer());
        }
        let mut news = false;
        while let Some(packet) = subflow.connection.receiver_mut().hand_over() {
            news |= self.take_packet(subflow, &packet);
            if upstream && self.cost() > self.buffer {
                break;
            }
        }
        news
    }

    /// A packet is data as the mappings say; bytes without a mapping are dropped.
    fn take_packet(&mut self, subflow: &mut Subflow, packet: &Arrived) -> bool {
        let known = &mut subflow.known;
        let (mut at, end) = (packet.at, packet.at + u64::from(packet.len));
        let mut news = false;
        while let Some(map) = known.find(at).copied().filter(|_| at < end) {
            let len = (map.end().min(end) - at) as u32;
            let data = map.data + (at - map.at);
            news |= self.take(data, len, packet);
            at += u64::from(len);
        }
        known.forget_before(end);
        news
    }

    /// Takes what waits on the subflows since there was no memory for it; whether there is more to read
    /// (`__mptcp_move_skbs`).
    pub fn move_what_waits(&mut self, subflows: &mut [Subflow]) -> bool {
        if !self.settings.multipath.is_upstream() {
            return false;
        }
        let mut moved = false;
        for subflow in subflows {
            if subflow.has_packets() {
                self.move_packets(subflow);
                moved = true;
                if self.cost() > self.buffer {
                    break;
                }
            }
        }
        self.close_gap();
        moved && self.readable() > 0
    }
}
