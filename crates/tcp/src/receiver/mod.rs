//! The receiving half of a connection: what is there, what is offered, and when it is acknowledged.
//!
//! Three generations of Linux (3.10, 6.1, 6.12), which differ in what they acknowledge at once, and a receiver as plain
//! as RFC 1122, 5681 and 2018 allow. [`Receiver::on_data`] takes in what came; the acknowledgements that are due at once
//! go to the caller's `acks` as [`Header`]s, in order; [`Receiver::header`] makes the acknowledgement part of any other
//! segment that leaves.
//!
//! Not modelled: urgent data, and 3.10's prequeue, which processes packets only
//! when the reader, blocked in `recv`, runs.

mod acknowledge;
mod collapse;
mod delay;
mod ecn;
mod input;
mod memory;
mod read;
mod reassembly;
mod rtt;
mod sack;
mod subflow;
mod window;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::segment::{SackList, Segment, Timestamps};
use crate::settings::{DelayedAck, Estimator, Settings, WindowShare};

use delay::{Delay, MOST_QUICK};
use ecn::EcnEcho;
use reassembly::Queues;
use rtt::{Rtt, Unit};
use sack::Sacks;
use window::ReceiveWindow;

pub(crate) use subflow::Arrived;
pub use subflow::Pool;
pub(crate) use window::{window_by_steps, Bounds};

pub(crate) use memory::{allocated, truesize, Buffer, DESCRIPTOR, SHARED_INFO};

/// The segment size below which a peer's segments tell nothing (`TCP_MSS_DEFAULT`).
const COMMON_MSS: u32 = 536;
/// `TCP_MIN_MSS`.
const LEAST_MSS: u32 = 88;
/// Of a TCP header without options.
const HEADER: u32 = 20;
/// The aligned timestamps option.
const TIMESTAMPS: u32 = 12;

/// What a receiver has to know of the sender on its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The timeout in ticks (`icsk_rto`).
    pub rto_ticks: i64,
}

/// The fields of an outgoing segment that are the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The acknowledgement number.
    pub ack: SeqNum,
    /// The window field.
    pub window: u16,
    /// The timestamp to echo.
    pub echo: u32,
    /// The SACK option.
    pub sack: SackList,
    /// A mark is told (ECE).
    pub ece: bool,
    /// The segment may be marked, whatever it carries (ECT).
    pub ect: bool,
}

/// What a segment brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// There is more to read.
    pub readable: bool,
    /// The peer's FIN came in order.
    pub fin: bool,
}

/// What was agreed on in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Windows are scaled.
    pub scaling: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// SACK.
    pub sack: bool,
    /// ECN.
    pub ecn: bool,
    /// The payload bytes of our own segments.
    pub segment: u32,
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: Arc<Settings>,
    /// The next number in order (`rcv_nxt`).
    next: SeqNum,
    /// The next number to be read (`copied_seq`).
    copied: SeqNum,
    fin: bool,
    sack: bool,
    timestamps: bool,
    echo: u32,
    /// The peer's segment size as it seems (`rcv_mss`).
    peer_mss: u32,
    /// The size of the segment before, if it was not a full one (`last_seg_size`).
    last_len: u32,
    queues: Queues,
    sacks: Sacks,
    window: ReceiveWindow,
    delay: Delay,
    ecn: Option<EcnEcho>,
    rtt: Rtt,
    subflow: Option<subflow::SubflowSide>,
    /// The reader found nothing and waits for data (`tp->ucopy`).
    reader_waits: bool,
    /// Up to here the reader took data itself as they came, and the window knows.
    taken_directly: Option<SeqNum>,
}

impl Receiver {
    /// A receiver before its handshake that announces segments of `mss` bytes. Its first window is a multiple of
    /// `quantum`; `clamp` bounds its windows; the field is scaled if `scaling`.
    #[must_use]
    pub fn new(
        settings: &Arc<Settings>,
        clock: Clock,
        mss: u32,
        quantum: u32,
        clamp: Option<u32>,
        scaling: bool,
    ) -> Self {
        let unit = match (settings.timers.estimator, settings.receiver.window_share) {
            (Estimator::LinuxTicks, _) => Unit::Ticks,
            (_, WindowShare::ScalingRatio) => Unit::MicrosLate,
            _ => Unit::Micros,
        };
        let late = matches!(
            settings.receiver.delayed_ack,
            DelayedAck::Linux6 | DelayedAck::Linux612
        );
        Receiver {
            next: SeqNum::default(),
            copied: SeqNum::default(),
            fin: false,
            sack: false,
            timestamps: false,
            echo: 0,
            peer_mss: COMMON_MSS,
            last_len: 0,
            queues: Queues::new(late),
            sacks: Sacks::default(),
            window: ReceiveWindow::new(settings, mss, quantum, clamp, scaling),
            delay: Delay::new(settings, clock),
            ecn: None,
            rtt: Rtt::new(unit, clock),
            subflow: None,
            reader_waits: false,
            taken_directly: None,
            settings: Arc::clone(settings),
        }
    }

    /// The window field of a SYN or SYN-ACK, which is not scaled.
    #[must_use]
    pub fn syn_window(&self) -> u16 {
        self.window.offered.min(65535) as u16
    }

    /// The window scale option.
    #[must_use]
    pub fn scale(&self) -> u8 {
        self.window.scale
    }

    /// The peer's SYN came; data begin at `first`. `echo` is its timestamp.
    pub fn synchronize(&mut self, first: SeqNum, echo: u32) {
        self.next = first;
        self.copied = first;
        self.window.offered_at = first;
        self.echo = echo;
    }

    /// The handshake is over.
    pub fn open(&mut self, now: Time, clock: &Clock, agreed: &Agreed) {
        if !agreed.scaling {
            self.window.do_not_scale();
        }
        self.sack = agreed.sack;
        let each = self.settings.congestion.congestion_control.needs_marks();
        self.ecn = agreed.ecn.then(|| EcnEcho::new(each, self.next));
        self.timestamps = agreed.timestamps;
        self.sacks.tell_duplicates = agreed.sack && self.settings.segments.dsack;
        let options = if agreed.timestamps { TIMESTAMPS } else { 0 };
        let mss = self.window.mss - options;
        // tcp_initialize_rcv_mss
        self.peer_mss = mss
            .min(agreed.segment)
            .min(self.window.offered / 2)
            .clamp(LEAST_MSS, COMMON_MSS);
        self.delay.last_data = clock.ticks(now);
        self.window.open(now, self.next, mss);
    }

    /// The timestamp to echo (`ts_recent`).
    #[must_use]
    pub fn echo(&self) -> u32 {
        self.echo
    }

    /// The timestamp of a segment that ends the handshake.
    pub fn remember(&mut self, timestamp: u32) {
        if timestamp.wrapping_sub(self.echo) as i32 >= 0 {
            self.echo = timestamp;
        }
    }

    /// The peer's FIN came where nothing is read any more.
    pub fn skip_fin(&mut self, timestamps: Option<Timestamps>) {
        self.next += 1;
        self.copied = self.next;
        if let Some(timestamps) = timestamps.filter(|_| self.timestamps) {
            self.echo = timestamps.value;
        }
    }

    /// Nothing more will be acknowledged.
    pub fn stop(&mut self) {
        self.delay.stop();
        self.queues.drop_out_of_order();
    }

    /// The next number in order.
    #[must_use]
    pub fn next(&self) -> SeqNum {
        self.next
    }

    /// Bytes in order that were not read.
    #[must_use]
    pub fn readable(&self) -> u32 {
        let waiting = self.next.offset_from(self.copied).max(0) as u32;
        // The FIN takes a number but is not read, except where its packet was.
        waiting - u32::from(self.fin && waiting > 0)
    }

    /// Whether the peer's FIN came in order.
    #[must_use]
    pub fn has_fin(&self) -> bool {
        self.fin
    }

    /// Whether a segment lies in the window or at its edges (`tcp_sequence`).
    #[must_use]
    pub fn accepts(&self, segment: &Segment) -> bool {
        !segment.end().is_before(self.window.offered_at)
            && !segment
                .seq
                .is_after(self.next + self.window.left(self.next))
    }

    /// Whether a reset with the number `seq` is to be believed (RFC 5961 §3.2, and what Linux adds to it).
    #[must_use]
    pub fn believes_reset(&self, seq: SeqNum) -> bool {
        seq == self.next || (self.sack && self.sacks.highest() == Some(seq))
    }

    /// Whether `value` is an older timestamp than data in order had (PAWS, RFC 7323 §5; `tcp_paws_check`). By how much.
    #[must_use]
    pub fn is_old(&self, segment: &Segment) -> Option<u32> {
        let value = segment.timestamps.filter(|_| self.timestamps)?.value;
        let behind = self.echo.wrapping_sub(value) as i32;
        (behind > 1 && self.echo != 0).then_some(behind as u32)
    }

    /// Remembers the timestamp of a segment that begins before what was acknowledged last (RFC 7323 §4.3;
    /// `tcp_replace_ts_recent`), and learns of the round-trip time; `clock` is the clock of our timestamps and `echo` what
    /// the segment echoes of it. One whose acknowledgement is not `current` is not remembered.
    pub fn on_timestamps(
        &mut self,
        segment: &Segment,
        clock: u32,
        echo: Option<u32>,
        current: bool,
    ) {
        let Some(timestamps) = segment.timestamps.filter(|_| self.timestamps) else {
            return;
        };
        let newer = timestamps.value.wrapping_sub(self.echo) as i32 >= 0;
        if current && newer && !segment.seq.is_after(self.window.offered_at) {
            self.echo = timestamps.value;
        }
        let full = segment.space() >= self.peer_mss;
        self.rtt.on_echo(clock, echo.unwrap_or(0), full);
    }

    /// The connection is half closed by the peer: the acknowledgement of its FIN may ride on ours.
    pub fn enter_interactive(&mut self) {
        self.delay.enter_interactive();
    }

    fn enter_quick(&mut self) {
        self.delay
            .enter_quick(MOST_QUICK, self.window.offered, self.peer_mss);
    }

    fn acknowledge_soon_and_quickly(&mut self) {
        self.enter_quick();
        self.delay.pending.scheduled = true;
        // A plain receiver knows no quick acknowledgements but this one.
        self.delay.pending.now |= self.settings.receiver.delayed_ack == DelayedAck::Rfc;
    }

    /// The window that could be offered.
    pub(crate) fn candidate_window(&mut self) -> u32 {
        let pool = self.pool();
        let (window, short) = self.window.candidate(&pool, self.peer_mss);
        if short {
            self.delay.no_quick();
        }
        window
    }

    /// The acknowledgement part of a segment that leaves now: it is taken as sent (`tcp_select_window`,
    /// `tcp_established_options`, `tcp_event_ack_sent`).
    pub fn header(&mut self) -> Header {
        let window = if self.subflow.is_some() {
            // The connection says, when it lays the packet out.
            self.window.acknowledge(self.next);
            0
        } else if self.delay.pending.no_memory {
            self.window.shut(self.next);
            0
        } else {
            let candidate = self.candidate_window();
            self.window.offer(self.next, candidate)
        };
        self.delay.ack_sent();
        let ece = self.ecn.is_some_and(|echo| echo.demands);
        header_of(self, self.next, window, ece)
    }

    /// A segment with data left, after its [`Self::header`] was made (`tcp_event_data_sent`).
    pub fn data_sent(&mut self, now: Time) {
        self.delay.data_sent(now);
    }

    /// When [`Self::on_deadline`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.delay.deadline()
    }

    /// Runs the timers that are due.
    pub fn on_deadline(&mut self, now: Time, sending: &Sending) -> Option<Header> {
        self.delay.on_deadline(now, sending).then(|| self.header())
    }
}

/// What acknowledges all before `next`. Nothing is taken as sent.
fn header_of(receiver: &mut Receiver, next: SeqNum, window: u16, ece: bool) -> Header {
    let most = receiver.most_sacks();
    let sack = if receiver.sack {
        receiver.sacks.tell(most)
    } else {
        SackList::default()
    };
    Header {
        ack: next,
        window,
        echo: receiver.echo,
        sack,
        ece,
        ect: receiver.ecn.is_some_and(|echo| echo.of_each),
    }
}
