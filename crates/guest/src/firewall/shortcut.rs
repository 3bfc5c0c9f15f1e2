//! Packets that a queue's rule need not see: the kernel lets them pass and counts them (nf_tables).
//!
//! Each packet that goes through a queue costs several switches between kernel and program, and of most packets of a
//! response a rule knows beforehand that they pass ([`Quiet`]). They are named to the kernel by their connection's port and a
//! range of sequence numbers. Only what is sent for the first time passes: of what passed, numbers are remembered, and what
//! begins with one of them again goes through the queue.

use anyhow::{bail, Context, Result};
use nix::sys::socket::SockProtocol;
use rexmit_loss::Quiet;
use rexmit_wire::SeqNum;

use super::nftables::{
    self, Rules, Set, NFNL_MSG_BATCH_BEGIN, NFNL_MSG_BATCH_END, NFTA_DATA_VALUE, NFTA_EXPR_DATA,
    NFTA_LIST_ELEM, TABLE,
};
use super::{Sent, NFNL_SUBSYS_NFTABLES, NFPROTO_INET};
use crate::interfaces;
use crate::net::Namespace;
use crate::netlink::{self, attribute, text, Message, Socket, NESTED};

const NFT_MSG_NEWSETELEM: u16 = NFNL_SUBSYS_NFTABLES << 8 | 12;
const NFT_MSG_GETSETELEM: u16 = NFNL_SUBSYS_NFTABLES << 8 | 13;
const NFT_MSG_DELSETELEM: u16 = NFNL_SUBSYS_NFTABLES << 8 | 14;

const NFT_SET_CONCAT: i32 = 0x80;
const NFTA_SET_DESC_SIZE: u16 = 1;
const NFTA_SET_DESC_CONCAT: u16 = 2;
const NFTA_SET_FIELD_LEN: u16 = 1;
const NFTA_SET_EXPR: u16 = 17;

const NFTA_SET_ELEM_LIST_TABLE: u16 = 1;
const NFTA_SET_ELEM_LIST_SET: u16 = 2;
const NFTA_SET_ELEM_LIST_ELEMENTS: u16 = 3;
const NFTA_SET_ELEM_KEY: u16 = 1;
const NFTA_SET_ELEM_EXPR: u16 = 7;
const NFTA_SET_ELEM_KEY_END: u16 = 10;
const NFTA_COUNTER_BYTES: u16 = 1;
const NFTA_COUNTER_PACKETS: u16 = 2;

const QUIET: &str = "quiet";
const PASSED: &str = "passed";

/// Whether the kernel can: its sets have ranges of several fields since Linux 5.6, elements that inherit their set's
/// counter since 5.11, and counters without a module since 5.17.
pub fn is_known() -> bool {
    interfaces::has((5, 17))
}

/// Adds what stands before the rule that sends packets from `port` to a queue.
///
/// A packet of at most 100 bytes may be an acknowledgement alone, which has the number of the next data.
pub fn add_to(rules: &mut Rules, port: u16) {
    const HEADERS: u32 = 100;
    /// Where its flags stand in a header of TCP.
    const FLAGS: i32 = 13;
    const FIN_SYN_RST: u8 = 0x07;
    // The largest number of elements, of which the kernel makes its table.
    let size = nftables::word(NFTA_SET_DESC_SIZE, 65_535);
    let fields = [2, 4].map(|bytes| {
        let length = nftables::word(NFTA_SET_FIELD_LEN, bytes);
        attribute(NFTA_LIST_ELEM | NESTED, &length)
    });
    let fields = attribute(NFTA_SET_DESC_CONCAT | NESTED, &fields.concat());
    let counter = attribute(NFTA_SET_EXPR | NESTED, &nftables::named("counter", &[]));
    rules.set(&Set {
        name: PASSED,
        number: 1,
        flags: libc::NFT_SET_EVAL,
        described: size,
        more: Vec::new(),
    });
    rules.set(&Set {
        name: QUIET,
        number: 2,
        flags: libc::NFT_SET_INTERVAL | NFT_SET_CONCAT,
        described: fields,
        more: counter,
    });
    // The client's port, and the number behind it.
    let key = [
        nftables::of_tcp(libc::NFT_REG_1, 2, 2),
        nftables::of_tcp(libc::NFT_REG32_01, 4, 4),
    ]
    .concat();
    rules.rule(
        Sent::From(port),
        &[
            nftables::of_tcp(libc::NFT_REG_1, FLAGS, 1),
            nftables::mask(FIN_SYN_RST),
            nftables::compare(libc::NFT_CMP_EQ, &[0]),
            nftables::meta(libc::NFT_META_LEN),
            nftables::in_order(),
            nftables::compare(libc::NFT_CMP_GT, &HEADERS.to_be_bytes()),
            key.clone(),
            nftables::is_in(PASSED, false),
            key.clone(),
            nftables::is_in(QUIET, true),
            key,
            nftables::remember(PASSED),
            nftables::accept(),
        ],
    );
}

/// The kernel's sets, of the network namespace that this was opened in.
pub struct Shortcut {
    socket: Socket,
    /// What may pass now, and what of it is known to have passed: packets, and bytes with their headers.
    open: Option<(Quiet, [u64; 2])>,
    messages: Vec<u8>,
}

impl Shortcut {
    /// Where [rules](add_to) were added.
    pub fn of(host: &Namespace) -> Result<Self> {
        let socket = host.run(|| Socket::open(SockProtocol::NetlinkNetFilter))?;
        Ok(Self {
            socket,
            open: None,
            messages: Vec::new(),
        })
    }

    /// Whether anything may pass now.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Nothing more is asked of what may pass.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// From now on these packets pass, and no others.
    pub fn let_pass(&mut self, quiet: Quiet) -> Result<()> {
        self.messages.clear();
        let messages = &mut self.messages;
        nftables::edge(Message::begin(messages, NFNL_MSG_BATCH_BEGIN, 0));
        for set in [PASSED, QUIET] {
            elements(messages, NFT_MSG_DELSETELEM, set, 0).end();
        }
        let port = quiet.flow.dst_port;
        for (from, until) in ranges(quiet.from, quiet.until) {
            let mut element = Vec::new();
            for (kind, seq) in [(NFTA_SET_ELEM_KEY, from), (NFTA_SET_ELEM_KEY_END, until)] {
                let value = attribute(NFTA_DATA_VALUE, &key(port, seq));
                netlink::add_attribute(&mut element, kind | NESTED, &value);
            }
            elements(messages, NFT_MSG_NEWSETELEM, QUIET, libc::NLM_F_CREATE)
                .attribute(
                    NFTA_SET_ELEM_LIST_ELEMENTS | NESTED,
                    &attribute(NFTA_LIST_ELEM | NESTED, &element),
                )
                .end();
        }
        nftables::edge(Message::begin(messages, NFNL_MSG_BATCH_END, 0));
        // What is wrong with a batch is said, what is right is not; the question behind it is answered in any case.
        self.socket.send(&self.messages)?;
        self.open = Some((quiet, [0; 2]));
        match self.count()? {
            [0, 0] => Ok(()),
            _ => bail!("nf_tables: packets passed before they might"),
        }
    }

    /// What may pass, and what of it has passed since this was asked last: packets, and their bytes with headers.
    pub fn passed(&mut self) -> Result<Option<(Quiet, [u64; 2])>> {
        let Some((quiet, before)) = self.open else {
            return Ok(None);
        };
        let now = self.count()?;
        self.open = Some((quiet, now));
        Ok(Some((quiet, [0, 1].map(|of| now[of] - before[of]))))
    }

    /// What the elements of the set have counted.
    fn count(&mut self) -> Result<[u64; 2]> {
        self.messages.clear();
        let messages = &mut self.messages;
        elements(messages, NFT_MSG_GETSETELEM, QUIET, libc::NLM_F_DUMP).end();
        let mut sum = [0; 2];
        let add = |body: &[u8]| {
            for counted in counters(body) {
                sum = [0, 1].map(|of| sum[of] + counted[of]);
            }
        };
        let counted = self.socket.list(messages, &mut [0; 8192], add);
        counted.context("nf_tables")?;
        Ok(sum)
    }
}

/// A message about elements of a set.
fn elements<'a>(messages: &'a mut Vec<u8>, kind: u16, set: &str, flags: i32) -> Message<'a> {
    Message::begin(messages, kind, flags)
        .body(&[NFPROTO_INET, 0, 0, 0])
        .body(&text(NFTA_SET_ELEM_LIST_TABLE, TABLE))
        .body(&text(NFTA_SET_ELEM_LIST_SET, set))
}

/// Fields of a set begin at multiples of four bytes.
fn key(port: u16, seq: SeqNum) -> [u8; 8] {
    let mut key = [0; 8];
    key[..2].copy_from_slice(&port.to_be_bytes());
    key[4..].copy_from_slice(&seq.get().to_be_bytes());
    key
}

/// `from..=until` as ranges of numbers that do not wrap.
fn ranges(from: SeqNum, until: SeqNum) -> Vec<(SeqNum, SeqNum)> {
    if from.get() <= until.get() {
        return vec![(from, until)];
    }
    vec![(from, SeqNum::new(u32::MAX)), (SeqNum::new(0), until)]
}

/// Packets and bytes of each element in the body of a message.
fn counters(body: &[u8]) -> Vec<[u64; 2]> {
    let inside = |body, kind| {
        netlink::attributes(body).filter_map(move |(of, value)| (of == kind).then_some(value))
    };
    let number = |data, kind| {
        let value: Option<&[u8]> = inside(data, kind).next();
        value.and_then(|value| Some(u64::from_be_bytes(value.try_into().ok()?)))
    };
    inside(
        body.get(4..).unwrap_or_default(),
        NFTA_SET_ELEM_LIST_ELEMENTS,
    )
    .flat_map(|list| inside(list, NFTA_LIST_ELEM))
    .flat_map(|element| inside(element, NFTA_SET_ELEM_EXPR))
    .flat_map(|expression| inside(expression, NFTA_EXPR_DATA))
    .filter_map(|data| {
        Some([
            number(data, NFTA_COUNTER_PACKETS)?,
            number(data, NFTA_COUNTER_BYTES)?,
        ])
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_wrap_as_numbers_do() {
        let seq = SeqNum::new;
        assert_eq!(ranges(seq(5), seq(9)), [(seq(5), seq(9))]);
        let wrapped = ranges(seq(u32::MAX - 1), seq(9));
        assert_eq!(
            wrapped,
            [(seq(u32::MAX - 1), seq(u32::MAX)), (seq(0), seq(9))]
        );
    }

    #[test]
    fn counters_are_found_in_their_message() {
        let mut counter = attribute(NFTA_COUNTER_BYTES, &3_000_u64.to_be_bytes());
        netlink::add_attribute(&mut counter, NFTA_COUNTER_PACKETS, &2_u64.to_be_bytes());
        let mut expression = attribute(1, b"counter\0");
        netlink::add_attribute(&mut expression, NFTA_EXPR_DATA | NESTED, &counter);
        let element = attribute(NFTA_SET_ELEM_EXPR | NESTED, &expression);
        let mut list = attribute(NFTA_LIST_ELEM | NESTED, &element);
        netlink::add_attribute(&mut list, NFTA_LIST_ELEM | NESTED, &element);
        let mut body = vec![0; 4];
        netlink::add_attribute(&mut body, NFTA_SET_ELEM_LIST_ELEMENTS | NESTED, &list);
        assert_eq!(counters(&body), [[2, 3_000]; 2]);
        for cut in 0..body.len() {
            let _ = counters(&body[..cut]);
        }
    }
}
