//! What is under way on the paths, in both directions.

use std::collections::VecDeque;

use rexmit_time::Time;

/// The arrival of the first packet of a wire. Of several at one time the one that was awaited first comes first, as of timers
/// that expire together that which was set first: the wire that has waited for its packet for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    number: u64,
    pub path: usize,
    /// The end at which it arrives.
    pub to: usize,
}

/// What is under way on a path in one direction, in the order of arrival.
#[derive(Debug)]
struct Wire<T> {
    packets: VecDeque<(Time, T)>,
    /// The number of the arrival that is awaited: that of the first of them.
    awaited: u64,
}

/// All wires, two a path.
#[derive(Debug)]
pub struct Wires<T> {
    /// `[path][receiver]`
    wires: Vec<[Wire<T>; 2]>,
    /// Arrivals that were awaited so far.
    arrivals: u64,
}

impl<T> Wires<T> {
    pub fn new(paths: usize) -> Self {
        let wire = || Wire {
            packets: VecDeque::new(),
            awaited: 0,
        };
        Wires {
            wires: (0..paths).map(|_| [wire(), wire()]).collect(),
            arrivals: 0,
        }
    }

    /// Puts a packet on the way that arrives at `time`. The arrival to await if it is the first of its wire.
    pub fn put(
        &mut self,
        time: Time,
        path: usize,
        to: usize,
        packet: T,
    ) -> Option<(Time, Arrival)> {
        let packets = &mut self.wires[path][to].packets;
        let place = packets.partition_point(|(other, _)| *other <= time);
        packets.insert(place, (time, packet));
        if place > 0 {
            return None;
        }
        self.first(path, to)
    }

    /// Takes the packet that arrives, and the arrival to await next on its wire; nothing if an earlier one is awaited in its
    /// place by now.
    pub fn take(&mut self, arrival: Arrival) -> Option<(T, Option<(Time, Arrival)>)> {
        let Arrival { number, path, to } = arrival;
        let wire = &mut self.wires[path][to];
        if wire.awaited != number {
            return None;
        }
        let (_, packet) = wire.packets.pop_front()?;
        Some((packet, self.first(path, to)))
    }

    /// When the packets of a wire arrive.
    #[cfg(test)]
    pub fn times(&self, path: usize, to: usize) -> impl Iterator<Item = Time> + '_ {
        self.wires[path][to].packets.iter().map(|(time, _)| *time)
    }

    fn first(&mut self, path: usize, to: usize) -> Option<(Time, Arrival)> {
        let wire = &mut self.wires[path][to];
        let (time, _) = wire.packets.front()?;
        self.arrivals += 1;
        wire.awaited = self.arrivals;
        let number = self.arrivals;
        Some((*time, Arrival { number, path, to }))
    }
}
