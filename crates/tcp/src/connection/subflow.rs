//! What the connection that a subflow belongs to does with it ([`crate::multipath`]).

use rexmit_time::Time;

use super::buffer::SendBuffer;
use super::Connection;
use crate::receiver::Receiver;
use crate::sender::Sender;

impl Connection {
    /// The sender, to append data to and to tell it what the connection knows.
    pub(crate) fn sender_mut(&mut self) -> Option<&mut Sender> {
        self.sender.get_mut()
    }

    /// The receiver, of which the connection takes what came.
    pub(crate) fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The same, to tell it of the window and the memory that all subflows share.
    pub(crate) fn receiver_mut(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    /// Sends what was appended (`tcp_push`).
    pub fn push(&mut self, now: Time) {
        if let Some(sender) = self.sender.get_mut() {
            sender.writer(now).push_appended();
            self.pump_and_look(now);
        }
    }

    /// The options on segments with data and on acknowledgements take so many bytes from now on.
    pub fn set_options(&mut self, data: u32, ack: u32) {
        let Some(options) = &mut self.local.subflow else {
            return;
        };
        let before = options.data;
        (options.data, options.ack) = (data, ack);
        if let Some(sender) = self.sender.get_mut() {
            sender.change_options(before, data);
            self.receiver.change_options(ack);
        }
    }

    /// Bytes that the send buffer holds, overhead counted (`sk_sndbuf`).
    #[must_use]
    pub fn send_buffer(&self) -> u32 {
        self.buffer.limit()
    }

    /// The same, to grow by what the sender says, and the sender.
    pub(crate) fn send_buffer_mut(&mut self) -> Option<(&mut SendBuffer, &Sender)> {
        Some((&mut self.buffer, self.sender.get()?))
    }

    /// A reader took data of the connection, or (`took` false) looked for more: what is to be acknowledged on this subflow
    /// (`tcp_cleanup_rbuf`).
    pub fn after_read(&mut self, now: Time, took: bool) {
        if self.receiver.is_due_after_read(took) {
            self.acknowledge_now(now);
        }
    }

    /// Acknowledges at once what is there (`tcp_send_ack`).
    pub fn acknowledge_now(&mut self, now: Time) {
        if self.sender.get().is_some() {
            let header = self.receiver.header();
            self.send_ack(now, header);
        }
    }
}
