//! One connection of a corpus, or two that follow each other on the same addresses and ports: drawn, run and told.

use std::net::IpAddr;
use std::sync::Arc;

use rexmit_tcp::connection::Connection;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Stream, Streams, Time};
use rexmit_wire::FlowKey;

use super::behaviour::{self, deferral};
use super::draw::{between, chance, seconds};
use super::look::{endpoints, Look};
use super::mix::Mix;
use super::path::Path;
use super::perturb::{perturbed, told};
use super::record::{Made, Point, Record};
use super::render::{Hosts, Rendered};
use super::truth::{truth, Truth};
use super::updates::Updates;
use super::workload;
use crate::apps::{App, Host as Server, Script, Visitor};
use crate::machine::Stack;
use crate::world::{EndId, Host, Network, Talk, World};

/// A connection is left alone when it goes on for longer than that.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// What connections are drawn from.
pub(super) struct Population<'a> {
    pub streams: Streams,
    pub mix: &'a Mix,
    /// Of those that send most, drawn evenly, and of the others.
    pub senders: &'a [(&'static str, Settings)],
    pub receivers: &'a [(&'static str, Settings)],
    pub perturb: f64,
    pub snaplen: usize,
    /// Points at which packets are captured.
    pub points: [bool; 3],
}

/// What became of a draw.
pub(super) struct Unit {
    pub rendered: Rendered,
    pub told: Vec<ConnectionTruth>,
}

/// What is told of one connection.
pub(super) struct ConnectionTruth {
    pub sender: &'static str,
    pub receiver: &'static str,
    pub settings: String,
    pub network: String,
    pub workload: String,
    pub start: Time,
    pub end: Time,
    /// The direction that sends most, then the other.
    pub directions: [Direction; 2],
}

/// What is told of a direction.
pub(super) struct Direction {
    pub flow: FlowKey,
    /// From the client, who opened.
    pub forward: bool,
    /// The point beside the host that sends it.
    pub home: Point,
    pub truth: Truth,
    /// The packets of the retransmissions, in their order.
    pub packets: Vec<Made>,
    /// What times of packets are moved on by.
    pub shift: Duration,
}

impl Population<'_> {
    /// Draws connection `number`, which begins at `start`.
    pub fn draw(&self, number: u64, start: Time) -> Unit {
        let streams = Streams::new(self.streams.stream("connection", number).next_u64());
        // A stream for each matter: what is drawn for one does not depend on another, as networks do not on stacks.
        let draw = |what| streams.stream(what, 0);
        let path = Path::draw(&self.mix.network, &mut draw("path"));
        let (mut script, upload) = workload::draw(&self.mix.workload, &mut draw("workload"));
        let mut draws = draw("behaviour");
        let behaviour = behaviour::draw(&self.mix.workload, &mut script, upload, &mut draws);
        // Four connections in a row come from one client's host.
        let client = self.streams.stream("client", number / 4).uniform();
        let server = draw("server").uniform();
        let (sender, receiver) = if upload {
            (client, server)
        } else {
            (server, client)
        };
        let sender = Party::new(self.senders, sender, self.perturb, &mut draw("sender"));
        let mut receiver = Party::new(
            self.receivers,
            receiver,
            self.perturb,
            &mut draw("receiver"),
        );
        receiver.fix_buffer(behaviour.receive_buffer);
        let mut stream = draw("place");
        let (client, server) = if upload {
            (&sender, &receiver)
        } else {
            (&receiver, &sender)
        };
        let (client_ip, client_port, server_ip, server_port) =
            endpoints(number, client.look, server.look, stream.next_u64());
        let [sender_ip, receiver_ip] = if upload {
            [client_ip, server_ip]
        } else {
            [server_ip, client_ip]
        };
        // Hosts have been up for a while, and their ticks fall anywhere.
        let begin = Time::from_nanos(1_000_000_000 + stream.below(100_000_000_000_000));
        let shift = start.since(begin);
        let mut hosts = [
            sender.host(IpAddr::V4(sender_ip), path.mtu),
            receiver.host(IpAddr::V4(receiver_ip), path.mtu),
        ];
        let listens = &mut hosts[usize::from(upload)];
        listens.defer_accept = behaviour
            .defers
            .and_then(|time| deferral(time, server.look, &server.settings));
        let deferred = listens.defer_accept.is_some();
        let [sender_host, receiver_host] = hosts;
        let (network, nodes) = path.build(sender_host, receiver_host, &streams);
        let (client_node, server_node) = if upload {
            (nodes.sender, nodes.receiver)
        } else {
            (nodes.receiver, nodes.sender)
        };
        let updates = Updates::new(behaviour.update_loss, draw("updates"));
        let record = Record::new(nodes.tap, upload, updates);
        let mut run = Run::new(network, record, &streams, begin);
        let script = Arc::new(script);
        let workload = told_of(&script, upload, deferred);
        let talk = Talk {
            client: (
                client_node,
                client_port,
                App::Visitor(Visitor::new(Arc::clone(&script))),
            ),
            server: (server_node, server_port, App::Host(Server::new(script))),
        };
        let mut opened = vec![run.until_quiet(begin, talk.clone())];
        if chance(&mut stream, self.mix.workload.reuse_share) {
            // The hosts have forgotten the first.
            let gap = seconds(between(&mut stream, 0.5, 90.0));
            opened.push(run.until_quiet(run.world.now() + gap, talk));
        }
        let record = &mut run.world.gate;
        record.sort();
        for (seen, wanted) in record.seen.iter_mut().zip(self.points) {
            if !wanted {
                seen.clear();
            }
        }
        let hosts = Hosts {
            looks: [client.look, server.look],
            ids: [stream.next_u64() as u16, stream.next_u64() as u16],
            hops: [0, path.hops_to_tap, path.hops],
            upload,
        };
        let (world, record) = (&run.world, &run.world.gate);
        let rendered = Rendered::new(record, |end| world.key(end), &hosts, self.snaplen, shift);
        let network = path.told().to_string();
        let settings = serde_json::json!({
            "sender": told(sender.name, &sender.settings),
            "receiver": told(receiver.name, &receiver.settings),
        })
        .to_string();
        let told = opened
            .into_iter()
            .map(|end| ConnectionTruth {
                sender: sender.name,
                receiver: receiver.name,
                settings: settings.clone(),
                network: network.clone(),
                workload: workload.to_string(),
                ..tell(world, end, upload, shift)
            })
            .collect();
        Unit { rendered, told }
    }
}

/// A host of a connection.
struct Party {
    name: &'static str,
    look: &'static Look,
    settings: Settings,
}

impl Party {
    /// A host whose stack is the one of `stacks` that lies as far down the list as `place` says, 0 to 1.
    fn new(
        stacks: &[(&'static str, Settings)],
        place: f64,
        perturb: f64,
        stream: &mut Stream,
    ) -> Self {
        let (name, settings) = &stacks[(place * stacks.len() as f64) as usize];
        let look = Look::of(name);
        Party {
            name,
            look,
            settings: perturbed(settings, look, perturb, stream),
        }
    }

    fn host(&self, address: IpAddr, mtu: u32) -> Host {
        Host {
            mtu,
            ..Host::new(address, Stack::new(self.settings.clone()))
        }
    }

    /// Gives the host a receive buffer of so many bytes, which does not grow (SO_RCVBUF).
    fn fix_buffer(&mut self, bytes: Option<u32>) {
        if let Some(bytes) = bytes {
            self.settings.receiver.receive_buffer = [bytes; 3];
            self.settings.receiver.moderate_receive_buffer = false;
        }
    }
}

/// What is told of a workload; of behaviour only where there is some.
fn told_of(script: &Script, upload: bool, deferred: bool) -> serde_json::Value {
    let mut told = serde_json::json!({
        "requests": script.exchanges.len(),
        "upload": upload,
        "server_closes": script.server_closes,
        "aborts": script.aborts_after.is_some(),
    });
    let stops = script.client.stops.len() + script.server.stops.len();
    if stops > 0 {
        told["stops"] = stops.into();
    }
    if script.first_think > Duration::ZERO {
        told["first_think_s"] = script.first_think.as_secs_f64().into();
        told["deferred"] = deferred.into();
    }
    if script.lingers > Duration::ZERO {
        told["lingers_s"] = script.lingers.as_secs_f64().into();
    }
    for (end, behaviour) in [("client", &script.client), ("server", &script.server)] {
        if let Some(cut) = &behaviour.cut {
            told["cut_by"] = end.into();
            told["cut_resets"] = cut.resets.into();
        }
    }
    told
}

/// A world in which one connection is open at a time.
struct Run {
    world: World<Connection, Record>,
}

impl Run {
    fn new(network: Network, record: Record, streams: &Streams, begin: Time) -> Self {
        Run {
            world: World::new(network, record, streams, begin),
        }
    }

    /// Opens a connection at `at` and waits until nothing more happens.
    fn until_quiet(&mut self, at: Time, talk: Talk) -> EndId {
        let end = self.world.open(at, talk);
        self.world.run_until(at + PATIENCE);
        end
    }
}

fn tell(
    world: &World<Connection, Record>,
    client: EndId,
    upload: bool,
    shift: Duration,
) -> ConnectionTruth {
    let record = &world.gate;
    let direction = |end: EndId| {
        let own = || {
            let all = record.packets.iter().enumerate();
            all.filter(move |(_, made)| made.from == end)
        };
        let truth = truth(own());
        let packets = truth
            .retransmissions
            .iter()
            .map(|retransmission| record.packets[retransmission.packet]);
        Direction {
            flow: *world.key(end),
            forward: end.is_client(),
            home: record.home(end),
            packets: packets.collect(),
            truth,
            shift,
        }
    };
    let mut directions = [direction(client), direction(client.peer())];
    let more_back = directions[1].truth.bytes > directions[0].truth.bytes;
    let as_meant = directions[1].truth.bytes == directions[0].truth.bytes && !upload;
    if more_back || as_meant {
        directions.swap(0, 1);
    }
    let mine = |made: &&Made| made.from == client || made.from == client.peer();
    let times = || {
        let made = record.packets.iter().filter(mine);
        made.flat_map(|made| made.seen.into_iter().flatten().chain([made.at]))
    };
    ConnectionTruth {
        sender: "",
        receiver: "",
        settings: String::new(),
        network: String::new(),
        workload: String::new(),
        start: times().min().unwrap_or(Time::ZERO) + shift,
        end: times().max().unwrap_or(Time::ZERO) + shift,
        directions,
    }
}
