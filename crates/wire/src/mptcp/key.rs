//! What follows from a host's key.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The protocol's versions, which hash keys differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// RFC 6824: SHA-1.
    V0,
    /// RFC 8684: SHA-256.
    V1,
}

impl Version {
    /// The version of this number in an MP_CAPABLE; `None` for any but 0 and 1.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Version::V0),
            1 => Some(Version::V1),
            _ => None,
        }
    }
}

/// What a host's key stands for on the wire (RFC 8684 §3.2 and §3.1; RFC 6824 alike).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Names the connection in the MP_JOIN that the other side sends.
    pub token: u32,
    /// The host's initial data sequence number: its first byte of data has the one after it.
    pub idsn: u64,
}

impl Identity {
    /// Of the host with this key: the first 32 and the last 64 bits of the key's hash.
    #[must_use]
    pub fn of(key: u64, version: Version) -> Self {
        let key = key.to_be_bytes();
        match version {
            Version::V0 => Self::ends(&Sha1::digest(key)),
            Version::V1 => Self::ends(&Sha256::digest(key)),
        }
    }

    fn ends(hash: &[u8]) -> Self {
        let (mut token, mut idsn) = (0, 0);
        for byte in hash.iter().take(4) {
            token = token << 8 | u32::from(*byte);
        }
        // Of 20 or 32 bytes the last eight stay.
        for byte in hash {
            idsn = idsn << 8 | u64::from(*byte);
        }
        Identity { token, idsn }
    }
}
