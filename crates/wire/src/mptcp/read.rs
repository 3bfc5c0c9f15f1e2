//! Options from bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::option::{AddAddr, Capable, DataNumber, Dss, Join, Mapping, MptcpOption};

/// Takes numbers from the front of bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn number(&mut self, full: bool) -> Option<DataNumber> {
        if full {
            self.u64().map(DataNumber::Full)
        } else {
            self.u32().map(DataNumber::Low)
        }
    }

    /// What `read` makes of the rest, if nothing is left then.
    fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        read(&mut self).filter(|_| self.0.is_empty())
    }
}

impl<'a> MptcpOption<'a> {
    /// Reads an option from what follows its kind and length. `None` for one whose length none of its forms has.
    #[must_use]
    pub fn parse(data: &'a [u8]) -> Option<Self> {
        let (&first, rest) = data.split_first()?;
        let (subtype, low) = (first >> 4, first & 0xf);
        let fields = Fields(rest);
        match subtype {
            0 => capable(low, fields).map(MptcpOption::Capable),
            1 => join(low, fields).map(MptcpOption::Join),
            2 => dss(fields).map(MptcpOption::Dss),
            3 => add_addr(low, fields).map(MptcpOption::AddAddr),
            4 => (!rest.is_empty()).then_some(MptcpOption::RemoveAddr(rest)),
            5 => prio(low, rest),
            6 => fields.whole(|fields| {
                fields.u8()?;
                let data_seq = fields.u64()?;
                Some(MptcpOption::Fail { data_seq })
            }),
            7 => fields.whole(|fields| {
                fields.u8()?;
                let key = fields.u64()?;
                Some(MptcpOption::FastClose { key })
            }),
            8 => fields.whole(|fields| {
                let reason = fields.u8()?;
                Some(MptcpOption::Reset { flags: low, reason })
            }),
            subtype => Some(MptcpOption::Other {
                subtype,
                low,
                data: rest,
            }),
        }
    }
}

fn capable(version: u8, fields: Fields<'_>) -> Option<Capable> {
    // Kind, length and subtype are three of the option's bytes.
    let (keys, data_len, checksum) = match fields.0.len() + 3 {
        4 => (0, false, false),
        12 => (1, false, false),
        20 => (2, false, false),
        22 => (2, true, false),
        24 => (2, true, true),
        _ => return None,
    };
    fields.whole(|fields| {
        Some(Capable {
            version,
            flags: fields.u8()?,
            sender_key: if keys > 0 { Some(fields.u64()?) } else { None },
            receiver_key: if keys > 1 { Some(fields.u64()?) } else { None },
            data_len: if data_len { Some(fields.u16()?) } else { None },
            checksum: if checksum { Some(fields.u16()?) } else { None },
        })
    })
}

fn join(low: u8, fields: Fields<'_>) -> Option<Join> {
    let length = fields.0.len() + 3;
    fields.whole(|fields| {
        let address_id = fields.u8()?;
        let backup = low & 1 != 0;
        Some(match length {
            12 => Join::Syn {
                backup,
                address_id,
                token: fields.u32()?,
                nonce: fields.u32()?,
            },
            16 => Join::SynAck {
                backup,
                address_id,
                hmac: fields.u64()?,
                nonce: fields.u32()?,
            },
            24 => Join::Ack {
                hmac: fields.take()?,
            },
            _ => return None,
        })
    })
}

/// The flags' bits of a DSS.
pub(super) mod flags {
    pub const DATA_ACK: u8 = 0x01;
    pub const DATA_ACK_FULL: u8 = 0x02;
    pub const MAPPING: u8 = 0x04;
    pub const DATA_SEQ_FULL: u8 = 0x08;
    pub const DATA_FIN: u8 = 0x10;
}

fn dss(fields: Fields<'_>) -> Option<Dss> {
    fields.whole(|fields| {
        let set = fields.u8()?;
        let has = |flag: u8| set & flag != 0;
        let data_ack = if has(flags::DATA_ACK) {
            Some(fields.number(has(flags::DATA_ACK_FULL))?)
        } else {
            None
        };
        let mapping = if has(flags::MAPPING) {
            Some(Mapping {
                data_seq: fields.number(has(flags::DATA_SEQ_FULL))?,
                subflow_seq: fields.u32()?,
                len: fields.u16()?,
                // Whether there is one, only the length says.
                checksum: fields.u16(),
            })
        } else {
            None
        };
        Some(Dss {
            fin: has(flags::DATA_FIN),
            data_ack,
            mapping,
        })
    })
}

fn add_addr(low: u8, fields: Fields<'_>) -> Option<AddAddr> {
    // RFC 6824 has the IP version where RFC 8684 has the echo flag.
    let version = if matches!(low, 4 | 6) { 0 } else { 1 };
    let echo = version == 1 && low & 1 != 0;
    let authenticated = version == 1 && !echo;
    let rest = (fields.0.len()).checked_sub(1 + if authenticated { 8 } else { 0 })?;
    let (four, port) = match rest {
        4 => (true, false),
        6 => (true, true),
        16 => (false, false),
        18 => (false, true),
        _ => return None,
    };
    if version == 0 && four != (low == 4) {
        return None;
    }
    fields.whole(|fields| {
        let address_id = fields.u8()?;
        let address = if four {
            IpAddr::V4(Ipv4Addr::from(fields.take::<4>()?))
        } else {
            IpAddr::V6(Ipv6Addr::from(fields.take::<16>()?))
        };
        Some(AddAddr {
            version,
            echo,
            address_id,
            address,
            port: if port { Some(fields.u16()?) } else { None },
            hmac: if authenticated {
                Some(fields.u64()?)
            } else {
                None
            },
        })
    })
}

fn prio(low: u8, rest: &[u8]) -> Option<MptcpOption<'_>> {
    let backup = low & 1 != 0;
    match *rest {
        [] => Some(MptcpOption::Prio {
            backup,
            address_id: None,
        }),
        [id] => Some(MptcpOption::Prio {
            backup,
            address_id: Some(id),
        }),
        _ => None,
    }
}
