//! The options as values.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::key::{Identity, Version};

/// The TCP option kind of Multipath TCP (RFC 8684 §9.1).
pub const KIND: u8 = 30;

/// One Multipath TCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption<'a> {
    /// MP_CAPABLE: a connection begins (§3.1).
    Capable(Capable),
    /// MP_JOIN: a subflow begins (§3.2).
    Join(Join),
    /// DSS: which data a subflow's bytes are, and which data arrived (§3.3).
    Dss(Dss),
    /// ADD_ADDR: a further address (§3.4.1).
    AddAddr(AddAddr),
    /// REMOVE_ADDR: addresses that are gone, by their ids (§3.4.2).
    RemoveAddr(&'a [u8]),
    /// MP_PRIO: the subflow's priority changes (§3.3.8).
    Prio {
        /// It is for backup from here on.
        backup: bool,
        /// The address that this is about, where it is not the subflow's own (version 0 alone).
        address_id: Option<u8>,
    },
    /// MP_FAIL: the mapping from this data sequence number on could not be used (§3.7).
    Fail {
        /// The data sequence number.
        data_seq: u64,
    },
    /// MP_FASTCLOSE: the whole connection is reset (§3.5).
    FastClose {
        /// The receiver's key.
        key: u64,
    },
    /// MP_TCPRST: why a subflow is reset (§3.6).
    Reset {
        /// The bits U, V, W and T, T lowest.
        flags: u8,
        /// The reason's number.
        reason: u8,
    },
    /// Any other subtype.
    Other {
        /// Its number.
        subtype: u8,
        /// The low half of the byte that has the subtype.
        low: u8,
        /// What follows that byte.
        data: &'a [u8],
    },
}

/// MP_CAPABLE (RFC 8684 §3.1, RFC 6824 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capable {
    /// The protocol's version: 0 or 1.
    pub version: u8,
    /// The bits A to H, H lowest.
    pub flags: u8,
    /// The sender's key. Version 1 leaves it out of the SYN.
    pub sender_key: Option<u64>,
    /// The receiver's key: of the third packet of the handshake, and in version 1 of the first with data.
    pub receiver_key: Option<u64>,
    /// How many bytes of data begin with this packet's, whose mapping this stands for (version 1).
    pub data_len: Option<u16>,
    /// That mapping's checksum.
    pub checksum: Option<u16>,
}

impl Capable {
    /// The data numbers of the sender and of the receiver, where their keys are there and the version is known.
    #[must_use]
    pub fn numbers(&self) -> [Option<Numbers>; 2] {
        let version = Version::of(self.version);
        [self.sender_key, self.receiver_key].map(|key| {
            let (key, version) = key.zip(version)?;
            Some(Numbers::after(Identity::of(key, version).idsn))
        })
    }
}

/// MP_JOIN, which has three forms (RFC 8684 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Of the SYN.
    Syn {
        /// The subflow is for backup.
        backup: bool,
        /// Of the sender's address.
        address_id: u8,
        /// The receiver's, for the connection.
        token: u32,
        /// A random number.
        nonce: u32,
    },
    /// Of the SYN-ACK.
    SynAck {
        /// The subflow is for backup.
        backup: bool,
        /// Of the sender's address.
        address_id: u8,
        /// The left 64 bits of the sender's message authentication code.
        hmac: u64,
        /// A random number.
        nonce: u32,
    },
    /// Of the third packet.
    Ack {
        /// The left 160 bits of the sender's message authentication code.
        hmac: [u8; 20],
    },
}

/// DSS, the data sequence signal (RFC 8684 §3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dss {
    /// DATA_FIN: the mapping's last number is the end of the data.
    pub fin: bool,
    /// The next byte of data that the sender awaits.
    pub data_ack: Option<DataNumber>,
    /// Which data the subflow's bytes are.
    pub mapping: Option<Mapping>,
}

/// A number of the data sequence, whole or its low half (RFC 8684 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataNumber {
    /// The low 32 bits.
    Low(u32),
    /// All 64 bits.
    Full(u64),
}

impl DataNumber {
    /// The whole number, of all that have its low half the one nearest to `reference`.
    #[must_use]
    pub const fn near(self, reference: u64) -> u64 {
        match self {
            DataNumber::Full(number) => number,
            DataNumber::Low(low) => {
                let offset = low.wrapping_sub(reference as u32) as i32;
                reference.wrapping_add_signed(offset as i64)
            }
        }
    }
}

/// A mapping of a subflow's bytes to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// The data sequence number of the first byte.
    pub data_seq: DataNumber,
    /// Its sequence number relative to the subflow's initial one: 1 is the first byte of data; 0 when the mapping is of a
    /// DATA_FIN alone.
    pub subflow_seq: u32,
    /// Bytes that it is for, a DATA_FIN among them as one; 0 for all that follow (§3.7).
    pub len: u16,
    /// Over mapping and data, where checksums are used.
    pub checksum: Option<u16>,
}

/// ADD_ADDR (RFC 8684 §3.4.1, RFC 6824 §3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddr {
    /// The protocol's version: the forms differ.
    pub version: u8,
    /// It says that the other's ADD_ADDR arrived (version 1).
    pub echo: bool,
    /// Its id.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, where it is not the connection's.
    pub port: Option<u16>,
    /// The right 64 bits of the sender's message authentication code (version 1, but for an echo).
    pub hmac: Option<u64>,
}

/// Numbers of one side's data, counted from its first byte, which is 0.
///
/// The other side's acknowledgements are such numbers, too. Low halves are read near the highest number seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    idsn: u64,
    highest: u64,
}

impl Numbers {
    /// Of a side with this initial data sequence number ([`Identity::idsn`](super::Identity::idsn)).
    #[must_use]
    pub const fn after(idsn: u64) -> Self {
        Numbers {
            idsn,
            highest: idsn.wrapping_add(1),
        }
    }

    /// How far behind the first byte of data `number` is; below 0 for one before it.
    pub fn place(&mut self, number: DataNumber) -> i64 {
        let full = number.near(self.highest);
        if full.wrapping_sub(self.highest) as i64 > 0 {
            self.highest = full;
        }
        full.wrapping_sub(self.idsn).wrapping_sub(1) as i64
    }
}
