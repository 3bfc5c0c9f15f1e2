//! The numbers of segments as they were on the wire, as far as a list tells them.

use core::net::IpAddr;
use std::collections::BTreeMap;

use super::columns;
use super::line::{Covered, Ip, Opt, Segment, Style};
use crate::{Flags, FlowKey};

/// Connections that are remembered; with more, all are forgotten.
const MOST: usize = 1 << 18;

/// Bytes of an Ethernet header, and of a frame that is padded to the shortest.
const ETHERNET: u32 = 14;
const PADDED: u32 = 60;

/// What is known of each connection.
#[derive(Default)]
pub(super) struct Flows {
    each: BTreeMap<FlowKey, Flow>,
    /// Whether the numbers of tcpdump are those on the wire (`-S`), once a line shows it.
    is_absolute: Option<bool>,
    /// Windows that did not fit into their field.
    pub wide: u64,
    /// Connections whose first segment has no SYN.
    pub midway: u64,
    pub connections: u64,
}

/// A connection: each array has the direction first whose key is the smaller one.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// What relative numbers of tcpdump count from, once it knows the connection.
    base: Option<[u32; 2]>,
    /// What those of columns count from.
    first: u32,
    /// The number behind the last one that was sent.
    next: [Option<u32>; 2],
    ack: [Option<u32>; 2],
    window: [u16; 2],
    /// The window scale of a SYN; within it none where the SYN has none.
    scale: [Option<Option<u8>>; 2],
    /// Windows are printed as they are in the header, not scaled.
    is_unscaled: bool,
    /// Bytes of a frame in front of its IP header.
    link: Option<u32>,
    /// What was sent last is not known: a packet was left out.
    is_vague: [bool; 2],
    /// What a line without options is given of them.
    stamps: [Option<(u32, u32)>; 2],
    has_data: bool,
    has_ended: bool,
}

/// What a header has.
pub(super) struct Numbers {
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub options: Vec<Opt>,
}

/// How far `to` lies from `from`, either way.
fn distance(from: u32, to: u32) -> u32 {
    let ahead = to.wrapping_sub(from);
    ahead.min(ahead.wrapping_neg())
}

fn is_after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) > 0
}

/// The connection's name, and the direction.
fn sorted(key: FlowKey) -> (FlowKey, usize) {
    let reversed = key.reversed();
    if reversed < key {
        (reversed, 1)
    } else {
        (key, 0)
    }
}

impl Flows {
    /// The numbers of a segment.
    pub fn segment(&mut self, key: FlowKey, segment: &Segment) -> Numbers {
        let (name, me) = sorted(key);
        if !self.each.contains_key(&name) {
            if self.each.len() >= MOST {
                self.each.clear();
            }
            self.connections += 1;
            let is_relative = segment.style != Style::Absolute;
            self.midway += u64::from(is_relative && !segment.flags.syn());
        }
        let flow = self.each.entry(name).or_default();
        let (seq, ack) = match segment.style {
            Style::Tcpdump => counted(flow, me, segment, &mut self.is_absolute),
            Style::Columns => {
                flow.renew(segment);
                let from = |number: u32| number.wrapping_add(flow.first);
                (from(segment.seq.unwrap_or(0)), segment.ack.map_or(0, from))
            }
            Style::Absolute => (segment.seq.unwrap_or(0), segment.ack.unwrap_or(0)),
        };
        let options = flow.options(me, segment, ack, self.is_absolute);
        let window = flow.window(me, segment);
        self.wide += u64::from(window.is_none());
        let window = window.unwrap_or(u16::MAX);
        let numbers = Numbers {
            seq,
            ack,
            window,
            options,
        };
        flow.note(me, segment, &numbers, key.src.is_ipv4());
        numbers
    }

    /// The connection of a line that has no numbers, and what they must be; none where it may be one of several.
    pub fn covered(
        &mut self,
        src: IpAddr,
        dst: IpAddr,
        covered: &Covered<'_>,
    ) -> Option<(FlowKey, Segment, Numbers)> {
        let (key, me) = self.only(src, dst, covered.protocol)?;
        let (name, _) = sorted(key);
        let flow = self.each.get_mut(&name)?;
        let stamps = if flow.stamps[me].is_some() { 12 } else { 0 };
        let headers = if key.src.is_ipv4() { 40 } else { 60 } + stamps;
        let around = flow.link.unwrap_or(ETHERNET) + headers;
        // Short frames are padded, and how much of one is payload is not known.
        let is_padded = covered.frame == PADDED && around < PADDED;
        if is_padded || !covered.is_next || flow.is_vague[me] {
            flow.is_vague[me] = true;
            return None;
        }
        let payload_len = covered.frame.checked_sub(around)?;
        let (seq, ack) = (flow.next[me]?, flow.next[1 - me]);
        let mut options = Vec::new();
        if let Some((value, echo)) = flow.stamps[me] {
            options.extend([Opt::Nop, Opt::Nop, Opt::Stamps(value, echo)]);
        }
        let segment = Segment {
            style: Style::Columns,
            flags: Flags(Flags::PSH.0 | Flags::ACK.0),
            seq: Some(seq),
            ack,
            window: None,
            urgent: 0,
            payload_len,
            options: Vec::new(),
            ip: Ip::default(),
            frame: None,
            is_reuse: false,
        };
        let numbers = Numbers {
            seq,
            ack: flow.ack[me].or(ack)?,
            window: flow.window[me],
            options,
        };
        flow.note(me, &segment, &numbers, key.src.is_ipv4());
        Some((key, segment, numbers))
    }

    /// The only connection between two hosts that a protocol can be of. Where there are several, what was sent last is not
    /// known of any.
    fn only(&mut self, src: IpAddr, dst: IpAddr, protocol: &str) -> Option<(FlowKey, usize)> {
        /// Connections between two hosts that are looked at.
        const LOOKED_AT: usize = 256;
        let ports = |src_port, dst_port| FlowKey {
            src,
            dst,
            src_port,
            dst_port,
        };
        let usual = columns::usual_port(protocol).filter(|&port| port > 0);
        let (low, high) = (ports(0, 0), ports(u16::MAX, u16::MAX));
        let is_reversed = src > dst;
        let range = if is_reversed {
            low.reversed()..=high.reversed()
        } else {
            low..=high
        };
        let me = usize::from(is_reversed);
        let mut all = Vec::new();
        for (name, flow) in self.each.range_mut(range).take(LOOKED_AT + 1) {
            let is_usual = usual.is_some_and(|port| [name.src_port, name.dst_port].contains(&port));
            all.push((*name, is_usual, flow));
        }
        let one = |which: &dyn Fn(&(FlowKey, bool, &mut Flow)) -> bool| {
            let mut found = all.iter().filter(|one| which(one));
            match (found.next(), found.next()) {
                (Some((name, ..)), None) => Some(*name),
                _ => None,
            }
        };
        let name = one(&|_| true)
            .or_else(|| one(&|(.., flow)| !flow.has_ended))
            .or_else(|| one(&|(_, is_usual, flow)| *is_usual && !flow.has_ended));
        // Of a host's packets to itself the direction is not told.
        let name = name.filter(|_| all.len() <= LOOKED_AT && src != dst);
        if name.is_none() {
            all.iter_mut().for_each(|(.., flow)| {
                flow.is_vague[me] = true;
                flow.is_vague[1 - me] |= src == dst;
            });
        }
        name.map(|name| (if is_reversed { name.reversed() } else { name }, me))
    }
}

/// The numbers of a line of tcpdump, which counts as `tcp_print` does (print-tcp.c): from those of the first segment with
/// ACK, and of each SYN-ACK.
fn counted(
    flow: &mut Flow,
    me: usize,
    segment: &Segment,
    is_absolute: &mut Option<bool>,
) -> (u32, u32) {
    /// Numbers below it are no random ones: the list begins within the connection.
    const SMALL: u32 = 1 << 20;
    let peer = 1 - me;
    if segment.flags.syn() {
        flow.next[me] = None;
    }
    let Some(ack) = segment.ack else {
        // Printed as it is on the wire; where that is not known of the others, it is the next one.
        let near = |seq: u32| flow.next[me].filter(|&next| distance(seq, next) >= 1 << 30);
        let seq = segment.seq.map(|seq| near(seq).unwrap_or(seq));
        return (seq.or(flow.next[me]).unwrap_or(0), 0);
    };
    let base = match flow.base {
        Some(base) if !segment.flags.syn() => base,
        _ => {
            let is_small = ack < SMALL || segment.seq.is_some_and(|seq| seq < SMALL);
            let mut base = [0; 2];
            if segment.flags.syn() || !is_small {
                base[me] = segment.seq.or(flow.next[me]).unwrap_or(0);
                base[peer] = ack.wrapping_sub(1);
                flow.base = Some(base);
                return (base[me], ack);
            }
            flow.base = Some(base);
            base
        }
    };
    let counts = |number: u32, of: usize| number.wrapping_add(base[of]);
    let expected = flow.next[peer].or(flow.ack[me]).unwrap_or(base[peer]);
    let apart = (
        distance(counts(ack, peer), expected),
        distance(ack, expected),
    );
    if is_absolute.is_none() {
        const NEAR: u32 = 1 << 26;
        let (is_relative, is_plain) = match (apart.0 < NEAR, apart.1 < NEAR) {
            // The numbers of both are small ones.
            (true, true) => (apart.0 == 0, apart.1 == 0),
            other => other,
        };
        *is_absolute = (is_relative != is_plain).then_some(is_plain);
    }
    let whole = |number: u32, of: usize| match is_absolute {
        Some(true) => number,
        _ => counts(number, of),
    };
    let implied = || flow.next[me].or(flow.ack[peer]).unwrap_or(base[me]);
    let seq = segment.seq.map_or_else(implied, |seq| whole(seq, me));
    (seq, whole(ack, peer))
}

impl Flow {
    /// In columns a connection that takes up the ports of an older one counts from 0 again.
    fn renew(&mut self, segment: &Segment) {
        /// Far from the numbers of the connection before.
        const APART: u32 = 0x3779_7a1b;
        let is_first = segment.flags.syn() && !segment.flags.ack() && segment.seq == Some(0);
        if is_first && (segment.is_reuse || (self.has_ended && self.has_data)) {
            *self = Flow {
                first: self.first.wrapping_add(APART),
                ..Flow::default()
            };
        }
    }

    /// The options with blocks as they are on the wire.
    fn options(
        &self,
        me: usize,
        segment: &Segment,
        ack: u32,
        is_absolute: Option<bool>,
    ) -> Vec<Opt> {
        let from = match segment.style {
            Style::Tcpdump => self.base.map_or(0, |base| base[1 - me]),
            Style::Columns => self.first,
            Style::Absolute => 0,
        };
        let is_plain = |edge: u32, counted: u32| match (segment.style, is_absolute) {
            (Style::Columns | Style::Absolute, _) => false,
            (Style::Tcpdump, Some(is_absolute)) => is_absolute,
            (Style::Tcpdump, None) => distance(edge, ack) < distance(counted, ack),
        };
        let whole = |edge: u32| {
            let counted = edge.wrapping_add(from);
            if is_plain(edge, counted) {
                edge
            } else {
                counted
            }
        };
        let options = segment.options.iter().map(|&option| match option {
            Opt::Block(start, end) => Opt::Block(whole(start), whole(end)),
            other => other,
        });
        options.collect()
    }

    /// The window field; none where what is printed does not fit.
    fn window(&mut self, me: usize, segment: &Segment) -> Option<u16> {
        let window = segment.window.unwrap_or(u32::from(self.window[me]));
        let shift = match (segment.style, self.scale[me], self.scale[1 - me]) {
            (Style::Columns, Some(Some(shift)), None | Some(Some(_))) => u32::from(shift.min(14)),
            _ => 0,
        };
        if segment.flags.syn() || segment.window.is_none() || shift == 0 || self.is_unscaled {
            return u16::try_from(window).ok();
        }
        // Multiplied ones end in zeros: where one does not, none is.
        self.is_unscaled = window.trailing_zeros() < shift;
        let field = if self.is_unscaled {
            window
        } else {
            window >> shift
        };
        u16::try_from(field).ok()
    }

    /// Remembers a segment.
    fn note(&mut self, me: usize, segment: &Segment, numbers: &Numbers, is_v4: bool) {
        let (seq, ack, window) = (numbers.seq, numbers.ack, numbers.window);
        let flags = segment.flags;
        let len = segment.payload_len + u32::from(flags.syn()) + u32::from(flags.fin());
        let end = seq.wrapping_add(len);
        let is_next = self.next[me].is_none_or(|next| is_after(end, next));
        if is_next && !(flags.rst() && len == 0) {
            self.next[me] = Some(end);
        }
        if segment.seq.is_some() {
            self.is_vague[me] = false;
        }
        if flags.ack() {
            self.ack[me] = Some(ack);
            // What is acknowledged was sent, whether the list has it or not.
            if self.next[1 - me].is_some_and(|next| is_after(ack, next)) {
                self.next[1 - me] = Some(ack);
                self.is_vague[1 - me] = false;
            }
        }
        self.window[me] = window;
        if flags.syn() {
            let scale = segment.options.iter().find_map(|option| match option {
                Opt::Scale(shift) => Some(*shift),
                _ => None,
            });
            self.scale[me] = Some(scale);
        }
        let stamps = segment.options.iter().find_map(|option| match option {
            Opt::Stamps(value, echo) => Some((*value, *echo)),
            _ => None,
        });
        self.stamps[me] = stamps.or(self.stamps[me]);
        let blocks = segment
            .options
            .iter()
            .any(|option| matches!(option, Opt::Block(..)));
        if let Some(frame) = segment
            .frame
            .filter(|&frame| frame > PADDED && !flags.syn() && !blocks)
        {
            let stamps = if stamps.is_some() { 12 } else { 0 };
            let headers = if is_v4 { 40 } else { 60 } + stamps;
            self.link = frame.checked_sub(segment.payload_len + headers);
        }
        self.has_data |= segment.payload_len > 0;
        self.has_ended |= flags.fin() || flags.rst();
    }
}
