//! Multipath TCP's options as bytes: keys, tokens and numbers of a connection.

use rexmit_tcp::multipath::{Hello, PacketOptions};
use rexmit_tcp::settings::MptcpOptions;
use rexmit_tcp::Segment;
use rexmit_time::Stream;
use rexmit_wire::mptcp::{Capable, DataNumber, Dss, Identity, Join, Mapping, MptcpOption, Version};

/// Kind and length pad with this to whole words.
const NOP: u8 = 1;

/// The keys of both ends and what follows from them.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    form: MptcpOptions,
    /// The server's and the client's.
    keys: [u64; 2],
    identities: [Identity; 2],
}

impl Keys {
    /// Draws keys for a connection whose options are of this generation.
    pub fn draw(form: MptcpOptions, stream: &mut Stream) -> Self {
        let keys = [stream.next_u64(), stream.next_u64()];
        let version = match form {
            MptcpOptions::Rfc6824 => Version::V0,
            MptcpOptions::Rfc8684 => Version::V1,
        };
        Keys {
            form,
            keys,
            identities: keys.map(|key| Identity::of(key, version)),
        }
    }

    /// Appends the options of `segment`, which `from` (0 the server, 1 the client) sends on `path`; padded to whole words.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        from: usize,
        path: usize,
        segment: &Segment,
        options: &PacketOptions,
    ) {
        let begin = out.len();
        let (syn, ack) = (segment.flags.syn(), segment.flags.ack());
        match options.hello {
            Some(Hello::Capable) => {
                MptcpOption::Capable(self.capable(from, syn, ack, options)).write(out);
                if !syn && options.map.is_some() && self.form == MptcpOptions::Rfc6824 {
                    MptcpOption::Dss(self.dss(from, options)).write(out);
                }
            }
            Some(Hello::Join) => MptcpOption::Join(self.join(from, path, syn, ack)).write(out),
            None if options.ack.is_some() || options.map.is_some() => {
                MptcpOption::Dss(self.dss(from, options)).write(out);
            }
            None => {}
        }
        while (out.len() - begin) % 4 != 0 {
            out.push(NOP);
        }
    }

    fn capable(&self, from: usize, syn: bool, ack: bool, options: &PacketOptions) -> Capable {
        let newer = self.form == MptcpOptions::Rfc8684;
        let own = self.keys[from];
        let first = syn && !ack;
        Capable {
            version: u8::from(newer),
            // HMAC (H), and in version 0 checksums (A).
            flags: if newer { 0x01 } else { 0x81 },
            sender_key: (!first || !newer).then_some(own),
            receiver_key: (!syn).then_some(self.keys[1 - from]),
            data_len: options.map.filter(|_| newer).map(|map| map.len as u16),
            checksum: None,
        }
    }

    /// Who answers is told by its token; the message authentication codes are not worked out.
    fn join(&self, from: usize, path: usize, syn: bool, ack: bool) -> Join {
        let address_id = path as u8;
        let nonce = self.keys[from].rotate_left(path as u32) as u32;
        match (syn, ack) {
            (true, false) => Join::Syn {
                backup: false,
                address_id,
                token: self.identities[1 - from].token,
                nonce,
            },
            (true, true) => Join::SynAck {
                backup: false,
                address_id,
                hmac: 0,
                nonce,
            },
            _ => Join::Ack { hmac: [0; 20] },
        }
    }

    fn dss(&self, from: usize, options: &PacketOptions) -> Dss {
        let number = |side: usize, at: u64| self.identities[side].idsn.wrapping_add(1 + at);
        let newer = self.form == MptcpOptions::Rfc8684;
        Dss {
            fin: false,
            data_ack: options.ack.map(|ack| {
                let full = number(1 - from, ack.next);
                if ack.long {
                    DataNumber::Full(full)
                } else {
                    DataNumber::Low(full as u32)
                }
            }),
            mapping: options.map.map(|map| {
                let full = number(from, map.data);
                Mapping {
                    data_seq: if newer {
                        DataNumber::Full(full)
                    } else {
                        DataNumber::Low(full as u32)
                    },
                    subflow_seq: map.subflow,
                    len: map.len as u16,
                    // Not worked out over the data.
                    checksum: (!newer).then_some(0),
                }
            }),
        }
    }
}
