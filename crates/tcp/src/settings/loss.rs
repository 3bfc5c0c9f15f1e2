//! How losses are found, and what is sent again first.

use super::reflect::group;
use super::value::choices;

group! {
    /// How losses are found, and what is sent again first.
    pub struct Loss {
        /// In what order an acknowledgement is worked through.
        pub ack_order: AckOrder = AckOrder::RecoveryFirst, "RFC 5681 §3.2, RFC 6675 §5: counting begins a recovery";
        /// Duplicate acknowledgements that make a loss (`tcp_reordering`).
        pub dupack_threshold: u32 = 3, "RFC 5681 §3.2, RFC 6675 §2: DupThresh = 3";
        /// The threshold adapts to reordering up to this.
        pub max_reordering: u32 = 3, "RFC 6675 §2: DupThresh is fixed";
        /// In what it is counted how far segments overtook each other.
        pub reordering_unit: ReorderingUnit = ReorderingUnit::Segments, "no effect unless SACKs tell of reordering";
        /// Every timeout lowers the threshold to its first value; else only one after many duplicates does.
        pub timeout_forgets_reordering: bool = true, "no effect unless the threshold adapts";
        /// What follows when an acknowledgement stops at a segment that was SACKed.
        pub reneging: Reneging = Reneging::Timeout, "what RFC 2018 §8 asks for at a timeout, at once";
        /// A D-SACK counts as many segments as it spans, and is doubted where more are reported than were sent again
        /// (`tcp_dsack_seen`); else each is believed, as of one segment.
        pub dsack_check: bool = false, "no effect unless a D-SACK undoes a reduction";
        /// A segment that was SACKed gives its round-trip time again, and counts as an original, when it is acknowledged.
        pub sacked_count_again: bool = true, "no effect without SACK, or where one segment is timed at a time";
        /// Forward acknowledgement (`tcp_fack` before 4.15).
        pub fack: bool = false, "off";
        /// RACK finds losses (`tcp_recovery` bit 0x1).
        pub rack: bool = false, "off";
        /// RACK's reordering window does not adapt to D-SACK (`tcp_recovery` bit 0x2).
        pub rack_static_reo_wnd: bool = false, "no effect without RACK";
        /// RACK does not act on three duplicate acknowledgements at once (`tcp_recovery` bit 0x4).
        pub rack_no_dupack_threshold: bool = false, "no effect without RACK";
        /// Duplicate acknowledgements let new data go before they make a loss (RFC 3042).
        pub limited_transmit: bool = false, "off";
        /// Early retransmit.
        pub early_retransmit: EarlyRetransmit = EarlyRetransmit::Off, "off";
        /// Tail loss probe.
        pub tlp: Tlp = Tlp::Off, "off";
        /// How long a probe waits.
        pub tlp_wait: TlpWait = TlpWait::SmallestTimeout, "no effect with tlp = draft, which waits as it says, or without probes";
        /// A probe's wait counts from when the last segment was sent, whatever was acknowledged since (FreeBSD's
        /// `rack_timer_start`, XNU's `tcp_output`).
        pub tlp_from_sending: bool = false, "RFC 8985 §7.2: from the last segment sent, and from each acknowledgement of new data";
        /// Probes are sent with a FIN in flight, too.
        pub tlp_with_fin: bool = true, "RFC 8985 §7.2: the last segment is probed, whatever it holds";
        /// A segment without data (a bare FIN) can be a probe.
        pub tlp_probes_bare_fin: bool = false, "no effect without probes";
        /// A segment that was a probe counts as sent again: its acknowledgement gives no round-trip time (since 3.14).
        pub tlp_marks_retransmission: bool = false, "no effect without probes";
        /// F-RTO (RFC 5682).
        pub frto: bool = false, "off";
        /// Which timeouts F-RTO tests, and how often.
        pub frto_test: FrtoTest = FrtoTest::EachAdvance, "no effect without F-RTO";
        /// A recovery starts when the head of the queue is older than a timeout (`tcp_head_timedout`, FACK only, before 3.16).
        pub head_timeout: bool = false, "off";
        /// Retransmissions of a recovery that were lost are found by FACK (`tcp_mark_lost_retrans`, before 4.4).
        pub fack_lost_retransmits: bool = false, "off";
        /// Below the highest SACK, segments not marked lost are sent again when no new data can be (before 4.11).
        pub forward_retransmit: bool = false, "off";
        /// What a timeout marks lost.
        pub timeout_marks: TimeoutMarks = TimeoutMarks::All, "RFC 5681 §3.1, RFC 6675 §5.1: all without SACK are sent again";
        /// A timeout forgets what was SACKed (`tcp_free_sackholes`).
        pub timeout_forgets_sacks: bool = false, "RFC 6675 §5.1: SACKs are kept";
    }

    rules(self) {
        vec![
            (
                (1..=10_000).contains(&self.dupack_threshold),
                "dupack_threshold must be 1 to 10000",
            ),
        ]
    }
}

choices! {
    /// In what order an acknowledgement is worked through (`tcp_ack`).
    pub enum AckOrder ("order of an acknowledgement") {
        /// 3.10: an acknowledgement is counted and begins a recovery, and then losses are marked; the window is set in between,
        /// the timer by what was acknowledged, and undo is asked for after F-RTO's test.
        RecoveryFirst = "recovery-first",
        /// 6.x: losses are marked, and begin a recovery; undo comes before F-RTO's test; at the end the timer is set, then the
        /// window, and then it is sent.
        LossesFirst = "losses-first",
    }
}

choices! {
    /// In what it is counted how far segments overtook each other.
    pub enum ReorderingUnit ("unit of reordering") {
        /// In segments as they were sent; any distance turns early retransmit off, one above the threshold FACK
        /// (`tcp_update_reordering`, before 4.19).
        Segments = "segments",
        /// In bytes, rounded up to full segments (`tcp_check_sack_reordering`).
        Bytes = "bytes",
    }
}

choices! {
    /// What follows when an acknowledgement stops at a segment that was SACKed: the receiver may have dropped it (RFC 2018 §8).
    pub enum Reneging ("reneging") {
        /// All SACKs are void, and the head is sent again as by a timeout.
        Timeout = "timeout",
        /// Later SACKs get time to put it right, and only then a timeout makes SACKs void.
        Wait = "wait",
    }
}

choices! {
    /// With few segments out, fewer duplicates make a loss: early retransmit (RFC 5827), as `tcp_early_retrans` 1 to 3 before
    /// 4.11, or the rule of UNC 2007.
    pub enum EarlyRetransmit ("early retransmit") {
        /// None.
        Off = "off",
        /// At once.
        Immediate = "immediate",
        /// After a quarter of the round-trip time.
        Delayed = "delayed",
        /// At max(1, min(3, F − 2)) duplicates with F segments out (UNC 2007, section V-D).
        Flight = "flight",
    }
}

choices! {
    /// Tail loss probe.
    pub enum Tlp ("tail loss probe") {
        /// None.
        Off = "off",
        /// As in Linux 3.10 (draft-dukkipati-tcpm-tcp-loss-probe-01).
        Draft = "draft",
        /// As in Linux 6.x (RFC 8985 §7).
        Rfc8985 = "rfc8985",
    }
}

choices! {
    /// How long a probe waits.
    pub enum TlpWait ("wait of a probe") {
        /// Two round trips and 2 ms; with one segment out, the smallest timeout in place of the 2 ms (Linux 6.x).
        SmallestTimeout = "smallest-timeout",
        /// The same with the longest delay of an acknowledgement in place of the smallest timeout (RFC 8985 §7.2).
        DelayedAck = "delayed-ack",
        /// Two round trips; with one segment out, 1.5 and the longest delay of an acknowledgement if that is more; at least
        /// 10 ms (draft-dukkipati-tcpm-tcp-loss-probe-01).
        Draft = "draft",
    }
}

choices! {
    /// Which timeouts F-RTO tests, and how often.
    pub enum FrtoTest ("test of F-RTO") {
        /// Those that reduce the threshold; each acknowledgement that advances lets new data go once more.
        EachAdvance = "each-advance",
        /// Those that no recovery came before; new data go once. Without SACK an acknowledgement that covers a retransmission
        /// proves no original.
        Once = "once",
    }
}

choices! {
    /// What a timeout marks lost.
    pub enum TimeoutMarks ("timeout marks") {
        /// All that is not SACKed; the window is then one segment.
        All = "all",
        /// The head and what RACK would (4.18); the window is then what is in flight and one.
        Rack = "rack",
    }
}
