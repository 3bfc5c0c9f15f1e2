//! Captures that lack a handshake, or what was lost before them.

use super::*;

/// Subflows whose connection began before the capture belong together by their token.
#[test]
fn joins_without_the_first_handshake() {
    let mut paths = Paths::new(1);
    for port in [40_000, 40_001] {
        let subflow = paths.subflow(port);
        let options = paths.joins();
        paths.shake(subflow, &options);
    }
    paths.send(0, 50_000);
    paths.wait(300).send(1, 50_000);
    let rows = rows(&paths.pcap(WHOLE));
    let id = rows.connections[0].connection;
    assert_eq!(
        subflows(&rows),
        [
            (id, 1, Some(Role::Join), None),
            (id, 2, Some(Role::Join), None)
        ]
    );
    assert_eq!(reinjected(&rows).len(), 1);
}

/// A capture of one of the paths alone: data go to a subflow in the order in which they were written.
#[test]
fn what_went_first_was_never_seen() {
    let mut paths = two();
    paths.wait(200).send(1, 1_000);
    paths.send(1, 3_000);
    paths
        .packets
        .retain(|(_, bytes, _)| !bytes.windows(2).any(|two| two == 40_000_u16.to_be_bytes()));
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    let row = &reinjection.row;
    assert_eq!((row.first_sent, row.detection), (None, None));
    assert_eq!(row.multipath.as_ref().unwrap().first, None);
}

/// The capture begins when both subflows exist: mappings say where each begins, but not that they belong together.
#[test]
fn a_capture_from_the_middle() {
    let mut paths = two();
    paths.wait(100).send(1, 3_000);
    paths.send(0, 1_000);
    paths.packets.drain(..6);
    let rows = rows(&paths.pcap(WHOLE));
    let all = subflows(&rows);
    assert_eq!(all.len(), 2);
    assert!(all
        .iter()
        .all(|(_, number, role, _)| (*number, *role) == (1, None)));
}

/// Near the receiver, what was sent again on a fast path comes by before the original on a slow one.
#[test]
fn what_comes_by_later_may_have_left_before() {
    let mut paths = Paths::new(1);
    paths.subflow(40_000);
    paths.subflow(40_001);
    // From the monitor to the server and back; none to the client.
    paths.subflows[0].ways = (2_000, 0);
    paths.subflows[1].ways = (10, 0);
    let options = {
        let mut other = Paths::new(1);
        other.open(40_000);
        other
    };
    // The first handshake, as the other has it.
    let capable = options.packets;
    for (n, (_, bytes, length)) in capable.into_iter().enumerate() {
        if n == 1 {
            paths.wait(2_000);
        }
        paths.packets.push((paths.now, bytes, length));
    }
    paths.subflows[0].sent = 1;
    let joins = paths.joins();
    paths.shake(1, &joins);
    let fast = paths.now;
    paths.send(1, 0);
    let slow = paths.wait(300).now;
    paths.send(0, 0);
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    assert_eq!(reinjection.flow.src_port, 40_001);
    assert_eq!(reinjection.row.time, fast);
    // It left 1 s before it came by, the other 5 ms before.
    let waited = Duration::from_millis(1_000 - 5) - (slow - fast);
    assert_eq!(reinjection.row.detection, Some(waited));
    assert_eq!(reinjection.row.first_sent, Some(fast - waited));
}

/// A monitor at the receiver: a packet of the first subflow is lost before it comes by, and leaves a gap. The second brings
/// its data, then the first sends it again.
#[test]
fn what_was_lost_before_the_monitor_went_first() {
    let mut paths = Paths::new(1);
    paths.open(40_000);
    paths.wait(5).open(40_001);
    paths.send(0, 0);
    paths.subflows[0].sent += FULL;
    paths.send(0, 2_000);
    paths.data_ack = 1_000;
    paths.wait(1).ack(0, 1_001);
    let again = paths.wait(200).now;
    paths.send(1, 1_000);
    paths.data_ack = 3_000;
    paths.wait(1).ack(1, 1_001).wait(50);
    paths.retransmission(0, 1_001, 1_000).wait(1).ack(0, 3_001);
    paths.close(0).close(1);
    let rows = rows(&paths.pcap(WHOLE));
    let reinjection = only(&rows);
    assert_eq!(reinjection.flow.src_port, 40_001);
    assert_eq!(reinjection.row.time, again);
    assert_eq!(
        reinjection.row.multipath.as_ref().unwrap().first.unwrap().1,
        1
    );
    let own = rows.retransmissions.iter();
    assert_eq!(own.filter(|of| of.flow.src_port == 40_000).count(), 1);
}
