//! The TCP counters of a network namespace: `/proc/net/netstat` and `/proc/net/snmp`.

use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{anyhow, Context, Result};
use rexmit_plan::Counts;

use crate::interfaces;

/// Counters of one namespace at one instant; all count from the namespace's birth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// `TCPTimeouts`: retransmission timers that fired.
    pub timeouts: u64,
    /// `TCPSackFailures`, `TCPLossFailures` and their like: timers that fired in a state but Open, before Linux 5.0 instead
    /// of `TCPTimeouts`, since then besides.
    pub timeouts_in_recovery: u64,
    /// `TCPLossProbes`: tail loss probes.
    pub loss_probes: u64,
    /// `TCPFastRetrans`: retransmissions out of the queue in any state but Loss.
    pub fast_retrans: u64,
    /// `TCPSlowStartRetrans`: retransmissions out of the queue in state Loss.
    pub slow_start_retrans: u64,
    /// `TCPForwardRetrans`: retransmissions out of the queue of what was not taken for lost, until Linux 4.15.
    pub forward_retrans: u64,
    /// `TCPSackRecovery` and `TCPRenoRecovery`: times that Recovery was entered.
    pub recoveries: u64,
    /// `TCPDSACKRecv` and `TCPDSACKOfoRecv`: DSACK blocks received.
    pub dsacks: u64,
    /// `TCPSpuriousRtxHostQueues`: retransmissions refused because the original is still in the host.
    pub host_queue: u64,
    /// `TCPSynRetrans`: SYNs and SYN-ACKs sent again.
    pub syn_retrans: u64,
    /// `RetransSegs` of `/proc/net/snmp`: segments sent again, SYN-ACKs included.
    pub retrans_segs: u64,
    /// `MPTCPRetrans`: packets that Multipath TCP sent again at its own level.
    pub mptcp_retrans: u64,
    /// `ReinjectOnTLP`: those that tail loss probes caused; `None` where the kernel has no such counter
    /// (`kernel/patches`, mptcp-reinject-on-tlp).
    pub probe_reinjections: Option<u64>,
}

impl Counters {
    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Counts {
        Counts {
            retransmissions: (self.retrans_segs - before.retrans_segs)
                - (self.syn_retrans - before.syn_retrans),
            timeouts: self.timeouts - before.timeouts,
            probes: self.loss_probes - before.loss_probes,
            dsacks: self.dsacks - before.dsacks,
            host_queue: self.host_queue - before.host_queue,
        }
    }
}

/// Reads a namespace's counters again and again; made in a thread inside it.
pub struct Reader {
    netstat: File,
    snmp: File,
    buffer: Vec<u8>,
}

impl Reader {
    /// Counters of the calling thread's network namespace, also later from any other thread.
    pub fn open() -> Result<Self> {
        let open = |file: &str| {
            let path = interfaces::of_this_thread(&format!("net/{file}"));
            File::open(&path).with_context(|| path.clone())
        };
        Ok(Self {
            netstat: open("netstat")?,
            snmp: open("snmp")?,
            buffer: vec![0; 16 << 10],
        })
    }

    /// The counters now.
    pub fn read(&mut self) -> Result<Counters> {
        let mut counters = Counters::default();
        let slot = |counters: &mut Counters, name: &str, value: u64| match name {
            "TCPTimeouts" => counters.timeouts = value,
            "TCPSackFailures"
            | "TCPRenoFailures"
            | "TCPLossFailures"
            | "TCPSackRecoveryFail"
            | "TCPRenoRecoveryFail" => counters.timeouts_in_recovery += value,
            "TCPForwardRetrans" => counters.forward_retrans = value,
            "TCPLossProbes" => counters.loss_probes = value,
            "TCPFastRetrans" => counters.fast_retrans = value,
            "TCPSlowStartRetrans" => counters.slow_start_retrans = value,
            "TCPSackRecovery" | "TCPRenoRecovery" => counters.recoveries += value,
            "TCPDSACKRecv" | "TCPDSACKOfoRecv" => counters.dsacks += value,
            "TCPSpuriousRtxHostQueues" => counters.host_queue = value,
            "TCPSynRetrans" => counters.syn_retrans = value,
            "RetransSegs" => counters.retrans_segs = value,
            "MPTCPRetrans" => counters.mptcp_retrans = value,
            "ReinjectOnTLP" => counters.probe_reinjections = Some(value),
            _ => {}
        };
        for file in [&self.netstat, &self.snmp] {
            // The kernel makes such a file whole (`single_open`): what does not fill the buffer is all of it.
            let length = match file.read_at(&mut self.buffer, 0)? {
                all if all < self.buffer.len() => all,
                _ => fill(file, &mut self.buffer)?,
            };
            let text = std::str::from_utf8(&self.buffer[..length])?;
            for_each(text, |name, value| slot(&mut counters, name, value))?;
        }
        Ok(counters)
    }
}

pub(super) fn fill(file: &File, buffer: &mut Vec<u8>) -> Result<usize> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(2 * length, 0);
        }
        match file.read_at(&mut buffer[length..], length as u64)? {
            0 => return Ok(length),
            more => length += more,
        }
    }
}

/// Calls `each` for every counter of the lines of TCP and Multipath TCP: pairs of lines, names first, values below them.
fn for_each(text: &str, mut each: impl FnMut(&str, u64)) -> Result<()> {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        if !names.starts_with("Tcp") && !names.starts_with("MPTcp") {
            continue;
        }
        let mut values = values.split_ascii_whitespace().skip(1);
        for name in names.split_ascii_whitespace().skip(1) {
            let value = values
                .next()
                .ok_or_else(|| anyhow!("no value for {name}"))?;
            // MaxConn is -1; no counter that is read here is negative.
            if let Ok(value) = value.parse() {
                each(name, value);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_meet_their_values() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts TCPLossProbes\nTcpExt: 0 3 4\nIpExt: TCPTimeouts\nIpExt: 9\n\
                    Tcp: MaxConn RetransSegs\nTcp: -1 7\nMPTcpExt: MPTCPRetrans\nMPTcpExt: 5\n";
        let mut seen = Vec::new();
        for_each(text, |name, value| seen.push((name.to_owned(), value))).unwrap();
        let expected = [
            ("SyncookiesSent", 0),
            ("TCPTimeouts", 3),
            ("TCPLossProbes", 4),
            ("RetransSegs", 7),
            ("MPTCPRetrans", 5),
        ];
        assert_eq!(seen, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn a_missing_value_is_an_error() {
        assert!(for_each("Tcp: RetransSegs\nTcp:\n", |_, _| {}).is_err());
    }

    #[test]
    fn this_machine_has_them() {
        Reader::open().unwrap().read().unwrap();
    }
}
