//! Tables, chains, sets and rules of nf_tables, told to the kernel through netlink (linux/netfilter/nf_tables.h).

use anyhow::Result;
use nix::sys::socket::SockProtocol;

use super::{Sent, NFNL_SUBSYS_NFTABLES, NFPROTO_INET};
use crate::netlink::{attribute, text, Batch, Message, Socket, NESTED};

pub const NFNL_MSG_BATCH_BEGIN: u16 = 0x10;
pub const NFNL_MSG_BATCH_END: u16 = 0x11;
const NFTA_TABLE_NAME: u16 = 1;
const NFTA_CHAIN_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_CHAIN_TYPE: u16 = 7;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_HOOK_PRIORITY: u16 = 2;
const NFTA_SET_TABLE: u16 = 1;
const NFTA_SET_NAME: u16 = 2;
const NFTA_SET_FLAGS: u16 = 3;
const NFTA_SET_KEY_LEN: u16 = 5;
const NFTA_SET_DESC: u16 = 9;
const NFTA_SET_ID: u16 = 10;
const NFTA_RULE_TABLE: u16 = 1;
const NFTA_RULE_CHAIN: u16 = 2;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
pub const NFTA_LIST_ELEM: u16 = 1;
const NFTA_EXPR_NAME: u16 = 1;
pub const NFTA_EXPR_DATA: u16 = 2;
pub const NFTA_DATA_VALUE: u16 = 1;
const NFTA_DATA_VERDICT: u16 = 2;
const NFTA_VERDICT_CODE: u16 = 1;
const NFTA_META_DREG: u16 = 1;
const NFTA_META_KEY: u16 = 2;
const NFTA_CMP_SREG: u16 = 1;
const NFTA_CMP_OP: u16 = 2;
const NFTA_CMP_DATA: u16 = 3;
const NFTA_PAYLOAD_DREG: u16 = 1;
const NFTA_PAYLOAD_BASE: u16 = 2;
const NFTA_PAYLOAD_OFFSET: u16 = 3;
const NFTA_PAYLOAD_LEN: u16 = 4;
const NFTA_BITWISE_SREG: u16 = 1;
const NFTA_BITWISE_DREG: u16 = 2;
const NFTA_BITWISE_LEN: u16 = 3;
const NFTA_BITWISE_MASK: u16 = 4;
const NFTA_BITWISE_XOR: u16 = 5;
const NFTA_BYTEORDER_SREG: u16 = 1;
const NFTA_BYTEORDER_DREG: u16 = 2;
const NFTA_BYTEORDER_OP: u16 = 3;
const NFTA_BYTEORDER_LEN: u16 = 4;
const NFTA_BYTEORDER_SIZE: u16 = 5;
const NFTA_LOOKUP_SET: u16 = 1;
const NFTA_LOOKUP_SREG: u16 = 2;
const NFTA_LOOKUP_FLAGS: u16 = 5;
const NFTA_DYNSET_SET_NAME: u16 = 1;
const NFTA_DYNSET_OP: u16 = 3;
const NFTA_DYNSET_SREG_KEY: u16 = 4;
const NFTA_IMMEDIATE_DREG: u16 = 1;
const NFTA_IMMEDIATE_DATA: u16 = 2;
const NFTA_QUEUE_NUM: u16 = 1;
const NFTA_QUEUE_TOTAL: u16 = 2;

pub const TABLE: &str = "rexmit";
const CHAIN: &str = "sent";
/// Where a name of an interface ends (`IFNAMSIZ`).
const NAME_BYTES: usize = 16;

/// Changes of the table that this program has.
pub struct Rules(Batch);

/// A set of ports and sequence numbers of TCP.
pub struct Set<'a> {
    pub name: &'a str,
    /// Its number among the sets of a batch.
    pub number: u32,
    pub flags: i32,
    pub described: Vec<u8>,
    /// Further attributes.
    pub more: Vec<u8>,
}

impl Rules {
    /// A table with a chain of what hosts send.
    pub fn new() -> Self {
        let mut rules = Self(Batch::default());
        rules.edge(NFNL_MSG_BATCH_BEGIN);
        let create = libc::NLM_F_CREATE;
        let table = rules.add("a table", libc::NFT_MSG_NEWTABLE, create);
        table.body(&text(NFTA_TABLE_NAME, TABLE)).end();
        // Priority 0.
        let mut hook = word(NFTA_HOOK_HOOKNUM, libc::NF_INET_LOCAL_OUT);
        hook.extend(word(NFTA_HOOK_PRIORITY, 0));
        rules
            .add("a chain at what is sent", libc::NFT_MSG_NEWCHAIN, create)
            .body(&text(NFTA_CHAIN_TABLE, TABLE))
            .body(&text(NFTA_CHAIN_NAME, CHAIN))
            .attribute(NFTA_CHAIN_HOOK | NESTED, &hook)
            .body(&text(NFTA_CHAIN_TYPE, "filter"))
            .end();
        rules
    }

    /// Adds a set.
    pub fn set(&mut self, set: &Set<'_>) {
        let flags = libc::NLM_F_CREATE;
        self.add("a set", libc::NFT_MSG_NEWSET, flags)
            .body(&text(NFTA_SET_TABLE, TABLE))
            .body(&text(NFTA_SET_NAME, set.name))
            .body(&word(NFTA_SET_FLAGS, set.flags))
            .body(&word(NFTA_SET_KEY_LEN, 8))
            .body(&word(NFTA_SET_ID, set.number as i32))
            .attribute(NFTA_SET_DESC | NESTED, &set.described)
            .body(&set.more)
            .end();
    }

    /// Adds a rule behind the others: what packets of TCP it looks at that leave otherwise than over the loopback, and what
    /// it does with them.
    pub fn rule(&mut self, sent: Sent, then: &[Vec<u8>]) {
        let mut name = [0; NAME_BYTES];
        name[..2].copy_from_slice(b"lo");
        let (at, port) = match sent {
            Sent::From(port) => (0, port),
            Sent::To(port) => (2, port),
        };
        let tcp = [libc::IPPROTO_TCP as u8];
        let head = [
            meta(libc::NFT_META_OIFNAME),
            compare(libc::NFT_CMP_NEQ, &name),
            meta(libc::NFT_META_L4PROTO),
            compare(libc::NFT_CMP_EQ, &tcp),
            of_tcp(libc::NFT_REG_1, at, 2),
            compare(libc::NFT_CMP_EQ, &port.to_be_bytes()),
        ];
        let all = [&head, then].concat().concat();
        let flags = libc::NLM_F_CREATE | libc::NLM_F_APPEND;
        self.add("a rule", libc::NFT_MSG_NEWRULE, flags)
            .body(&text(NFTA_RULE_TABLE, TABLE))
            .body(&text(NFTA_RULE_CHAIN, CHAIN))
            .attribute(NFTA_RULE_EXPRESSIONS | NESTED, &all)
            .end();
    }

    /// Has the kernel of the calling thread's namespace take all of it, or nothing.
    pub fn carry_out(mut self) -> Result<()> {
        self.0.ask();
        self.edge(NFNL_MSG_BATCH_END);
        Socket::open(SockProtocol::NetlinkNetFilter)?.carry_out(&self.0)
    }

    fn add(&mut self, what: &str, kind: i32, flags: i32) -> Message<'_> {
        let kind = NFNL_SUBSYS_NFTABLES << 8 | kind as u16;
        let message = self.0.add(format!("{what} of nf_tables"), kind, flags);
        message.body(&[NFPROTO_INET, 0, 0, 0])
    }

    fn edge(&mut self, kind: u16) {
        edge(self.0.add("a batch of nf_tables".to_owned(), kind, 0));
    }
}

/// One of the two ends of a batch of changes (nfnetlink(7)).
pub fn edge(message: Message<'_>) {
    let [high, low] = NFNL_SUBSYS_NFTABLES.to_be_bytes();
    message.body(&[libc::AF_UNSPEC as u8, 0, high, low]).end();
}

/// An attribute that is a number: in the order of the network.
pub fn word(kind: u16, value: i32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

/// Puts what is known of a packet into the first register.
pub fn meta(key: i32) -> Vec<u8> {
    let to = word(NFTA_META_DREG, libc::NFT_REG_1);
    expression("meta", &[to, word(NFTA_META_KEY, key)])
}

/// Puts bytes of the header of TCP into a register.
pub fn of_tcp(register: i32, at: i32, bytes: i32) -> Vec<u8> {
    let base = word(NFTA_PAYLOAD_BASE, libc::NFT_PAYLOAD_TRANSPORT_HEADER);
    let (offset, length) = (word(NFTA_PAYLOAD_OFFSET, at), word(NFTA_PAYLOAD_LEN, bytes));
    let to = word(NFTA_PAYLOAD_DREG, register);
    expression("payload", &[to, base, offset, length])
}

/// Goes on where the first register compares so.
pub fn compare(how: i32, with: &[u8]) -> Vec<u8> {
    let (register, how) = (word(NFTA_CMP_SREG, libc::NFT_REG_1), word(NFTA_CMP_OP, how));
    expression("cmp", &[register, how, value(NFTA_CMP_DATA, with)])
}

/// Keeps of the first register's byte what `mask` has.
pub fn mask(mask: u8) -> Vec<u8> {
    let registers = [
        word(NFTA_BITWISE_SREG, libc::NFT_REG_1),
        word(NFTA_BITWISE_DREG, libc::NFT_REG_1),
    ];
    let rest = [
        word(NFTA_BITWISE_LEN, 1),
        value(NFTA_BITWISE_MASK, &[mask]),
        value(NFTA_BITWISE_XOR, &[0]),
    ];
    expression("bitwise", &[registers.concat(), rest.concat()])
}

/// Puts the first register's number into the order of the network, in which numbers compare.
pub fn in_order() -> Vec<u8> {
    let words = [
        (NFTA_BYTEORDER_SREG, libc::NFT_REG_1),
        (NFTA_BYTEORDER_DREG, libc::NFT_REG_1),
        (NFTA_BYTEORDER_OP, libc::NFT_BYTEORDER_HTON),
        (NFTA_BYTEORDER_LEN, 4),
        (NFTA_BYTEORDER_SIZE, 4),
    ];
    expression("byteorder", &words.map(|(kind, number)| word(kind, number)))
}

/// Goes on where the set has what begins in the first register, or where it has not.
pub fn is_in(set: &str, has: bool) -> Vec<u8> {
    let register = word(NFTA_LOOKUP_SREG, libc::NFT_REG_1);
    let flags = if has { 0 } else { libc::NFT_LOOKUP_F_INV };
    let flags = word(NFTA_LOOKUP_FLAGS, flags);
    expression("lookup", &[text(NFTA_LOOKUP_SET, set), register, flags])
}

/// Adds what begins in the first register to a set.
pub fn remember(set: &str) -> Vec<u8> {
    let op = word(NFTA_DYNSET_OP, libc::NFT_DYNSET_OP_ADD);
    let key = word(NFTA_DYNSET_SREG_KEY, libc::NFT_REG_1);
    expression("dynset", &[text(NFTA_DYNSET_SET_NAME, set), op, key])
}

/// Lets the packet pass.
pub fn accept() -> Vec<u8> {
    let verdict = word(NFTA_VERDICT_CODE, libc::NF_ACCEPT);
    let verdict = attribute(NFTA_DATA_VERDICT | NESTED, &verdict);
    let to = word(NFTA_IMMEDIATE_DREG, libc::NFT_REG_VERDICT);
    let data = attribute(NFTA_IMMEDIATE_DATA | NESTED, &verdict);
    expression("immediate", &[to, data])
}

/// Sends the packet to a queue.
pub fn queue(number: u16) -> Vec<u8> {
    let number = attribute(NFTA_QUEUE_NUM, &number.to_be_bytes());
    let total = attribute(NFTA_QUEUE_TOTAL, &1_u16.to_be_bytes());
    expression("queue", &[number, total])
}

/// What a rule does or looks at, with no more to say where `words` are none.
pub fn expression(name: &str, words: &[Vec<u8>]) -> Vec<u8> {
    attribute(NFTA_LIST_ELEM | NESTED, &named(name, words))
}

/// The same without what makes it one of a list.
pub fn named(name: &str, words: &[Vec<u8>]) -> Vec<u8> {
    let mut inside = text(NFTA_EXPR_NAME, name);
    inside.extend(attribute(NFTA_EXPR_DATA | NESTED, &words.concat()));
    inside
}

fn value(kind: u16, bytes: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, &attribute(NFTA_DATA_VALUE, bytes))
}
