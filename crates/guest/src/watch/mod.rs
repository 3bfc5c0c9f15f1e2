//! Watches what the hosts send: what the loss rule tells of it, what the kernel said at its drops and retransmissions,
//! and, where asked for, every packet.

mod confirmed;
mod witness;

use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::thread;

use anyhow::{anyhow, Context, Result};
use rexmit_loss::{LossRule, Settings};
use rexmit_plan::{Counts, LoggedPacket, Story, Watched};

use crate::capture::Buffer;
use crate::filter::Filter;
use crate::firewall::shortcut::Shortcut;
use crate::firewall::{Firewall, Sent};
use crate::net::{Host, Namespace, Network};
use crate::nfqueue::Queue;
use crate::source::Source;
use crate::{priority, real_time};
use confirmed::Confirmed;
use witness::Witness;

const QUEUE: u16 = 0;

/// What was seen of a transfer, or of a connection.
#[derive(Default)]
pub struct Seen {
    /// What the rule told of.
    pub watched: Watched,
    /// Packets with data that no mapping said anything of.
    pub unmapped: u64,
    /// Packets of which something else would have been told, had the rule been given all before them.
    pub unfollowed: u64,
    /// When the server could use each subflow.
    pub confirmed: Confirmed,
    /// What the kernel counted meanwhile.
    pub counts: Counts,
    /// Packets that Multipath TCP sent again at its own level.
    pub mptcp_retransmissions: u64,
    /// Those that tail loss probes caused; `None` where the kernel does not count them.
    pub probe_reinjections: Option<u64>,
    /// Every packet, where they are logged; times are the clock's.
    pub packets: Vec<LoggedPacket>,
}

enum Order {
    Begin(Box<LossRule>, Box<Story>, bool),
    Finish,
    FollowAll,
}

/// The loss filter: a thread that judges what the server sends, and its client where asked for, until this is dropped.
pub struct Watch {
    orders: Sender<Order>,
    answers: Receiver<Result<Seen>>,
    /// Wakes the filter for an order where it waits for both hosts' packets.
    wake: Option<UnixStream>,
}

/// What a [`Watch`] looks at.
#[derive(Clone)]
pub struct Options {
    /// Where to keep what the hosts' TCP sends.
    pub captures: Option<(Buffer, Buffer)>,
    /// The client's packets too.
    pub both: bool,
    /// Log every packet.
    pub packets: bool,
    /// The rule minds paths.
    pub minds_paths: bool,
    /// Where the server listens.
    pub port: u16,
    /// Nothing is asked of the packets before a response's tail.
    pub only_the_tail: bool,
}

impl Watch {
    /// Sends all that leaves the server's port of `h1` through a queue and watches it, and what leaves `h2` for it where asked
    /// for. Nothing is dropped before [`Watch::begin`].
    pub fn start(network: &Network, options: Options) -> Result<Self> {
        let (clients, port, both) = (network.clients.clone(), options.port, options.both);
        let witness = |options| network.h1.namespace.run(|| Witness::open(options, clients));
        let rule = LossRule::new(Settings::default());
        if let Some(line) = &network.line {
            let [sent, answered] = line.ends();
            return Self::over(Filter::new(sent, rule)?, Some(answered), witness(options)?);
        }
        let (h1, h2) = (&network.h1, &network.h2);
        let queued = |host: &Host, sent| queue(&host.namespace, host.address, sent);
        // In real time what passes could overtake what waits for a program.
        let quiet = options.only_the_tail && !real_time::here();
        let (sent, shortcut) = queued(h1, (Sent::From(port), quiet))?;
        let answered = both.then(|| queued(h2, (Sent::To(port), false)));
        let answered = answered.transpose()?.map(|(queue, _)| queue);
        let mut filter = Filter::new(sent, rule)?;
        filter.set_shortcut(shortcut);
        Self::over(filter, answered, witness(options)?)
    }
}

/// Sends packets that leave `host` through a queue.
fn queue(
    host: &Namespace,
    address: IpAddr,
    sent: (Sent, bool),
) -> Result<(Queue, Option<Shortcut>)> {
    let queue = host.run(|| Queue::open(QUEUE))?;
    let shortcut = Firewall::of_kernel()?.queue(host, address, sent, QUEUE)?;
    Ok((queue, shortcut))
}

impl Watch {
    /// Watches what comes from the server through `filter`, and from the client through `answered`.
    fn over<Q: Source + Send + 'static>(
        mut filter: Filter<Q>,
        answered: Option<Q>,
        witness: Witness,
    ) -> Result<Self> {
        let mut wake = None;
        if let Some(queue) = answered {
            filter.add_queue(queue);
            wake = Some(UnixStream::pair()?);
        }
        let (wake, woken) = wake.unzip();
        let (orders, taken) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        thread::spawn(move || {
            // Where it is refused the order is the scheduler's.
            let _ = priority::FILTER.take();
            serve(filter, witness, &taken, &answer, woken.as_ref());
        });
        Ok(Self {
            orders,
            answers,
            wake,
        })
    }

    /// A transfer is about to begin: a fresh rule, counters from here on. `rack`: RACK finds losses on this host.
    pub fn begin(&self, rule: LossRule, story: Story, rack: bool) -> Result<()> {
        let begin = Order::Begin(Box::new(rule), Box::new(story), rack);
        self.ask(begin).map(drop)
    }

    /// What was seen since [`Watch::begin`].
    pub fn finish(&self) -> Result<Seen> {
        self.ask(Order::Finish)
    }

    /// From now on the rule is given every packet.
    pub fn follow_all(&self) -> Result<()> {
        self.ask(Order::FollowAll).map(drop)
    }

    fn ask(&self, order: Order) -> Result<Seen> {
        let gone = |_: RecvError| anyhow!("the loss filter is gone");
        self.orders
            .send(order)
            .map_err(|_| anyhow!("the loss filter is gone"))?;
        if let Some(mut wake) = self.wake.as_ref() {
            wake.write_all(&[0])?;
        }
        self.answers
            .recv()
            .map_err(gone)?
            .context("the loss filter failed")
    }
}

fn serve(
    mut filter: Filter<impl Source>,
    mut witness: Witness,
    orders: &Receiver<Order>,
    answers: &Sender<Result<Seen>>,
    woken: Option<&UnixStream>,
) {
    loop {
        let answer = match orders.try_recv() {
            Ok(order) => {
                if let Some(mut woken) = woken {
                    let _ = woken.read(&mut [0]);
                }
                match order {
                    Order::Begin(rule, story, rack) => filter
                        .replace_rule(*rule, &mut witness)
                        .and_then(|()| witness.begin(*story, rack))
                        .map(|()| Seen::default()),
                    Order::Finish => filter
                        .finish(&mut witness)
                        .and_then(|()| witness.finish(filter.rule())),
                    Order::FollowAll => {
                        filter.set_shortcut(None);
                        Ok(Seen::default())
                    }
                }
            }
            Err(TryRecvError::Empty) => {
                let step = match woken {
                    None => filter.step(&mut witness),
                    Some(woken) => filter.step_all(woken.as_fd(), &mut witness),
                };
                match step {
                    Ok(()) => continue,
                    // Trying again could fail for ever without virtual time passing: whoever asks next is told, and
                    // that is the end.
                    Err(error) => {
                        let _ = orders.recv();
                        Err(error)
                    }
                }
            }
            Err(TryRecvError::Disconnected) => return,
        };
        let over = answer.is_err();
        if answers.send(answer).is_err() || over {
            return;
        }
    }
}
