//! Watches what the server's host sends: the loss rule's row of each transfer, and what the kernel said at its drops
//! and resends.

mod witness;

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::thread;

use anyhow::{anyhow, Context, Result};
use rexmit_loss::tail::{Settings, TailRule};
use rexmit_plan::{Counts, Watched};

use crate::capture::Buffer;
use crate::filter::Filter;
use crate::net::Host;
use crate::nfqueue::Queue;
use witness::Witness;

const QUEUE: u16 = 0;

/// The transfers, in the order of their heads, and what the kernel counted meanwhile.
type Seen = (Vec<Watched>, Counts);

enum Order {
    Begin(Settings),
    Finish,
}

/// The loss filter on a host: a thread that judges what its web server sends, until this is dropped.
pub struct Watch {
    orders: Sender<Order>,
    answers: Receiver<Result<Seen>>,
}

/// How a [`Watch`] reads what it sees.
#[derive(Clone)]
pub struct Options {
    /// RACK finds losses on this host (`tcp_recovery` bit 0x1).
    pub rack: bool,
    /// Packets may also be lost on the way, so that a resend of what was let pass may be needed.
    pub lossy: bool,
    /// Where to keep what the host's TCP sends.
    pub capture: Option<Buffer>,
}

impl Watch {
    /// Sends all that leaves port 80 of `host` through a queue and watches it. Nothing is dropped before
    /// [`Watch::begin`].
    pub fn start(host: &Host, nft: &Path, options: Options) -> Result<Self> {
        let rules = [
            "add table inet rexmit".to_owned(),
            "add chain inet rexmit sent { type filter hook output priority 0; }".to_owned(),
            format!(
                "add rule inet rexmit sent oifname {} tcp sport 80 queue num {QUEUE}",
                host.device
            ),
        ];
        let (queue, witness) = host
            .namespace
            .run(|| Ok((Queue::open(QUEUE)?, Witness::open(options)?)))?;
        host.namespace.batch(nft, &["-f", "-"], &rules)?;
        let filter = Filter::new(queue, TailRule::new(Settings::default()))?;
        let (orders, taken) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        thread::spawn(move || serve(filter, witness, &taken, &answer));
        Ok(Self { orders, answers })
    }

    /// A transfer is about to begin: a fresh rule with these settings, counters from here on.
    pub fn begin(&self, settings: Settings) -> Result<()> {
        self.ask(Order::Begin(settings)).map(drop)
    }

    /// What was seen since [`Watch::begin`].
    pub fn finish(&self) -> Result<Seen> {
        self.ask(Order::Finish)
    }

    fn ask(&self, order: Order) -> Result<Seen> {
        let gone = |_: RecvError| anyhow!("the loss filter is gone");
        self.orders
            .send(order)
            .map_err(|_| anyhow!("the loss filter is gone"))?;
        self.answers
            .recv()
            .map_err(gone)?
            .context("the loss filter failed")
    }
}

fn serve(
    mut filter: Filter<TailRule>,
    mut witness: Witness,
    orders: &Receiver<Order>,
    answers: &Sender<Result<Seen>>,
) {
    loop {
        let answer = match orders.try_recv() {
            Ok(Order::Begin(settings)) => filter
                .replace_rule(TailRule::new(settings), &mut witness)
                .and_then(|()| witness.begin())
                .map(|()| Seen::default()),
            Ok(Order::Finish) => filter.finish(&mut witness).and_then(|()| witness.finish()),
            Err(TryRecvError::Empty) => match filter.step(&mut witness) {
                Ok(()) => continue,
                // Trying again could fail for ever without virtual time passing: whoever asks next is told, and
                // that is the end.
                Err(error) => {
                    let _ = orders.recv();
                    Err(error)
                }
            },
            Err(TryRecvError::Disconnected) => return,
        };
        let over = answer.is_err();
        if answers.send(answer).is_err() || over {
            return;
        }
    }
}
