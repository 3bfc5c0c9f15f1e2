//! The table `filter` of ip_tables or ip6_tables, as the program iptables would write it (linux/netfilter/x_tables.h,
//! linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h).

use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockProtocol, SockType};

use super::Sent;

/// `IPT_SO_GET_INFO` when asked, `IPT_SO_SET_REPLACE` when told; ip6_tables has the same.
const IPT_SO_BASE: libc::c_int = 64;

const TABLE: &[u8] = b"filter";
/// Bytes of a table's name.
const NAME_BYTES: usize = 32;
/// Bytes of `xt_entry_match` and `xt_entry_target`: their size, a name, a revision.
const HEAD_BYTES: usize = 32;
/// What sizes are multiples of.
const ALIGN: usize = 8;
/// Bytes of `xt_counters`.
const COUNTERS_BYTES: usize = 16;

/// Places in a packet's way, as the table numbers them.
const HOOKS: usize = 5;
const IN: usize = 1;
const FORWARD: usize = 2;
const OUT: usize = 3;

/// `-NF_ACCEPT - 1`.
const ACCEPT: i32 = -2;
const INV_VIA_OUT: u8 = 2;
const PROTO: u8 = 1;

/// An IP version, and where its entries have what.
#[derive(Clone, Copy)]
struct Version {
    family: AddressFamily,
    /// Of the options about its tables.
    level: libc::c_int,
    /// Bytes of an entry without matches and target.
    entry_bytes: usize,
    /// Where the name of the interface stands that packets leave by; 16 bytes, as its mask, 32 bytes on.
    out_at: usize,
    protocol_at: usize,
    /// Where it says that the protocol counts, if it has to be said.
    flags_at: Option<usize>,
    inverted_at: usize,
    /// Where the target's place stands, then that of the next entry.
    offsets_at: usize,
}

const IP: Version = Version {
    family: AddressFamily::Inet,
    level: libc::SOL_IP,
    entry_bytes: 112,
    out_at: 32,
    protocol_at: 80,
    flags_at: None,
    inverted_at: 83,
    offsets_at: 88,
};

const IP6: Version = Version {
    family: AddressFamily::Inet6,
    level: libc::SOL_IPV6,
    entry_bytes: 168,
    out_at: 80,
    protocol_at: 128,
    flags_at: Some(131),
    inverted_at: 132,
    offsets_at: 140,
};

/// Has packets of TCP that leave the calling thread's namespace, otherwise than over its loopback, wait in `queue`.
/// `address` is of their IP version. The table's other rules are none.
pub fn queue(address: IpAddr, sent: Sent, queue: u16) -> Result<()> {
    let version = if address.is_ipv4() { IP } else { IP6 };
    let table = Table::open(version)?;
    let entries = table.entries()?;
    table.replace(&version.table(sent, queue), entries)
}

/// The table of the calling thread's namespace.
struct Table {
    socket: OwnedFd,
    version: Version,
}

impl Table {
    fn open(version: Version) -> Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(version.family, SockType::Raw, flags, SockProtocol::Raw)
            .context("cannot open a socket for the firewall's table")?;
        Ok(Self { socket, version })
    }

    /// How many entries the table has.
    fn entries(&self) -> Result<u32> {
        // struct ipt_getinfo: the name, valid hooks, places and ends of chains, entries, bytes.
        let mut info = [0_u8; NAME_BYTES + 4 + 2 * 4 * HOOKS + 4 + 4];
        info[..TABLE.len()].copy_from_slice(TABLE);
        let mut length = info.len() as libc::socklen_t;
        // SAFETY: a live buffer of the length that is said.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                self.version.level,
                IPT_SO_BASE,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        match Errno::result(result) {
            Ok(_) => {}
            Err(Errno::ENOPROTOOPT) => bail!("{}", self.version.module()),
            Err(Errno::ENOENT) => bail!("{} with a table filter", self.version.module()),
            Err(error) => return Err(error).context(self.version.module()),
        }
        let at = NAME_BYTES + 4 + 2 * 4 * HOOKS;
        Ok(u32::from_ne_bytes([
            info[at],
            info[at + 1],
            info[at + 2],
            info[at + 3],
        ]))
    }

    /// Puts another table in the place of this one of so many `entries`.
    fn replace(&self, new: &Blob, entries: u32) -> Result<()> {
        // The old entries' counters come back here.
        let mut counters = vec![0_u64; entries as usize * COUNTERS_BYTES / 8];
        let text = new.replacement(entries, counters.as_mut_ptr());
        // SAFETY: a live struct ipt_replace of the length that is said, with room for as many counters as it says.
        let result = unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                self.version.level,
                IPT_SO_BASE,
                text.as_ptr().cast(),
                text.len() as libc::socklen_t,
            )
        };
        match Errno::result(result) {
            Ok(_) => Ok(()),
            Err(Errno::ENOENT) => bail!(
                "{} with a target NFQUEUE and a match tcp",
                self.version.module()
            ),
            Err(error) => Err(error).context("cannot write the firewall's table"),
        }
    }
}

/// Entries, and where in them the chains of the hooks begin and end.
struct Blob {
    bytes: Vec<u8>,
    count: u32,
    begins: [u32; HOOKS],
    ends: [u32; HOOKS],
}

impl Version {
    fn module(self) -> &'static str {
        match self.flags_at {
            None => "ip_tables",
            Some(_) => "ip6_tables",
        }
    }

    /// Everything passes, but what is `sent` waits in `queue`.
    fn table(self, sent: Sent, queue: u16) -> Blob {
        let mut blob = Blob {
            bytes: Vec::new(),
            count: 0,
            begins: [0; HOOKS],
            ends: [0; HOOKS],
        };
        for hook in [IN, FORWARD, OUT] {
            blob.begins[hook] = blob.bytes.len() as u32;
            if hook == OUT {
                blob.add(self.queued(sent, queue));
            }
            blob.ends[hook] = blob.bytes.len() as u32;
            blob.add(self.entry(&[], &standard(ACCEPT)));
        }
        // The last entry of every table.
        blob.add(self.entry(&[], &part(b"ERROR", b"ERROR", 32)));
        blob
    }

    fn queued(self, sent: Sent, queue: u16) -> Vec<u8> {
        let any = [0, u16::MAX];
        let (from, to) = match sent {
            Sent::From(port) => ([port, port], any),
            Sent::To(port) => (any, [port, port]),
        };
        let ports: Vec<u8> = from
            .into_iter()
            .chain(to)
            .flat_map(u16::to_ne_bytes)
            .collect();
        let tcp = part(b"tcp", &ports, 12);
        let mut entry = self.entry(&tcp, &part(b"NFQUEUE", &queue.to_ne_bytes(), 2));
        entry[self.out_at..self.out_at + 2].copy_from_slice(b"lo");
        // With the zero that ends the name: no interface but that.
        entry[self.out_at + 32..self.out_at + 35].fill(0xff);
        let protocol = (libc::IPPROTO_TCP as u16).to_ne_bytes();
        entry[self.protocol_at..self.protocol_at + 2].copy_from_slice(&protocol);
        if let Some(at) = self.flags_at {
            entry[at] = PROTO;
        }
        entry[self.inverted_at] = INV_VIA_OUT;
        entry
    }

    /// An entry for any packet.
    fn entry(self, matches: &[u8], target: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; self.entry_bytes];
        let target_at = self.entry_bytes + matches.len();
        let ends = [target_at, target_at + target.len()];
        for (place, end) in [self.offsets_at, self.offsets_at + 2].into_iter().zip(ends) {
            bytes[place..place + 2].copy_from_slice(&(end as u16).to_ne_bytes());
        }
        bytes.extend(matches);
        bytes.extend(target);
        bytes
    }
}

fn standard(verdict: i32) -> Vec<u8> {
    part(b"", &verdict.to_ne_bytes(), 4)
}

/// A match or a target of revision 0 with its data, of at least so many bytes.
fn part(name: &[u8], data: &[u8], least: usize) -> Vec<u8> {
    let size = (HEAD_BYTES + least).next_multiple_of(ALIGN);
    let mut bytes = vec![0; size];
    bytes[..2].copy_from_slice(&(size as u16).to_ne_bytes());
    bytes[2..2 + name.len()].copy_from_slice(name);
    bytes[HEAD_BYTES..HEAD_BYTES + data.len()].copy_from_slice(data);
    bytes
}

impl Blob {
    fn add(&mut self, entry: Vec<u8>) {
        self.bytes.extend(entry);
        self.count += 1;
    }

    /// `struct ipt_replace`.
    fn replacement(&self, old_entries: u32, counters: *mut u64) -> Vec<u8> {
        let mut bytes = vec![0; NAME_BYTES];
        bytes[..TABLE.len()].copy_from_slice(TABLE);
        let valid = 1 << IN | 1 << FORWARD | 1 << OUT;
        let words = [valid, self.count, self.bytes.len() as u32];
        let hooks = self.begins.into_iter().chain(self.ends);
        for word in words.into_iter().chain(hooks).chain([old_entries]) {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend((counters as usize).to_ne_bytes());
        bytes.extend(&self.bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u16 {
        u16::from_ne_bytes([bytes[at], bytes[at + 1]])
    }

    /// Walks the entries as the kernel does, by their offsets: where each begins, and its target's name.
    fn walk(version: Version, blob: &Blob) -> Vec<(usize, String)> {
        let (mut at, mut found) = (0, Vec::new());
        while at < blob.bytes.len() {
            let entry = &blob.bytes[at..];
            let target = &entry[usize::from(word(entry, version.offsets_at))..];
            let name = target[2..31].split(|byte| *byte == 0).next().unwrap();
            found.push((at, String::from_utf8(name.to_vec()).unwrap()));
            let next = usize::from(word(entry, version.offsets_at + 2));
            assert_eq!(
                next,
                usize::from(word(entry, version.offsets_at)) + usize::from(word(target, 0))
            );
            assert_eq!(next % ALIGN, 0);
            at += next;
        }
        found
    }

    #[test]
    fn chains_end_in_their_policies() {
        for (version, standard, error) in [(IP, 152, 176), (IP6, 208, 232)] {
            let blob = version.table(Sent::From(80), 0);
            let names: Vec<_> = walk(version, &blob);
            let want = ["", "", "NFQUEUE", "", "ERROR"];
            assert_eq!(
                names
                    .iter()
                    .map(|(_, name)| name.as_str())
                    .collect::<Vec<_>>(),
                want
            );
            let starts: Vec<u32> = names.iter().map(|(at, _)| *at as u32).collect();
            assert_eq!(
                (starts[1], blob.bytes.len() - starts[4] as usize),
                (standard, error)
            );
            assert_eq!(blob.begins, [0, starts[0], starts[1], starts[2], 0]);
            assert_eq!(blob.ends, [0, starts[0], starts[1], starts[3], 0]);
            assert_eq!(blob.count, 5);
        }
    }

    #[test]
    fn a_rule_names_its_ports() {
        let ports = |sent| {
            let rule = IP.queued(sent, 7);
            let at = IP.entry_bytes + HEAD_BYTES;
            (0..4).map(|n| word(&rule, at + 2 * n)).collect::<Vec<_>>()
        };
        assert_eq!(ports(Sent::From(80)), [80, 80, 0, 65_535]);
        assert_eq!(ports(Sent::To(80)), [0, 65_535, 80, 80]);
        let rule = IP6.queued(Sent::To(80), 7);
        assert_eq!(
            word(&rule, IP6.entry_bytes + 48 + HEAD_BYTES),
            7,
            "the queue"
        );
        assert_eq!((rule[131], rule[132], &rule[80..83]), (1, 2, &b"lo\0"[..]));
    }

    #[test]
    fn a_replacement_has_its_head() {
        let blob = IP.table(Sent::From(80), 0);
        let mut counters = [0; 8];
        let text = blob.replacement(4, counters.as_mut_ptr());
        assert_eq!(text.len(), 96 + blob.bytes.len());
        assert_eq!(&text[..7], b"filter\0");
        assert_eq!(u32::from_ne_bytes(text[84..88].try_into().unwrap()), 4);
    }
}
