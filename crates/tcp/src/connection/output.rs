//! Segments on their way out: what the sender has, laid out with what the receiver has to say.

use rexmit_time::Time;
use rexmit_wire::Flags;

use super::{Connection, Sent};
use crate::receiver::Header;
use crate::segment::Segment;
use crate::sender::Transmit;

impl Connection {
    /// Sends the SYN or the SYN-ACK.
    pub(super) fn send_handshake(&mut self, now: Time) {
        if let Some(handshake) = &self.handshake {
            let echo = self.receiver.echo();
            let segment = handshake.segment(&self.local, &self.receiver, echo, now);
            self.outbox.push(Sent::plain(segment));
        }
    }

    /// A segment without data.
    pub(super) fn segment(&self, now: Time, header: &Header, flags: Flags) -> Segment {
        let next = self.sender.leaves_next();
        let seq = next.unwrap_or(self.local.iss + 1);
        Segment {
            seq,
            ack: header.ack,
            flags: Flags(flags.0 | if header.ece { Flags::ECE.0 } else { 0 }),
            window: header.window,
            timestamps: self.timestamps.then(|| {
                let estimator = self.settings.timers.estimator;
                let stamp = estimator.stamp(&self.clock, now);
                self.local.timestamps(stamp, header.echo)
            }),
            sack: header.sack,
            ect: header.ect,
            ..Segment::default()
        }
    }

    /// Sends an acknowledgement (`tcp_send_ack`).
    pub(super) fn send_ack(&mut self, now: Time, header: Header) {
        let segment = self.segment(now, &header, Flags::ACK);
        self.outbox.push(Sent::plain(segment));
    }

    /// Fetches what the sender has to send; returns how many segments are new.
    pub(super) fn pump(&mut self, now: Time) -> u32 {
        let mut new = 0;
        while let Some(transmit) = self
            .sender
            .get_mut()
            .and_then(|sender| sender.poll_transmit(now))
        {
            let is_data = !transmit.range.is_empty() || transmit.fin;
            new += u32::from(is_data && transmit.mechanism.is_none());
            self.send(now, &transmit);
        }
        new
    }

    /// Fetches what a timer or a packet's leaving made the sender send; new segments may mean that a waiting writer's buffer
    /// grows (`tcp_event_new_data_sent`).
    pub(super) fn pump_and_look(&mut self, now: Time) {
        let sent = self.pump(now);
        if sent > 0 {
            self.check_space(sent, 0);
        }
    }

    /// Sends what the sender wants sent, with the acknowledgement of the moment (`__tcp_transmit_skb`). A packet of several
    /// segments leaves the host's filter or its device cut into them (`tcp_tso_segment`): flags that end something go with
    /// the last, and with it what counts in the host.
    pub(super) fn send(&mut self, now: Time, transmit: &Transmit) {
        let header = self.receiver.header();
        let plain = self.segment(now, &header, Flags::ACK);
        let mut left = transmit.range.len();
        if left > 0 {
            self.receiver.data_sent(now);
        }
        let mss = self
            .sender
            .get()
            .map_or(left, |sender| sender.flight().mss());
        let mut seq = transmit.range.start;
        loop {
            let len = left.min(mss);
            left -= len;
            let last = left == 0;
            let mut flags = plain.flags.0;
            if transmit.cwr && seq == transmit.range.start {
                flags |= Flags::CWR.0;
            }
            if transmit.psh && last {
                flags |= Flags::PSH.0;
            }
            if transmit.fin && last {
                flags |= Flags::FIN.0;
            }
            self.outbox.push(Sent {
                segment: Segment {
                    seq,
                    len,
                    flags: Flags(flags),
                    ect: transmit.ect || plain.ect,
                    pages: self.pages.count(seq, len),
                    buffer: transmit.buffer.filter(|_| transmit.range.len() <= mss),
                    ..plain
                },
                mechanism: transmit.mechanism,
                probe: transmit.probe,
                in_host_bytes: if last { transmit.in_host_bytes } else { 0 },
            });
            seq += len;
            if last {
                break;
            }
        }
    }
}
