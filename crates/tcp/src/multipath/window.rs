//! The window that a subflow offers: that of the memory which all subflows share, and never less data than any of them
//! offered before (`mptcp_set_rwin`).

use rexmit_time::Time;

use super::receive::{Larger, Received};
use super::subflow::Subflow;
use super::Meta;
use crate::receiver::{Pool, Receiver};
use crate::settings::FIRST_RATIO;

impl Received {
    /// Tells a subflow what memory there is.
    pub fn share_with(&self, subflow: &mut Subflow) {
        let pool = Pool {
            space: self.space(),
            full: self.full_space(),
        };
        let open = subflow.is_open();
        let receiver = subflow.connection.receiver_mut();
        receiver.set_pool(pool);
        if let Some(bounds) = self.bounds.filter(|_| open) {
            receiver.window_mut().set_bounds(bounds);
        }
    }

    /// A subflow opened: the kernels of multipath-tcp.org add its buffer and its window to those of the others
    /// (`mptcp_init_buffer_space`).
    pub fn add_memory(&mut self, subflow: &Subflow) {
        if self.settings.multipath.is_upstream() {
            return;
        }
        let window = subflow.connection.receiver().window();
        let (own, buffer) = (window.bounds(), window.buffer);
        let Some(all) = &mut self.bounds else {
            self.bounds = Some(own);
            self.buffer = buffer;
            return;
        };
        let most = self.settings.receiver.receive_buffer[2];
        let sum = self.buffer.saturating_add(buffer).min(most);
        if sum > self.buffer {
            all.clamp = all.clamp.saturating_add(own.clamp);
            all.threshold = all.threshold.saturating_add(own.threshold);
            self.buffer = sum;
        }
    }

    /// What a segment did to the window of its subflow, it did to that of all.
    pub fn keep_bounds(&mut self, subflow: &Subflow) {
        if let Some(bounds) = self.bounds.as_mut().filter(|_| subflow.is_open()) {
            *bounds = subflow.connection.receiver().window().bounds();
        }
    }

    /// The window field of a packet that leaves on the subflow. Without acknowledgement of data it is the subflow's own,
    /// which never shrinks.
    pub fn offer(&mut self, subflow: &mut Subflow, of_data: bool) -> u16 {
        self.share_with(subflow);
        let receiver = subflow.connection.receiver_mut();
        let mut window = receiver.candidate_window();
        if !of_data {
            let window = window.max(receiver.window_left());
            self.last_window = window;
            // Rounded up to what the field can tell.
            let unit = 1 << receiver.scale();
            return receiver.offer_window(window.next_multiple_of(unit));
        }
        let end = self.next + u64::from(window);
        if end > self.offered {
            self.offered = end;
        } else {
            window = u32::try_from(self.offered - self.next).unwrap_or(u32::MAX);
        }
        subflow.offered = self.offered;
        self.last_window = window;
        receiver.offer_window(window)
    }

    /// Another subflow offered more since: the subflow takes it, before a packet is turned away (`rwin_update`).
    pub fn catch_up(&self, subflow: &mut Subflow, len: u32) {
        let receiver = subflow.connection.receiver_mut();
        let left = receiver.window_left();
        if len == 0 || len < left || self.offered <= subflow.offered {
            return;
        }
        let more = self.offered - subflow.offered;
        subflow.offered = self.offered;
        let window = left.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        receiver.extend_window(window);
    }
}

impl Meta {
    /// The reader called, and took `taken` bytes: the peer is told of a larger window (`mptcp_cleanup_rbuf`).
    pub(super) fn after_read(&mut self, now: Time, taken: u32) {
        let space = self.received.space();
        let cleanup = taken > 0 && space > 0 && space >= 2 * i64::from(self.received.last_window);
        let empty = taken > 0 && self.received.cost() == 0;
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            self.received.share_with(subflow);
            let connection = &mut subflow.connection;
            if cleanup || connection.receiver().acknowledges_after_read(empty) {
                connection.after_read(now, taken > 0);
                self.drain(now, index);
            }
        }
    }

    /// The reader took data: the buffer may grow (`mptcp_rcv_space_adjust`).
    pub(super) fn adjust_buffer(&mut self, now: Time, taken: u32) {
        if taken == 0 {
            return;
        }
        let each = self.subflows.iter().map(|s| s.connection.receiver());
        let round_trip = each.clone().map(Receiver::rtt_us).max();
        let windows = each.map(Receiver::window);
        let mss = windows.clone().map(|window| window.mss).max();
        let ratios = windows.map(|window| window.ratio);
        let sizes = (mss.unwrap_or(536), ratios.min().unwrap_or(FIRST_RATIO));
        let larger = self
            .received
            .reader_took(now, taken, round_trip.unwrap_or(0), sizes);
        let Some(Larger { buffer, window }) = larger else {
            return;
        };
        if let Some(bounds) = &mut self.received.bounds {
            bounds.clamp = window;
            return;
        }
        let clamp = u32::try_from(self.received.full_space()).unwrap_or(0);
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            self.received.share_with(subflow);
            let connection = &mut subflow.connection;
            let window = connection.receiver_mut().window_mut();
            (window.buffer, window.clamp) = (buffer, clamp);
            connection.after_read(now, true);
            self.drain(now, index);
        }
    }
}
