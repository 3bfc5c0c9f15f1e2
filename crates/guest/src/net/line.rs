//! The links as a program of our own, where the kernel has none: a TUN device in each host, and between the two what the
//! model's links do to packets, by the clock.
//!
//! ```text
//! h1-eth0 ── (filter) ── link ── link ── h2-eth0
//! ```
//!
//! A packet enters the first link at the time at which it was read from its device, and the second one when it is due to
//! leave the first, however late that is looked at. Lateness is how long after its due time a packet is handed to the
//! other host. What passes between a host's sending and our reading is not in it: a TUN device keeps no times.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::TimeSpec;
use rexmit_plan::{Cell, Layout, NetworkPlan, Place};
use rexmit_sim::link;
use rexmit_time::{Streams, Time};
use serde::Serialize;

use super::ecn;
use super::namespace::Namespace;
use super::too_large;
use crate::clock;
use crate::priority;
use crate::real_time;
use crate::source::{Answers, Fate, Queued, Source};

const DEVICE: &str = "/dev/net/tun";
/// Packets that are read from a device before the rule's deadline is looked at.
const BATCH: usize = 64;
/// A packet of 64 KiB.
const LARGEST: usize = 1 << 16;
/// Without a packet for so long, hosts have nothing to answer.
const QUIET: rexmit_time::Duration = rexmit_time::Duration::from_millis(1);
/// What is under way may be held back for so long.
const LONGEST: rexmit_time::Duration = rexmit_time::Duration::from_secs(100);
/// How long a device that is full is tried again.
const PATIENCE: Duration = Duration::from_millis(100);

/// A new TUN device of `host`; what is read and written are packets of IP. It goes with its descriptor.
pub fn tun(host: &Namespace, device: &str) -> Result<File> {
    host.run(|| open_here(device))
}

/// The same in the calling thread's namespace.
pub fn open_here(device: &str) -> Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK);
    let file = options.open(DEVICE).context(DEVICE)?;
    // SAFETY: all-zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= request.ifr_name.len() {
        bail!("{device}: too long a name for an interface");
    }
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open, and the request takes a live ifreq.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    Errno::result(result).context("TUNSETIFF")?;
    Ok(file)
}

/// Whether the links of such a network are a line: always in real time, where hosts may lack what makes others; else where a
/// link does what those cannot.
pub fn carries(plan: &NetworkPlan) -> bool {
    real_time::here() || plan.is_beyond_netem()
}

/// What `cell` asks for that a line does not do.
pub fn lack(cell: &Cell) -> Vec<String> {
    let mut lacks = Vec::new();
    match (&cell.network.layout, cell.network.at) {
        (Layout::Paths(_), _) => lacks.push("several paths (it has one between two TUN devices)"),
        (_, Place::Host) => lacks.push("shaping in the hosts (its links lie behind them)"),
        (Layout::Links(_), Place::Wire) => {}
    }
    if cell.offload.segmentation {
        lacks.push("super-segments (a TUN device hands out single packets)");
    }
    if !cell.by_response() {
        lacks.push("bursts, and Multipath TCP, on a line (it carries pages over TCP)");
    }
    lacks.into_iter().map(str::to_owned).collect()
}

/// How late packets were handed over, by the clock.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Lateness {
    packets: usize,
    median_ns: u64,
    p99_ns: u64,
    most_ns: u64,
}

impl Lateness {
    /// Of packets that were late by so many nanoseconds each; `None` of no packet.
    pub fn new(mut late: Vec<u64>) -> Option<Self> {
        late.sort_unstable();
        let at = |share: usize| {
            late.get((late.len() * share).div_ceil(100).max(1) - 1)
                .copied()
        };
        Some(Self {
            packets: late.len(),
            median_ns: at(50)?,
            p99_ns: at(99)?,
            most_ns: *late.last()?,
        })
    }
}

/// Both links between the hosts; they end when this is dropped.
pub struct Line {
    shared: Arc<Shared>,
    devices: [Arc<File>; 2],
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    /// The links on each way, that from the server first, in the order in which packets cross them; and when the last
    /// packet entered.
    ways: [Vec<(link::Hop<Vec<u8>>, Time)>; 2],
    /// Packets by when they leave the link that they are in.
    under_way: BTreeMap<(Time, u64), UnderWay>,
    /// Packets that were under way so far.
    number: u64,
    /// How late each packet was handed over, nanoseconds.
    late: Vec<u64>,
    /// Why packets can no longer be handed over.
    failed: Option<String>,
    ended: bool,
}

struct UnderWay {
    way: usize,
    link: usize,
    bytes: Vec<u8>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A packet enters the first link of a way.
    fn enter(&self, way: usize, at: Time, bytes: Vec<u8>) {
        let link = 0;
        self.lock().cross(UnderWay { way, link, bytes }, at);
        self.news.notify_one();
    }

    /// Hands packets over when they are due, until this ends.
    fn run(&self, devices: &[Arc<File>; 2]) {
        let mut state = self.lock();
        while !state.ended {
            let now = clock::now();
            let turn = state.turn();
            let packet = state.under_way.first_key_value().map(|(key, _)| key.0);
            let turn_due = turn.map(|(due, ..)| due);
            match turn_due.into_iter().chain(packet).min() {
                None => {
                    let waited = self.news.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
                Some(due) if due > now => {
                    let left = Duration::from_nanos(due.since(now).as_nanos().unsigned_abs());
                    let waited = self.news.wait_timeout(state, left);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(due) => {
                    if let Some((due, way, link)) = turn.filter(|turn| turn.0 == due) {
                        state.take_turns(way, link, due);
                        continue;
                    }
                    let Some(((due, _), mut packet)) = state.under_way.pop_first() else {
                        continue;
                    };
                    packet.link += 1;
                    if packet.link < state.ways[packet.way].len() {
                        state.cross(packet, due);
                        continue;
                    }
                    // Taking it in, the other host may send: its filter needs what is locked.
                    drop(state);
                    let late = clock::now().since(due).as_nanos().max(0).unsigned_abs();
                    let done = hand_over(&devices[1 - packet.way], &packet.bytes);
                    state = self.lock();
                    state.late.push(late);
                    if let Err(error) = done {
                        state.failed.get_or_insert_with(|| error.to_string());
                    }
                }
            }
        }
    }
}

fn hand_over(mut device: &File, bytes: &[u8]) -> std::io::Result<()> {
    let begin = clock::now();
    loop {
        match device.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let waited = clock::now().since(begin).as_nanos().unsigned_abs();
                if u128::from(waited) > PATIENCE.as_nanos() {
                    return Err(error);
                }
                thread::yield_now();
            }
            other => return other.map(drop),
        }
    }
}

impl State {
    /// A packet enters the link that it has come to.
    fn cross(&mut self, packet: UnderWay, at: Time) {
        let UnderWay { way, link, bytes } = packet;
        let links = self.ways[way].len();
        let Some((hop, last)) = self.ways[way].get_mut(link) else {
            return;
        };
        // Links take packets in the order of time; two threads may come in another by microseconds.
        let at = at.max(*last);
        *last = at;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let frame = link::Frame {
            bytes: length.saturating_add(link::ETHERNET),
            flow: ecn::flow(&bytes),
            ect: ecn::is_capable(&bytes),
        };
        let refusal = hop.link().too_large(frame.bytes);
        let refusal = refusal.filter(|there| there.icmp);
        let answer = refusal.and_then(|there| too_large::answer(&bytes, there.bytes));
        self.carry(way, link, |hop, out| hop.enter(at, bytes, frame, out));
        if let Some(bytes) = answer {
            // It goes back over the links that the packet has crossed.
            let (way, link) = (1 - way, links - 1 - link);
            self.keep(at, UnderWay { way, link, bytes });
        }
    }

    /// The next turn of a queue before a link: when, on which way, and of which link of it.
    fn turn(&self) -> Option<(Time, usize, usize)> {
        let ways = self.ways.iter().enumerate();
        let all = ways.flat_map(|(way, links)| {
            let links = links.iter().enumerate();
            links.filter_map(move |(link, (hop, _))| Some((hop.turn()?, way, link)))
        });
        all.min()
    }

    fn take_turns(&mut self, way: usize, link: usize, now: Time) {
        self.carry(way, link, |hop, out| hop.take_turns(now, out));
    }

    /// Keeps what leaves a link, with the marks that it got there.
    fn carry(
        &mut self,
        way: usize,
        link: usize,
        act: impl FnOnce(&mut link::Hop<Vec<u8>>, &mut dyn FnMut(Time, Vec<u8>, bool)),
    ) {
        let mut left = Vec::new();
        act(
            &mut self.ways[way][link].0,
            &mut |due, mut bytes, marked| {
                if marked {
                    ecn::mark(&mut bytes);
                }
                left.push((due, bytes));
            },
        );
        for (due, bytes) in left {
            self.keep(due, UnderWay { way, link, bytes });
        }
    }

    fn keep(&mut self, due: Time, packet: UnderWay) {
        self.number += 1;
        self.under_way.insert((due, self.number), packet);
    }
}

impl Line {
    /// A line between devices of the server and of the client; nothing passes before [`Line::begin`].
    pub fn start(devices: [File; 2]) -> Self {
        let devices = devices.map(Arc::new);
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            news: Condvar::new(),
        });
        let (own, to) = (Arc::clone(&shared), devices.clone());
        let thread = thread::spawn(move || {
            // Where it is refused the order is the scheduler's.
            let _ = priority::LINE.take();
            // See clock::sleep_until.
            let _ = nix::sys::prctl::set_timerslack(1);
            own.run(&to);
        });
        Self {
            shared,
            devices,
            thread: Some(thread),
        }
    }

    /// Waits until nothing has been under way at two looks, [`QUIET`] apart: a connection that was closed has said its last
    /// words then. One that never does is waited for no longer than [`LONGEST`].
    pub fn settle(&self) {
        let until = clock::now() + LONGEST;
        let mut calm = 0;
        loop {
            let now = clock::now();
            let state = self.shared.lock();
            let last = state.under_way.keys().next_back().map(|key| key.0);
            let due = last
                .into_iter()
                .chain(state.turn().map(|turn| turn.0))
                .max();
            drop(state);
            calm = if due.is_none() { calm + 1 } else { 0 };
            if calm == 2 || now > until {
                return;
            }
            let due = due.unwrap_or(now);
            clock::sleep_until(due.max(now + QUIET));
        }
    }

    /// Puts fresh links in the place of those at hand; they fail at their times after `begin`, if at all. What is under way
    /// still arrives.
    pub fn begin(&self, plan: &NetworkPlan, streams: &Streams, begin: Option<Time>) {
        let mut state = self.shared.lock();
        state.ways = [Vec::new(), Vec::new()];
        let mut number = 0;
        for link in plan.links() {
            for (way, does) in link.ways().into_iter().enumerate() {
                let settings = link::Settings::planned(does, plan.at, begin);
                let hop = link::Hop::new(settings, streams, number);
                number += 1;
                state.ways[way].push((hop, Time::ZERO));
            }
        }
        // The client's packets come to the second link first.
        state.ways[1].reverse();
    }

    /// What packets of the server, and of the client, come through.
    pub fn ends(&self) -> [End; 2] {
        [0, 1].map(|way| End {
            device: Arc::clone(&self.devices[way]),
            wait: Duration::ZERO,
            buffer: vec![0; LARGEST],
            answers: Entrance {
                shared: Arc::clone(&self.shared),
                way,
                next: 0,
                read: BTreeMap::new(),
                latest: Time::ZERO,
            },
        })
    }

    /// Begins with no one who filters: all that hosts send enters the links at once, as long as this process runs.
    pub fn pass_all(&self, plan: &NetworkPlan, streams: &Streams) {
        self.begin(plan, streams, Some(clock::now()));
        for mut end in self.ends() {
            end.wait = Duration::MAX;
            let accept =
                |packet: Queued<'_>, answers: &mut Entrance| answers.push(packet.id, Fate::Accept);
            thread::spawn(move || while end.receive(accept).is_ok() {});
        }
    }

    /// How late each packet was handed over since the last call, nanoseconds.
    ///
    /// # Errors
    /// When some could not be handed over at all.
    pub fn late(&self) -> Result<Vec<u64>> {
        let mut state = self.shared.lock();
        if let Some(why) = &state.failed {
            bail!("the link cannot hand over a packet: {why}");
        }
        Ok(std::mem::take(&mut state.late))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.news.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What one host's packets come through.
pub struct End {
    device: Arc<File>,
    wait: Duration,
    buffer: Vec<u8>,
    answers: Entrance,
}

/// Where packets that pass enter the line.
pub struct Entrance {
    shared: Arc<Shared>,
    way: usize,
    /// The number of the next packet.
    next: u32,
    /// Packets that wait for their verdicts.
    read: BTreeMap<u32, Vec<u8>>,
    /// When the newest of them was read.
    latest: Time,
}

impl Answers for Entrance {
    fn push(&mut self, id: u32, fate: Fate) {
        if let (Some(bytes), Fate::Accept) = (self.read.remove(&id), fate) {
            // One that was held goes on now.
            let newest = id.wrapping_add(1) == self.next;
            let at = if newest { self.latest } else { clock::now() };
            self.shared.enter(self.way, at, bytes);
        }
    }
}

impl Source for End {
    type Answers = Entrance;

    fn set_wait(&mut self, wait: Duration) -> Result<()> {
        self.wait = wait;
        Ok(())
    }

    fn receive(&mut self, mut judge: impl FnMut(Queued<'_>, &mut Self::Answers)) -> Result<bool> {
        let mut polled = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut polled, Some(TimeSpec::from_duration(self.wait)), None) {
            Ok(0) | Err(Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error).context("ppoll"),
        }
        for _ in 0..BATCH {
            let length = match (&*self.device).read(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).context("a TUN device"),
            };
            let id = self.answers.next;
            self.answers.next = id.wrapping_add(1);
            self.answers.latest = clock::now();
            let bytes = &self.buffer[..length];
            self.answers.read.insert(id, bytes.to_vec());
            let packet = Queued {
                id,
                bytes,
                original_len: length,
            };
            judge(packet, &mut self.answers);
        }
        Ok(true)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    fn answers(&mut self) -> &mut Self::Answers {
        &mut self.answers
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn flush_but_last(&mut self) -> Result<()> {
        Ok(())
    }
}
