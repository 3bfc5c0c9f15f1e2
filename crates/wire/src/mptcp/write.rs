//! Options as bytes.

use std::net::IpAddr;

use super::option::{AddAddr, Capable, DataNumber, Dss, Join, MptcpOption, KIND};
use super::read::flags;

impl MptcpOption<'_> {
    /// Appends the option, kind and length first. Nothing pads it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend([KIND, 0]);
        match *self {
            MptcpOption::Capable(capable) => write_capable(&capable, out),
            MptcpOption::Join(join) => write_join(&join, out),
            MptcpOption::Dss(dss) => write_dss(&dss, out),
            MptcpOption::AddAddr(add) => write_add_addr(&add, out),
            MptcpOption::RemoveAddr(ids) => {
                out.push(0x40);
                out.extend(ids);
            }
            MptcpOption::Prio { backup, address_id } => {
                out.push(0x50 | u8::from(backup));
                out.extend(address_id);
            }
            MptcpOption::Fail { data_seq } => {
                out.extend([0x60, 0]);
                out.extend(data_seq.to_be_bytes());
            }
            MptcpOption::FastClose { key } => {
                out.extend([0x70, 0]);
                out.extend(key.to_be_bytes());
            }
            MptcpOption::Reset { flags, reason } => out.extend([0x80 | (flags & 0xf), reason]),
            MptcpOption::Other { subtype, low, data } => {
                out.push(subtype << 4 | (low & 0xf));
                out.extend(data);
            }
        }
        let length = out.len() - begin;
        // Longer than an option can be, only an `Other` or a `RemoveAddr` is.
        out[begin + 1] = u8::try_from(length).unwrap_or(u8::MAX);
    }
}

fn write_capable(capable: &Capable, out: &mut Vec<u8>) {
    out.extend([capable.version & 0xf, capable.flags]);
    for key in [capable.sender_key, capable.receiver_key]
        .into_iter()
        .flatten()
    {
        out.extend(key.to_be_bytes());
    }
    for field in [capable.data_len, capable.checksum].into_iter().flatten() {
        out.extend(field.to_be_bytes());
    }
}

fn write_join(join: &Join, out: &mut Vec<u8>) {
    match *join {
        Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        } => {
            out.extend([0x10 | u8::from(backup), address_id]);
            out.extend(token.to_be_bytes());
            out.extend(nonce.to_be_bytes());
        }
        Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        } => {
            out.extend([0x10 | u8::from(backup), address_id]);
            out.extend(hmac.to_be_bytes());
            out.extend(nonce.to_be_bytes());
        }
        Join::Ack { hmac } => {
            out.extend([0x10, 0]);
            out.extend(hmac);
        }
    }
}

fn write_number(number: DataNumber, out: &mut Vec<u8>) {
    match number {
        DataNumber::Low(low) => out.extend(low.to_be_bytes()),
        DataNumber::Full(full) => out.extend(full.to_be_bytes()),
    }
}

fn write_dss(dss: &Dss, out: &mut Vec<u8>) {
    let full = |number: DataNumber| matches!(number, DataNumber::Full(_));
    let mut set = if dss.fin { flags::DATA_FIN } else { 0 };
    if let Some(ack) = dss.data_ack {
        set |= flags::DATA_ACK | if full(ack) { flags::DATA_ACK_FULL } else { 0 };
    }
    if let Some(mapping) = dss.mapping {
        let wide = full(mapping.data_seq);
        set |= flags::MAPPING | if wide { flags::DATA_SEQ_FULL } else { 0 };
    }
    out.extend([0x20, set]);
    if let Some(ack) = dss.data_ack {
        write_number(ack, out);
    }
    if let Some(mapping) = dss.mapping {
        write_number(mapping.data_seq, out);
        out.extend(mapping.subflow_seq.to_be_bytes());
        out.extend(mapping.len.to_be_bytes());
        out.extend(mapping.checksum.into_iter().flat_map(u16::to_be_bytes));
    }
}

fn write_add_addr(add: &AddAddr, out: &mut Vec<u8>) {
    let low = match (add.version, add.address) {
        (0, IpAddr::V4(_)) => 4,
        (0, IpAddr::V6(_)) => 6,
        _ => u8::from(add.echo),
    };
    out.extend([0x30 | low, add.address_id]);
    match add.address {
        IpAddr::V4(address) => out.extend(address.octets()),
        IpAddr::V6(address) => out.extend(address.octets()),
    }
    out.extend(add.port.into_iter().flat_map(u16::to_be_bytes));
    out.extend(add.hmac.into_iter().flat_map(u64::to_be_bytes));
}
