//! What a packet's options say of Multipath TCP.

use rexmit_wire::mptcp::{self, Capable, Dss, Join, MptcpOption};
use rexmit_wire::TcpPacket;
use serde::{Deserialize, Serialize};

/// What the Multipath TCP options of one packet say, as far as the analysis asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// MP_CAPABLE: a connection begins (RFC 8684 §3.1).
    pub capable: Option<Capable>,
    /// There is an MP_JOIN of any form (§3.2).
    pub joins: bool,
    /// The token of a SYN's MP_JOIN.
    pub token: Option<u32>,
    /// Data sequence signal (§3.3).
    pub dss: Option<Dss>,
    /// MP_FAIL: mappings do not hold any more (§3.7).
    pub failed: bool,
}

impl Signal {
    /// What the options of `packet` say.
    #[must_use]
    pub fn of(packet: &TcpPacket<'_>) -> Self {
        Signal::from_options(mptcp::options(packet))
    }

    /// What options say; of two of a kind, the last.
    #[must_use]
    pub fn from_options<'o>(options: impl Iterator<Item = MptcpOption<'o>>) -> Self {
        let mut signal = Signal::default();
        for option in options {
            match option {
                MptcpOption::Capable(capable) => signal.capable = Some(capable),
                MptcpOption::Join(join) => {
                    signal.joins = true;
                    if let Join::Syn { token, .. } = join {
                        signal.token = Some(token);
                    }
                }
                MptcpOption::Dss(dss) => signal.dss = Some(dss),
                MptcpOption::Fail { .. } => signal.failed = true,
                _ => {}
            }
        }
        signal
    }
}
