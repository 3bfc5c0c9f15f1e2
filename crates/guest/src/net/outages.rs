//! Links that lose all of some times: each direction's netem is changed when such a time begins and when it ends.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time;

use anyhow::{anyhow, Result};
use rexmit_plan::{Link, NetworkPlan};
use rexmit_time::{Duration, Time};

use super::changes::change_here;
use super::link;
use super::qdisc::Request;
use super::topology::Network;
use crate::clock;

/// A thread that fails the links of a network while a transfer runs.
pub struct Outages {
    stop: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl Outages {
    /// Begins, for a transfer that starts at `begin`; `None` where no link fails.
    pub fn start(network: &Network, plan: &NetworkPlan, begin: Time) -> Result<Option<Self>> {
        if network.line.is_some() {
            // Its links fail by themselves.
            return Ok(None);
        }
        let mut steps = steps(network.ways(plan), begin);
        if steps.is_empty() {
            return Ok(None);
        }
        steps.sort_by_key(|(at, _)| *at);
        let enter = network.switch.door()?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            enter()?;
            // See clock::sleep_until.
            let _ = nix::sys::prctl::set_timerslack(1);
            let mut ended = false;
            for (at, request) in steps {
                let left = at.since(clock::now()).as_nanos().max(0).unsigned_abs();
                let wait = time::Duration::from_nanos(left);
                // When the transfer is over, links that fail still stand again at once.
                ended = ended || stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
                if !ended || request.0 {
                    change_here(|changes| changes.queues(&[request.1]))?;
                }
            }
            Ok(())
        });
        Ok(Some(Self { stop, thread }))
    }

    /// The transfer is over: links stand.
    pub fn end(self) -> Result<()> {
        drop(self.stop);
        let done = self.thread.join();
        done.map_err(|_| anyhow!("the thread that fails links broke off"))?
    }
}

/// When which direction is changed, and whether it stands from then on.
fn steps(ways: Vec<(String, &Link)>, begin: Time) -> Vec<(Time, (bool, Request))> {
    let mut steps = Vec::new();
    for (device, way) in ways {
        let mut failed = way.clone();
        failed.lose_nothing();
        failed.loss = 1.0;
        for [from, until] in &way.outages_ns {
            for (after, stands, link) in [(from, false, &failed), (until, true, way)] {
                let at = begin + Duration::from_nanos(*after as i64);
                let request = link::changed(&device, link);
                steps.extend(request.map(|request| (at, (stands, request))));
            }
        }
    }
    steps
}
