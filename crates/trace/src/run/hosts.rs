//! What connections of one host say of each other: which way of finding losses it has, or was set to, and how short its timers
//! are.
//!
//! Where a retransmission's mechanism depends on that, it waits with its connection until the capture is over, or until too
//! many wait; then it is judged by what all connections of its sender showed. What is known of a host does not depend on
//! threads: rows pass here in the order in which the run gives them.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use rexmit_tcp::Mechanism;
use rexmit_wire::FlowKey;
use serde::{Deserialize, Deserializer, Serialize};

use super::places::{self, Places};
use crate::analyzer::{Failure, Failures, Of, Rows};
use crate::calibrate;
use crate::contain::contain;
use crate::emulate::mechanism::{decide, settle, Evidence};
use crate::emulate::{shares_by, MODES};
use crate::event::Direction;
use crate::fault::{Fault, Moment};
use crate::necessary::ShortTimers;
use crate::parts::Known;
use crate::rows::{Connection, Retransmission, SenderRow, Word};
use crate::sender_view::{column_of, position_of};
use crate::settings::Settings;

/// Retransmissions that wait at most, and how many of them go when there are more.
const MOST_WAITING: usize = 1 << 16;

/// Hosts of which anything is kept.
const MOST_HOSTS: usize = 1 << 16;

/// What one connection may say at most, as a natural logarithm: an emulation may err.
const MOST_SAID: f64 = 5.0;

/// An address, and what the SYN names the system: one address may stand for several hosts.
type HostKey = (IpAddr, Option<Word>);

/// What there is of the client and of the server.
type OfHosts<T> = [Option<(HostKey, T)>; 2];

/// What a connection says of its hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    #[serde(deserialize_with = "of_hosts")]
    of: OfHosts<[f64; MODES]>,
    /// Those beside which the monitor stands.
    beside: [Option<IpAddr>; 2],
    #[serde(deserialize_with = "of_hosts")]
    short: OfHosts<ShortTimers>,
}

fn of_hosts<'de, D, T>(from: D) -> Result<OfHosts<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let both = <[Option<((IpAddr, Option<Known>), T)>; 2]>::deserialize(from)?;
    let host = |(at, system): (IpAddr, Option<Known>)| (at, system.map(|known| known.0));
    Ok(both.map(|one| one.map(|(of, has)| (host(of), has))))
}

/// Whether a retransmission waits for what other connections of its hosts say.
pub(crate) fn waits(row: &Retransmission) -> bool {
    row.opinions.is_some() || places::is_open(row) || places::is_timed_by_syn(row)
}

impl Said {
    /// What this one says; nothing, mostly.
    pub(crate) fn by(connection: &Connection) -> Option<Self> {
        let sides = [
            (connection.flow.src, &connection.forward),
            (connection.flow.dst, &connection.backward),
        ];
        let of = sides.map(|(host, sender)| {
            let said = sender.posterior.evidence(MOST_SAID);
            (said != [0.0; MODES]).then_some(((host, sender.syn_system), said))
        });
        let beside = places::beside(connection);
        let short = sides.map(|(host, sender)| {
            let short = &sender.short_timers;
            (!short.is_empty()).then(|| ((host, sender.syn_system), short.clone()))
        });
        let any = of.iter().any(Option::is_some) || beside != [None; 2];
        let any = any || short.iter().any(Option::is_some);
        any.then_some(Said { of, beside, short })
    }
}

/// A connection of which a retransmission waits.
#[derive(Debug, Default)]
struct Waiting {
    retransmissions: Vec<Of<Retransmission>>,
    connection: Option<Of<Box<Connection>>>,
}

/// The hosts, and what waits.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// What connections said of each way, summed up.
    said: BTreeMap<HostKey, [f64; MODES]>,
    /// Their short timers.
    short: BTreeMap<HostKey, ShortTimers>,
    places: Places,
    /// By the connection's number, in the order in which they came to wait.
    waiting: BTreeMap<u64, Waiting>,
    order: VecDeque<u64>,
    count: usize,
    /// Rows are left as the emulations judged them.
    uncalibrated: bool,
    fault: Option<Fault>,
    /// Connections whose rows could not be judged.
    failures: Failures,
}

impl Hosts {
    /// Hosts of which nothing is known.
    pub(crate) fn new(settings: &Settings) -> Self {
        Hosts {
            uncalibrated: settings.uncalibrated,
            fault: settings.fault,
            ..Hosts::default()
        }
    }

    /// Connections whose rows could not be judged, and were left out.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Takes in rows in their order, keeps those that must wait, and adds those whose wait is over.
    pub(crate) fn pass(&mut self, rows: &mut Rows) {
        let said: Vec<Said> = rows
            .connections
            .iter()
            .filter_map(|of| Said::by(&of.row))
            .collect();
        self.pass_with(&said, rows);
    }

    /// As [`Hosts::pass`], of rows whose connections said this in their order, and others that need not come here.
    pub(crate) fn pass_with(&mut self, said: &[Said], rows: &mut Rows) {
        for number in core::mem::take(&mut rows.failed) {
            if let Some(waiting) = self.waiting.remove(&number) {
                self.count -= waiting.retransmissions.len();
            }
        }
        for retransmission in &rows.retransmissions {
            let number = retransmission.connection;
            if waits(&retransmission.row) && !self.waiting.contains_key(&number) {
                self.order.push_back(number);
                self.waiting.insert(number, Waiting::default());
            }
        }
        for retransmission in core::mem::take(&mut rows.retransmissions) {
            match self.waiting.get_mut(&retransmission.connection) {
                Some(waiting) => {
                    waiting.retransmissions.push(retransmission);
                    self.count += 1;
                }
                None => rows.retransmissions.push(retransmission),
            }
        }
        said.iter().for_each(|said| self.hear(said));
        for connection in core::mem::take(&mut rows.connections) {
            match self.waiting.get_mut(&connection.connection) {
                Some(waiting) => waiting.connection = Some(connection),
                None => rows.connections.push(connection),
            }
        }
        if self.count > MOST_WAITING {
            while self.count > MOST_WAITING / 2 && self.give_first(rows) {}
            rows.sort();
        }
    }

    /// Adds all that waits to these rows. What hosts said goes when there is no room for another host: those of an unbounded
    /// stream come and go.
    pub(super) fn settle(&mut self, rows: &mut Rows) {
        rows.append(&mut self.end());
        rows.sort();
        if self.said.len() >= MOST_HOSTS {
            self.said.clear();
        }
        if self.short.len() >= MOST_HOSTS {
            self.short.clear();
        }
        self.places.make_room();
    }

    /// Gives what waits.
    pub(crate) fn end(&mut self) -> Rows {
        let mut rows = Rows::default();
        while self.give_first(&mut rows) {}
        rows.sort();
        rows
    }

    /// Notes what a connection says of both hosts.
    fn hear(&mut self, said: &Said) {
        self.places.note(said.beside);
        for (host, said) in said.of.iter().flatten() {
            if let Some(sums) = self.said.get_mut(host) {
                sums.iter_mut()
                    .zip(said)
                    .for_each(|(sum, said)| *sum += said);
            } else if self.said.len() < MOST_HOSTS {
                self.said.insert(*host, *said);
            }
        }
        for (host, short) in said.short.iter().flatten() {
            if let Some(all) = self.short.get_mut(host) {
                all.add(short);
            } else if self.short.len() < MOST_HOSTS {
                self.short.insert(*host, short.clone());
            }
        }
    }

    /// Gives what has waited longest; whether there was anything. What belongs to a connection that goes on was judged by
    /// the connection alone.
    fn give_first(&mut self, rows: &mut Rows) -> bool {
        let Some(first) = self.order.pop_front() else {
            return false;
        };
        let Some(mut waiting) = self.waiting.remove(&first) else {
            return true;
        };
        self.count -= waiting.retransmissions.len();
        if let Err(defect) = contain(|| self.settle_one(&mut waiting)) {
            if let Some(of) = waiting.retransmissions.first() {
                let (start, flow) = (of.start, of.flow);
                self.failures.note(Failure {
                    start,
                    flow,
                    defect,
                });
            }
            return true;
        }
        rows.retransmissions.append(&mut waiting.retransmissions);
        rows.connections.extend(waiting.connection);
        true
    }

    /// Judges what waits of a connection.
    fn settle_one(&self, waiting: &mut Waiting) {
        if let Some(connection) = &mut waiting.connection {
            self.judge(&mut connection.row, &mut waiting.retransmissions);
            if let Some(fault) = &self.fault {
                fault.happen(&connection.flow, Moment::Judged);
            }
        }
    }

    /// Judges the retransmissions of a connection anew, by what its hosts' other connections said.
    fn judge(&self, connection: &mut Connection, retransmissions: &mut [Of<Retransmission>]) {
        let said = |host: IpAddr, sender: &SenderRow| {
            // A host of which nothing is kept: what this one says.
            match self.said.get(&(host, sender.syn_system)) {
                Some(all) => shares_by(all),
                None => sender.posterior.shares(),
            }
        };
        let ways = [
            said(connection.flow.src, &connection.forward),
            said(connection.flow.dst, &connection.backward),
        ];
        let mut begun: [Option<(u32, Mechanism)>; 2] = [None; 2];
        for retransmission in retransmissions {
            let row = &mut retransmission.row;
            let side = row.direction as usize;
            let FlowKey { src, dst, .. } = connection.flow;
            let (sender, host, receiver) = match row.direction {
                Direction::Forward => (&mut connection.forward, src, dst),
                Direction::Backward => (&mut connection.backward, dst, src),
            };
            self.places.time(row, host);
            let first = begun[side].is_none_or(|(episode, _)| episode != row.episode);
            if let Some(opinions) = row.opinions.take() {
                let before = row.mechanism;
                let short = self.short.get(&(host, sender.syn_system));
                let since = row.witness.since_sent.1;
                row.witness.twice |= short.is_some_and(|short| short.show_twice(since));
                decide(Evidence::Host(&opinions, &ways[side]), &row.witness).rename(row);
                settle(row, self.uncalibrated);
                move_counts(sender, row, before);
            }
            if self.places.judge(row, receiver, sender) && !self.uncalibrated {
                // Beside the receiver the share counts for next to nothing.
                calibrate::need(row, row.confidence);
            }
            if first {
                begun[side] = Some((row.episode, row.mechanism));
            }
            if let Some((_, mechanism)) = begun[side] {
                row.episode_cause = mechanism;
            }
        }
    }
}

/// A retransmission that was counted for another mechanism counts for its own; so does what was waited for it.
fn move_counts(sender: &mut SenderRow, row: &Retransmission, before: Mechanism) {
    let (from, to) = (position_of(before), position_of(row.mechanism));
    if from == to {
        return;
    }
    let need = column_of(row.need);
    sender.retransmissions[from][need] = sender.retransmissions[from][need].saturating_sub(1);
    sender.retransmissions[to][need] += 1;
    let waited = row.waited.min(sender.waited[from]);
    sender.waited[from] = sender.waited[from] - waited;
    sender.waited[to] += waited;
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::Need;
    use rexmit_time::{Duration, Time};

    use super::*;
    use crate::emulate::{DetectionMode, ModePosterior, Opinions};
    use crate::necessary::Witness;
    use crate::rows::{self, Position};
    use crate::testing::{connection, retransmission};

    const SERVER: [u8; 4] = [10, 0, 0, 1];

    fn flow(port: u16, server: [u8; 4]) -> FlowKey {
        FlowKey {
            src: IpAddr::from([10, 0, 0, 2]),
            dst: IpAddr::from(server),
            src_port: port,
            dst_port: 80,
        }
    }

    /// A connection's retransmission that RACK and counting explain alike, and what it says for counting.
    fn rows(number: u16, server: [u8; 4], counting: f64) -> Rows {
        let mut posterior = ModePosterior::default();
        posterior.add(DetectionMode::Rack, 2.4);
        posterior.add(DetectionMode::Counting, counting);
        let mut opinions = Opinions::new(posterior.shares());
        opinions.add(DetectionMode::Rack, 1.0, (Mechanism::Rack, 1.0), None, None);
        let fast = (Mechanism::FastRetransmit, 1.0);
        opinions.add(DetectionMode::Counting, 1.0, fast, None, None);
        let judged = decide(Evidence::Connection(&opinions), &Witness::of_all());
        let mut backward = SenderRow {
            posterior,
            ..SenderRow::default()
        };
        backward.retransmissions[position_of(judged.mechanism)][0] = 1;
        backward.waited[position_of(judged.mechanism)] = Duration::from_millis(30);
        let flow = flow(number, server);
        let retransmission = Retransmission {
            direction: Direction::Backward,
            mechanism: judged.mechanism,
            confidence: judged.confidence,
            runner_up: judged.runner_up,
            episode_cause: judged.mechanism,
            waited: Duration::from_millis(30),
            opinions: Some(Box::new(opinions)),
            ..retransmission()
        };
        let connection = Connection {
            flow,
            backward,
            ..connection()
        };
        Rows {
            connections: vec![of(number, flow, Box::new(connection))],
            retransmissions: vec![of(number, flow, retransmission)],
            ..Rows::default()
        }
    }

    fn of<T>(number: u16, flow: FlowKey, row: T) -> Of<T> {
        Of {
            connection: u64::from(number),
            start: Time::ZERO,
            flow,
            row,
        }
    }

    /// Hosts that leave shares as they are.
    fn uncalibrated() -> Hosts {
        Hosts {
            uncalibrated: true,
            ..Hosts::default()
        }
    }

    fn passed(pieces: impl IntoIterator<Item = Rows>) -> Rows {
        let mut hosts = uncalibrated();
        let mut all = Rows::default();
        for mut piece in pieces {
            hosts.pass(&mut piece);
            all.append(&mut piece);
        }
        all.append(&mut hosts.end());
        all.sort();
        all
    }

    fn mechanisms(rows: &Rows) -> Vec<Mechanism> {
        let retransmissions = rows.retransmissions.iter();
        retransmissions
            .map(|retransmission| retransmission.row.mechanism)
            .collect()
    }

    #[test]
    fn a_host_finds_all_its_losses_in_one_way() {
        use Mechanism::{FastRetransmit, Rack};
        // The second shows that its host counts; the third is of another host.
        let pieces = [
            rows(1, SERVER, 0.0),
            rows(2, SERVER, 9.0),
            rows(3, [10, 0, 0, 9], 0.0),
        ];
        let all = passed(pieces);
        assert_eq!(mechanisms(&all), [FastRetransmit, FastRetransmit, Rack]);
        let sender = &all.connections[0].row.backward;
        assert_eq!(sender.retransmissions[position_of(Rack)], [0; 3]);
        assert_eq!(
            sender.retransmissions[position_of(FastRetransmit)],
            [1, 0, 0]
        );
        let waited = sender.waited[position_of(FastRetransmit)];
        assert_eq!(waited, Duration::from_millis(30));
        assert_eq!(all.retransmissions[0].row.episode_cause, FastRetransmit);
    }

    #[test]
    fn a_host_has_one_stack() {
        use Mechanism::{Rack, SackRecovery};
        // Another stack explains one of three connections better; it is the only one of the last host.
        let other = |number, server| {
            let mut rows = rows(number, server, 0.0);
            let sender = &mut rows.connections[0].row.backward;
            sender.posterior.add(DetectionMode::Other, 7.0);
            let row = &mut rows.retransmissions[0].row;
            let mut opinions = Opinions::new(sender.posterior.shares());
            opinions.add(DetectionMode::Rack, 1.0, (Rack, 1.0), None, None);
            opinions.add(DetectionMode::Other, 1.0, (SackRecovery, 1.0), None, None);
            row.mechanism = decide(Evidence::Connection(&opinions), &Witness::of_all()).mechanism;
            row.opinions = Some(Box::new(opinions));
            rows
        };
        let linux = |number| {
            let mut rows = rows(number, SERVER, -2.4);
            let sender = &mut rows.connections[0].row.backward;
            sender.posterior.add(DetectionMode::Other, -9.0);
            rows
        };
        let all = passed([
            linux(1),
            other(2, SERVER),
            linux(3),
            other(4, [10, 0, 0, 9]),
        ]);
        assert_eq!(mechanisms(&all), [Rack, Rack, Rack, SackRecovery]);
    }

    #[test]
    fn one_connection_does_not_speak_for_many() {
        // The first connection is strong evidence for the wrong detection mode; each of the others is weak evidence.
        let many = (2..5).map(|number| rows(number, SERVER, -4.0));
        let all = passed(std::iter::once(rows(1, SERVER, 90.0)).chain(many));
        assert_eq!(mechanisms(&all), [Mechanism::Rack; 4]);
    }

    #[test]
    fn what_says_too_little_says_nothing_however_often() {
        // Each connection is a little better explained by counting.
        let all = passed((1..20).map(|number| rows(number, SERVER, 2.0)));
        assert_eq!(mechanisms(&all), [Mechanism::Rack; 19]);
    }

    #[test]
    fn a_host_whose_connections_contradict_each_other_is_judged_by_none_for_sure() {
        // Of seven that tell, two say that the host goes by time.
        let counting = (1..6).map(|number| rows(number, SERVER, 9.0));
        let both = counting.chain((6..8).map(|number| rows(number, SERVER, -9.0)));
        let all = passed(both);
        let rows = all.retransmissions.iter().map(|of| &of.row);
        for row in rows {
            assert_eq!(row.mechanism, Mechanism::FastRetransmit);
            let sure = 5.0 / 7.0;
            assert!((row.confidence - sure).abs() < 0.001, "{}", row.confidence);
        }
    }

    #[test]
    fn the_monitor_stands_beside_a_host_in_all_its_connections() {
        // Of one connection nothing came back, another shows that the monitor stands beside the client.
        let silent = |number| {
            let mut rows = rows(number, SERVER, 0.0);
            let row = &mut rows.retransmissions[0].row;
            row.opinions = None;
            (row.need, row.position) = (Need::Unknown, Position::Unknown);
            let sender = &mut rows.connections[0].row.backward;
            sender.retransmissions[position_of(row.mechanism)] = [0, 0, 1];
            rows
        };
        let twin = |client, server| {
            let mut rows = rows(2, SERVER, 0.0);
            rows.retransmissions.clear();
            let connection = &mut rows.connections[0].row;
            let delay = |micros| Some(Duration::from_micros(micros));
            connection.forward.monitor_delay = delay(client);
            connection.backward.monitor_delay = delay(server);
            rows
        };
        let needs = |all: &Rows| {
            let row = &all.retransmissions[0].row;
            let sender = &all.connections[0].row.backward;
            let counts = sender.retransmissions[position_of(row.mechanism)];
            (row.need, row.evidence, counts)
        };
        let spurious = (Need::Spurious, rows::Evidence::OriginalSeen, [0, 1, 0]);
        let unknown = (Need::Unknown, rows::Evidence::None, [0, 0, 1]);
        for (client, server, expected) in [(50, 235_000, spurious), (20_000, 235_000, unknown)] {
            for order in [[0, 1], [1, 0]] {
                let pieces = order.map(|of| [silent(1), twin(client, server)][of].clone());
                assert_eq!(needs(&passed(pieces)), expected);
            }
        }
    }

    #[test]
    fn whoever_waited_long_enough_is_judged_by_what_came_until_then() {
        use Mechanism::{FastRetransmit, Rack};
        let mut hosts = uncalibrated();
        let mut first = rows(1, SERVER, 0.0);
        let mut second = rows(2, SERVER, 9.0);
        hosts.pass(&mut first);
        assert!(first.retransmissions.is_empty());
        hosts.pass(&mut second);
        hosts.settle(&mut second);
        assert_eq!(mechanisms(&second), [FastRetransmit, FastRetransmit]);
        assert_eq!(second.connections.len(), 2);
        // What its host showed is remembered, that of another is another's.
        let mut third = rows(3, SERVER, 0.0);
        third.append(&mut rows(4, [10, 0, 0, 9], 0.0));
        hosts.pass(&mut third);
        hosts.settle(&mut third);
        assert_eq!(mechanisms(&third), [FastRetransmit, Rack]);
        assert!(hosts.end().is_empty());
    }

    #[test]
    fn hosts_make_room_for_others() {
        let mut hosts = uncalibrated();
        for number in 0..MOST_HOSTS {
            let address = IpAddr::from((number as u32).to_be_bytes());
            hosts.said.insert((address, None), [0.0; MODES]);
        }
        hosts.settle(&mut Rows::default());
        assert!(hosts.said.is_empty());
    }

    #[test]
    fn no_more_than_some_wait() {
        let mut hosts = uncalibrated();
        let mut given = 0;
        for round in 0..3_u16 {
            let mut piece = Rows::default();
            for number in 0..30_000 {
                piece.append(&mut rows(number, [10, 1, 1, round as u8], 0.0));
            }
            for row in &mut piece.retransmissions {
                row.connection += u64::from(round) << 32;
            }
            for row in &mut piece.connections {
                row.connection += u64::from(round) << 32;
            }
            hosts.pass(&mut piece);
            assert!(hosts.count <= MOST_WAITING);
            assert_eq!(piece.connections.len(), piece.retransmissions.len());
            given += piece.retransmissions.len();
        }
        assert!(given > 0);
        assert_eq!(given + hosts.end().retransmissions.len(), 90_000);
    }
}
