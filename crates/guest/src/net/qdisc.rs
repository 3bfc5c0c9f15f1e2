//! Queueing disciplines and filters, told to the kernel through rtnetlink (linux/pkt_sched.h, linux/pkt_cls.h).
//!
//! Ours, and not tc's: since iproute2 6.9 that gives netem its delay in an attribute alone that kernels before 4.15 do not
//! read, so that links there would have none.

use std::fs;

use anyhow::{anyhow, bail, Context, Result};
use nix::sys::socket::SockProtocol;
use rexmit_plan::{Link, LossBursts, Qdisc};

use super::changes::Changes;
use crate::interfaces;
use crate::netlink::{self, attribute, text, Message, Socket, NESTED};

const TC_H_ROOT: u32 = 0xffff_ffff;
const TC_H_INGRESS: u32 = 0xffff_fff1;
/// The number of the queueing discipline of what enters an interface.
const INGRESS: u32 = 0xffff_0000;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_NETEM_REORDER: u16 = 3;
const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const NETEM_LOSS_GE: u16 = 2;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_CTAB: u16 = 3;
const TCA_HTB_RTAB: u16 = 4;
const TC_LINKLAYER_ETHERNET: u8 = 1;
const TCA_U32_SEL: u16 = 5;
const TCA_U32_ACT: u16 = 7;
const TC_U32_TERMINAL: u8 = 1;
/// The first, and only, of a filter's actions.
const FIRST_ACTION: u16 = 1;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_MIRRED_PARMS: u16 = 2;
const TCA_EGRESS_REDIR: i32 = 1;
const TC_ACT_STOLEN: i32 = 4;

/// A request, and what it is for.
#[derive(Debug)]
pub struct Request {
    what: String,
    kind: u16,
    flags: i32,
    device: String,
    handle: u32,
    parent: u32,
    info: u32,
    options: Options,
}

/// What stands in a request's attributes.
#[derive(Debug)]
enum Options {
    None,
    /// One direction of a link, but for its rate.
    Netem(Link, Option<u64>),
    Htb,
    /// The class of an htb with so many bytes a second.
    Class(u32),
    Ingress,
    /// One of this kind, as it is where nothing is set.
    Plain(&'static str),
    /// Everything to the interface of that name.
    Redirect(String),
}

/// Takes the queueing discipline of what leaves `device` away.
pub fn none(device: &str) -> Request {
    Request {
        kind: libc::RTM_DELQDISC,
        flags: 0,
        ..request(
            format!("no queue at {device}"),
            device,
            TC_H_ROOT,
            Options::None,
        )
    }
}

impl Request {
    /// The same of a discipline that is there already: only what it does changes.
    #[must_use]
    pub fn changed(mut self) -> Self {
        self.flags = 0;
        self
    }
}

/// Where a queueing discipline stands.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At the interface's queue itself, as number 1.
    Root,
    /// Below the class or discipline of these numbers, as number 16.
    Below(u16, u16),
}

/// A netem at the interface's queue that delays all that leaves `device` by `delay_ns`, and does nothing else.
pub fn delay(device: &str, delay_ns: u64) -> Request {
    let link = Link {
        delay_ns,
        queue_packets: 1_000_000,
        ..Link::default()
    };
    netem(device, Place::Root, None, &link)
}

/// The netem that does to what leaves `device` what `link` does, but for its rate, in the stead of which is `rate_bps`.
pub fn netem(device: &str, place: Place, rate_bps: Option<u64>, link: &Link) -> Request {
    let (major, parent) = match place {
        Place::Root => (1, TC_H_ROOT),
        Place::Below(major, minor) => (0x10, u32::from(major) << 16 | u32::from(minor)),
    };
    let options = Options::Netem(link.clone(), rate_bps);
    Request {
        handle: major << 16,
        ..request(format!("a netem at {device}"), device, parent, options)
    }
}

/// An htb at the interface's queue, whose class 1 takes what no other does.
pub fn htb(device: &str) -> Request {
    Request {
        handle: 5 << 16,
        ..request(
            format!("an htb at {device}"),
            device,
            TC_H_ROOT,
            Options::Htb,
        )
    }
}

/// The class 1 of an [`htb`], with `rate_bps` in bits a second and a burst of 15 KiB.
pub fn class(device: &str, rate_bps: u64) -> Result<Request> {
    let bytes = u32::try_from(rate_bps / 8);
    let bytes = bytes.with_context(|| format!("{rate_bps} bit/s are too many for an htb"))?;
    Ok(Request {
        kind: libc::RTM_NEWTCLASS,
        handle: 5 << 16 | 1,
        ..request(
            format!("a class of an htb at {device}"),
            device,
            5 << 16,
            Options::Class(bytes.max(1)),
        )
    })
}

/// What queues packets of a host at `device`.
pub fn of_host(device: &str, qdisc: Qdisc) -> Request {
    let kind = qdisc.as_str();
    request(
        format!("a queueing discipline {kind} at {device}"),
        device,
        TC_H_ROOT,
        Options::Plain(kind),
    )
}

/// All that enters `from` leaves by `to`.
///
/// By a u32 filter that every packet matches: matchall came with Linux 4.8.
pub fn redirect(from: &str, to: &str) -> [Request; 2] {
    let anything = u32::from((libc::ETH_P_ALL as u16).to_be());
    [
        Request {
            handle: INGRESS,
            ..request(
                format!("an ingress queue at {from}"),
                from,
                TC_H_INGRESS,
                Options::Ingress,
            )
        },
        Request {
            kind: libc::RTM_NEWTFILTER,
            info: anything,
            ..request(
                format!("a filter u32 with action mirred at {from}"),
                from,
                INGRESS,
                Options::Redirect(to.to_owned()),
            )
        },
    ]
}

fn request(what: String, device: &str, parent: u32, options: Options) -> Request {
    Request {
        what,
        kind: libc::RTM_NEWQDISC,
        flags: libc::NLM_F_CREATE | libc::NLM_F_EXCL,
        device: device.to_owned(),
        handle: 0,
        parent,
        info: 0,
        options,
    }
}

/// The kind of the queueing discipline at an interface of the calling thread's namespace.
pub fn kind_here(device: &str) -> Result<String> {
    let mut message = Vec::new();
    let index = Changes::default().index(device)?;
    // Without an echo the answer goes to those alone who listen to changes (`rtnetlink_send`).
    Message::begin(&mut message, libc::RTM_GETQDISC, libc::NLM_F_ECHO)
        .body(&header(index, 0, TC_H_ROOT, 0))
        .end();
    let answer = Socket::open(SockProtocol::NetlinkRoute)?.ask(&message)?;
    let body = answer.with_context(|| format!("the queue at {device}"))?;
    let mut parts = netlink::attributes(body.get(20..).unwrap_or_default());
    let (_, kind) = parts
        .find(|(kind, _)| *kind == TCA_KIND)
        .ok_or_else(|| anyhow!("the kernel does not say what queues at {device}"))?;
    Ok(String::from_utf8_lossy(kind)
        .trim_end_matches('\0')
        .to_owned())
}

/// `struct tcmsg`.
fn header(device: u32, handle: u32, parent: u32, info: u32) -> Vec<u8> {
    let words = [0, device, handle, parent, info];
    words.into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// What queueing disciplines count time in, as the kernel tells (`psched_show`).
#[derive(Clone, Copy)]
struct Clock {
    /// Nanoseconds of a tick.
    tick_ns: u64,
    /// How often in a second it can look.
    per_second: u32,
}

impl Clock {
    fn of_kernel() -> Result<Self> {
        let path = interfaces::of_this_thread("net/psched");
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        let word = |n| {
            text.split_whitespace()
                .nth(n)
                .and_then(|word| u32::from_str_radix(word, 16).ok())
        };
        // Microseconds in `ticks` ticks, as 1000ths of the second word.
        match (word(0), word(1), word(3)) {
            (Some(1000), Some(tick), Some(per_second)) if tick > 0 && per_second > 0 => Ok(Self {
                tick_ns: tick.into(),
                per_second,
            }),
            _ => bail!("{path} has no length of a tick: {text:?}"),
        }
    }

    /// Ticks that sending so many bytes takes at `rate` bytes a second, to whole microseconds as tc has it.
    fn of_bytes(self, bytes: u32, rate: u32) -> u32 {
        let micros = u64::from(bytes) * 1_000_000 / u64::from(rate);
        u32::try_from(micros * 1000 / self.tick_ns).unwrap_or(u32::MAX)
    }
}

impl Changes {
    /// Adds all of `requests`.
    pub fn queues(&mut self, requests: &[Request]) -> Result<()> {
        let clock = Clock::of_kernel()?;
        requests
            .iter()
            .try_for_each(|request| request.add_to(self, clock))
    }
}

impl Request {
    /// How long it delays packets, of a netem.
    #[cfg(test)]
    pub fn delay_ns(&self) -> Option<u64> {
        match self.options {
            Options::Netem(ref link, _) => Some(link.delay_ns),
            _ => None,
        }
    }

    /// Adds the request, as the kernel reads it.
    fn add_to(&self, changes: &mut Changes, clock: Clock) -> Result<()> {
        let device = changes.index(&self.device)?;
        let options = self.options(changes, clock)?;
        let mut message = changes
            .add(self.what.clone(), self.kind, self.flags)
            .body(&header(device, self.handle, self.parent, self.info));
        if let Some((kind, options)) = options {
            message = message.body(&text(TCA_KIND, kind));
            if !options.is_empty() {
                message = message.attribute(TCA_OPTIONS, &options);
            }
        }
        message.end();
        Ok(())
    }

    /// What kind of thing is asked for, if any, and what it is to do.
    fn options(&self, changes: &mut Changes, clock: Clock) -> Result<Option<(&str, Vec<u8>)>> {
        Ok(Some(match &self.options {
            Options::None => return Ok(None),
            Options::Htb => {
                // struct tc_htb_glob: version, what makes quanta of rates, the class, two that the kernel sets.
                let mut options = Vec::new();
                add_words(&mut options, TCA_HTB_INIT, &[3, 10, 1, 0, 0]);
                ("htb", options)
            }
            Options::Class(rate) => ("htb", class_options(*rate, clock)),
            Options::Ingress => ("ingress", Vec::new()),
            Options::Plain(kind) => (kind, Vec::new()),
            Options::Redirect(to) => ("u32", everything_to(changes.index(to)?)),
            Options::Netem(link, rate_bps) => ("netem", netem_options(link, *rate_bps, clock)?),
        }))
    }
}

fn netem_options(link: &Link, rate_bps: Option<u64>, clock: Clock) -> Result<Vec<u8>> {
    let words = [
        ticks(link.delay_ns, clock.tick_ns)?,
        link.queue_packets,
        share(link.loss),
        // Gap: of every packet is drawn whether it goes on at once.
        u32::from(link.reorder > 0.0),
        0, // Nothing is duplicated.
        ticks(link.jitter_ns, clock.tick_ns)?,
    ];
    let mut options: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    if link.reorder > 0.0 {
        add_words(&mut options, TCA_NETEM_REORDER, &[share(link.reorder), 0]);
    }
    if let Some(bursts) = link.loss_bursts {
        let LossBursts {
            to_bad,
            to_good,
            when_bad,
            when_good,
        } = bursts;
        // struct tc_netem_gemodel: p, r, h (what passes in the bad state), 1 - k.
        let model = [to_bad, to_good, 1.0 - when_bad, when_good].map(share);
        let mut nested = Vec::new();
        add_words(&mut nested, NETEM_LOSS_GE, &model);
        netlink::add_attribute(&mut options, TCA_NETEM_LOSS | NESTED, &nested);
    }
    if let Some(rate_bps) = rate_bps {
        add_rate(&mut options, rate_bps)?;
    }
    Ok(options)
}

/// Options of a class of an htb that sends `rate` bytes a second and no more, as tc reckons them: with tables of what
/// packets of each size take, which kernels before 3.8 look up.
fn class_options(rate: u32, clock: Clock) -> Vec<u8> {
    const BURST: u32 = 15 << 10;
    const LARGEST: u32 = 1600;
    /// Sizes of the tables are so many times 2.
    const CELL_LOG: u8 = 3;
    // struct tc_ratespec: cells, the link layer, no overhead, no smallest size; the rate.
    let mut spec = vec![CELL_LOG, TC_LINKLAYER_ETHERNET, 0, 0, 0xff, 0xff, 0, 0];
    spec.extend(rate.to_ne_bytes());
    // struct tc_htb_opt: rate and ceiling, what may go at once of either, three that the kernel sets.
    let at_once = rate / clock.per_second + LARGEST;
    let bursts = [BURST, at_once].map(|bytes| clock.of_bytes(bytes, rate));
    let mut options = [spec.clone(), spec].concat();
    let words = [bursts[0], bursts[1], 0, 0, 0];
    options.extend(words.into_iter().flat_map(u32::to_ne_bytes));
    let mut all = attribute(TCA_HTB_PARMS, &options);
    let table: Vec<u32> = (1..=256)
        .map(|cells| clock.of_bytes(cells << CELL_LOG, rate))
        .collect();
    for kind in [TCA_HTB_RTAB, TCA_HTB_CTAB] {
        add_words(&mut all, kind, &table);
    }
    all
}

/// A probability as a share of 2³².
fn share(of_one: f64) -> u32 {
    (of_one * f64::from(u32::MAX)).round() as u32
}

fn add_words(options: &mut Vec<u8>, kind: u16, words: &[u32]) {
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    netlink::add_attribute(options, kind, &words);
}

/// To the nearest microsecond, as tc knows nothing finer, in whole ticks.
///
/// In 32 bits, enough for four minutes: an attribute with more came with Linux 4.15.
fn ticks(nanos: u64, tick_ns: u64) -> Result<u32> {
    let micros = (nanos + 500) / 1000;
    u32::try_from(micros * 1000 / tick_ns)
        .map_err(|_| anyhow!("a delay of {micros} µs is too long for netem"))
}

/// `struct tc_netem_rate`: bytes a second, and nothing for headers or cells.
fn add_rate(options: &mut Vec<u8>, bits: u64) -> Result<()> {
    if interfaces::kernel() < (3, 3) {
        bail!("netem has a rate since Linux 3.3");
    }
    let bytes = bits / 8;
    let short = u32::try_from(bytes).unwrap_or(u32::MAX);
    add_words(options, TCA_NETEM_RATE, &[short, 0, 0, 0]);
    if u64::from(short) < bytes {
        if interfaces::kernel() < (3, 14) {
            bail!("a rate of {bits} bit/s is too high for netem before Linux 3.14");
        }
        netlink::add_attribute(options, TCA_NETEM_RATE64, &bytes.to_ne_bytes());
    }
    Ok(())
}

/// Options of a u32 filter that hands everything to interface `device`.
fn everything_to(device: u32) -> Vec<u8> {
    // struct tc_mirred: an action's number, its capabilities, what becomes of the packet here, two counts, where it goes.
    let mut mirred = vec![0; 8];
    mirred.extend(TC_ACT_STOLEN.to_ne_bytes());
    mirred.extend([0; 8]);
    mirred.extend(TCA_EGRESS_REDIR.to_ne_bytes());
    mirred.extend(device.to_ne_bytes());
    let mut parameters = Vec::new();
    netlink::add_attribute(&mut parameters, TCA_MIRRED_PARMS, &mirred);
    let mut action = Vec::new();
    netlink::add_attribute(&mut action, TCA_ACT_KIND, b"mirred\0");
    netlink::add_attribute(&mut action, TCA_ACT_OPTIONS, &parameters);
    let mut actions = Vec::new();
    netlink::add_attribute(&mut actions, FIRST_ACTION, &action);
    // struct tc_u32_sel with one key of 16 bytes, all zero: no bit of a packet's first word is looked at.
    let mut selector = vec![0; 16 + 16];
    (selector[0], selector[2]) = (TC_U32_TERMINAL, 1);
    let mut options = Vec::new();
    netlink::add_attribute(&mut options, TCA_U32_ACT, &actions);
    netlink::add_attribute(&mut options, TCA_U32_SEL, &selector);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        Link {
            rate_bps: 7_200_000,
            delay_ns: 25_000_000,
            jitter_ns: 1_000_000,
            loss: 0.01,
            queue_packets: 1000,
            ..Link::default()
        }
    }

    const CLOCK: Clock = Clock {
        tick_ns: 64,
        per_second: 1_000_000_000,
    };

    fn options(request: &Request) -> Vec<u8> {
        let found = request.options(&mut Changes::default(), CLOCK);
        found.unwrap().unwrap().1
    }

    /// As tc of iproute2 6.1 writes it (strace).
    #[test]
    fn a_netem_is_told_as_tc_tells_it() {
        let request = netem("lo", Place::Root, Some(7_200_000), &link());
        let mut want: Vec<u8> = Vec::new();
        want.extend(b"\xe1\xf5\x05\x00\xe8\x03\x00\x00\x29\x5c\x8f\x02\x00\x00\x00\x00\x00\x00\x00\x00\x09\x3d\x00\x00");
        want.extend(
            b"\x14\x00\x06\x00\xa0\xbb\x0d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
        );
        assert_eq!(options(&request), want);
        assert_eq!((request.handle, request.parent), (0x1_0000, TC_H_ROOT));
    }

    /// The same of `loss gemodel 1% 25% 90% 0.1% reorder 5% gap 1`.
    #[test]
    fn bursts_and_reordering_are_told_as_tc_tells_them() {
        let bursts = LossBursts {
            to_bad: 0.01,
            to_good: 0.25,
            when_bad: 0.9,
            when_good: 0.001,
        };
        let link = Link {
            loss: 0.0,
            reorder: 0.05,
            loss_bursts: Some(bursts),
            ..link()
        };
        let options = options(&netem("lo", Place::Root, None, &link));
        assert_eq!(netlink::u32_at(&options, 8), Some(0), "no loss besides");
        assert_eq!(netlink::u32_at(&options, 12), Some(1), "the gap");
        let want =
            b"\x0c\x00\x03\x00\xcd\xcc\xcc\x0c\x00\x00\x00\x00\x18\x00\x05\x80\x14\x00\x02\x00\
            \x29\x5c\x8f\x02\x00\x00\x00\x40\x99\x99\x99\x19\x37\x89\x41\x00";
        assert_eq!(options[24..], want[..]);
    }

    /// The same of `htb rate 7200000bit burst 15k`.
    #[test]
    fn a_class_is_told_as_tc_tells_it() {
        let want = b"\x30\x00\x01\x00\x03\x01\x00\x00\xff\xff\x00\x00\xa0\xbb\x0d\x00\x03\x01\x00\x00\xff\xff\x00\x00\
            \xa0\xbb\x0d\x00\xa0\x11\x04\x00\x75\x6c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
            \x04\x04\x04\x00\x7d\x00\x00\x00\x09\x01\x00\x00\x96\x01\x00\x00\x22\x02\x00\x00";
        let options = options(&class("lo", 7_200_000).unwrap());
        assert_eq!(options[..want.len()], want[..]);
        assert_eq!(options.len(), 48 + 2 * 1028);
    }

    #[test]
    fn a_filter_is_told_as_tc_tells_it() {
        let want = b"\x38\x00\x07\x00\x34\x00\x01\x00\x0b\x00\x01\x00mirred\x00\x00\x24\x00\x02\x00\x20\x00\x02\x00\
            \x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\
            \x24\x00\x05\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
            \x00\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(everything_to(7), want);
    }

    #[test]
    fn times_are_whole_microseconds_in_whole_ticks() {
        assert_eq!(ticks(24_999_400, 64).unwrap(), 390_609);
        assert_eq!(ticks(499, 64).unwrap(), 0);
        assert!(ticks(300_000_000_000, 64).is_err());
        let mut options = Vec::new();
        add_rate(&mut options, 40_000_000_000).unwrap();
        assert_eq!(netlink::u32_at(&options, 4), Some(u32::MAX));
        assert_eq!(
            options[20..],
            [12, 0, 8, 0, 0, 0xf2, 5, 0x2a, 1, 0, 0, 0],
            "5,000,000,000"
        );
    }
}
