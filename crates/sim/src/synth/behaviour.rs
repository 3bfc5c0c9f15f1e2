//! What hosts do of their own accord: they stop reading, defer accepting, cut connections.

use rexmit_tcp::connection::DeferAccept;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Stream};
use serde::Deserialize;

use super::draw::{chance, check_share, geometric, seconds, Check, Choice, LogUniform};
use super::look::Look;
use super::mix::WorkloadMix;
use crate::apps::{Behaviour, Cut, Script, Stop};

/// Stops of one reader, at most.
const MOST_STOPS: u64 = 20;

/// Those who receive most stop reading now and again.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StopsMix {
    /// Connections on which they do.
    pub share: f64,
    /// Stops on one connection, mean (geometric). They are where any byte is.
    pub count: f64,
    /// How long one lasts, seconds.
    pub pause_s: LogUniform,
    /// Of these receivers, those with a receive buffer of a fixed size.
    pub buffer_share: f64,
    /// That size, bytes.
    pub buffer_bytes: LogUniform,
    /// Probability with which an acknowledgement that opens a shut window is lost.
    pub update_loss: f64,
}

/// Servers defer accepting until their client has spoken, where their stack knows that.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DefersMix {
    /// Connections of servers that do.
    pub share: f64,
    /// For so many seconds.
    pub defer_s: Choice,
    /// How long a client thinks before it speaks, seconds.
    pub first_think_s: LogUniform,
}

/// One end ends the connection before all is said.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CutsMix {
    /// Connections on which one does.
    pub share: f64,
    /// Of these, those that the server cuts.
    pub server_share: f64,
    /// Of these, those that are reset at once. The others are closed, and what the peer says after that is answered by a
    /// reset.
    pub reset_share: f64,
    /// From the byte that makes up somebody's mind to the cut, seconds.
    pub wait_s: LogUniform,
}

impl Check for StopsMix {
    fn fault(&self) -> Result<(), String> {
        for share in [self.share, self.buffer_share, self.update_loss] {
            check_share(share)?;
        }
        if !(self.count >= 1.0 && self.count.is_finite()) {
            return Err("count must be 1 or more".into());
        }
        self.pause_s.fault()?;
        self.buffer_bytes.fault()
    }
}

impl Check for DefersMix {
    fn fault(&self) -> Result<(), String> {
        check_share(self.share)?;
        self.defer_s.fault()?;
        self.first_think_s.fault()
    }
}

impl Check for CutsMix {
    fn fault(&self) -> Result<(), String> {
        for share in [self.share, self.server_share, self.reset_share] {
            check_share(share)?;
        }
        self.wait_s.fault()
    }
}

/// What a connection's hosts do besides what its script says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Hosts {
    /// The buffer of the one who receives most.
    pub receive_buffer: Option<u32>,
    /// Probability with which an acknowledgement that opens a shut window is lost.
    pub update_loss: f64,
    /// How long the server defers accepting.
    pub defers: Option<Duration>,
}

/// Draws how the two behave, into `script` and for their hosts.
pub(super) fn draw(
    mix: &WorkloadMix,
    script: &mut Script,
    upload: bool,
    stream: &mut Stream,
) -> Hosts {
    let mut hosts = Hosts::default();
    if let Some(linger) = &mix.linger_s {
        script.lingers = seconds(linger.draw(stream));
    }
    if let Some(mix) = mix.stops.filter(|mix| chance(stream, mix.share)) {
        let own = if upload {
            &mut script.server
        } else {
            &mut script.client
        };
        let sizes = script.exchanges.iter();
        let bytes = sizes.map(|one| if upload { one.request } else { one.response });
        own.stops = stops(&mix, bytes.sum(), stream);
        hosts.update_loss = mix.update_loss;
        if chance(stream, mix.buffer_share) {
            hosts.receive_buffer = Some(mix.buffer_bytes.draw(stream) as u32);
        }
    }
    if let Some(mix) = mix.defers.as_ref().filter(|mix| chance(stream, mix.share)) {
        hosts.defers = Some(seconds(mix.defer_s.draw(stream) as f64));
        script.first_think = seconds(mix.first_think_s.draw(stream));
    }
    if let Some(mix) = mix.cuts.filter(|mix| chance(stream, mix.share)) {
        let own: &mut Behaviour = if chance(stream, mix.server_share) {
            &mut script.server
        } else {
            &mut script.client
        };
        let said = script.exchanges.iter();
        let bytes: u64 = said.map(|one| one.request + one.response).sum();
        own.cut = Some(Cut {
            after: 1 + stream.below(bytes),
            wait: seconds(mix.wait_s.draw(stream)),
            resets: chance(stream, mix.reset_share),
        });
    }
    hosts
}

fn stops(mix: &StopsMix, bytes: u64, stream: &mut Stream) -> Vec<Stop> {
    let count = geometric(stream, mix.count, MOST_STOPS);
    let mut stops: Vec<Stop> = (0..count)
        .map(|_| Stop {
            after: stream.below(bytes),
            pause: seconds(mix.pause_s.draw(stream)),
        })
        .collect();
    stops.sort_by_key(|stop| stop.after);
    stops
}

/// What the listener of a host does that was told to defer for `time`; none of a system that does not know that.
pub(super) fn deferral(time: Duration, look: &Look, settings: &Settings) -> Option<DeferAccept> {
    let repeats = look.repeats_deferred?;
    let first = settings.timers.initial_rto;
    let mut timeouts = 1;
    // tcp_setsockopt of 2.4: the least timeout that is as long. Since 2.6.32 their sum (secs_to_retrans).
    let (mut timeout, mut sum) = (first, first);
    while time > if repeats { timeout } else { sum } {
        timeouts += 1;
        timeout = (timeout * 2).min(settings.timers.max_rto);
        sum += timeout;
        if timeout == settings.timers.max_rto && repeats {
            break;
        }
    }
    Some(DeferAccept { timeouts, repeats })
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    fn timeouts(stack: &str, seconds: i64) -> Option<u32> {
        let settings = stacks::page(stack).unwrap().settings;
        let time = Duration::from_secs(seconds);
        deferral(time, Look::of(stack), &settings).map(|made| made.timeouts)
    }

    #[test]
    fn seconds_are_timeouts_as_each_linux_counts_them() {
        // secs_to_retrans: 1, 1 + 2, 1 + 2 + 4 seconds.
        let late = [1, 2, 3, 4, 7, 8].map(|time| timeouts("linux-6.12", time).unwrap());
        assert_eq!(late, [1, 2, 2, 3, 3, 4]);
        // 3, 6, 12 seconds.
        let early = [1, 3, 4, 6, 7, 12, 13].map(|time| timeouts("linux-2.4", time).unwrap());
        assert_eq!(early, [1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(timeouts("windows-xp", 5), None);
        assert_eq!(timeouts("freebsd-5", 5), None);
    }
}
