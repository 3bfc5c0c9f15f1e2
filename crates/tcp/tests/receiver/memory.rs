//! A receiver that runs out of memory. Short segments waste it.

use rexmit_tcp::SackList;
use rexmit_wire::Flags;

use crate::script::{Script, FULL};

const LEN: u32 = 100;

/// A buffer that does not grow and acknowledges each segment out of order at once.
fn script(stack: &str) -> Script {
    let set = [
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 65536 65536"),
        ("sack_compression_most", "0"),
    ];
    Script::with(stack, &set, 1000)
}

/// The short segment number `index` comes.
fn come(script: &mut Script, index: u32) {
    script.segment(index * LEN, LEN, Flags(0));
}

fn acknowledged(script: &mut Script) -> u32 {
    script.acks().last().expect("an acknowledgement").1
}

/// All but the first come, as many as the window lets.
#[test]
fn segments_of_a_file_are_put_together_before_any_is_dropped() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = script(stack);
        let window = u32::from(script.opening.window) << script.receiver.scale();
        let count = window / LEN;
        for index in 1..count {
            come(&mut script, index);
        }
        come(&mut script, 0);
        assert_eq!(acknowledged(&mut script), count * LEN, "{stack}");
    }
}

/// What a real 3.10.4 offers when a hole is filled (set 21, cases 21-49 and 21-52): each segment behind it costs a buffer of its
/// own, which the sender shares. The 22nd finds more in use than there may be, and those before it are copied.
#[test]
fn windows_of_3_10_when_a_hole_is_filled() {
    let filled = |behind: u32| {
        let set = [("moderate_receive_buffer", "false")];
        let mut script = Script::with("linux-3.10", &set, 1000).in_buffers(4352);
        let begin = 60;
        script.fulls(0..begin);
        script.fulls(begin + 1..=begin + behind);
        script.headers();
        script.full(begin);
        let (_, header) = script.headers()[0];
        assert_eq!(header.ack.get(), 1000 + (begin + behind + 1) * FULL);
        u32::from(header.window) << script.receiver.scale()
    };
    assert_eq!(filled(3), 291 * 128);
    assert_eq!(filled(23), 170 * 128);
}

/// Every second comes: none can be put together with others.
#[test]
fn a_full_receiver_of_6_1_drops_what_came_and_of_6_12_what_comes() {
    for (stack, cost) in [("linux-6.1", 768 + LEN), ("linux-6.12", 832 + LEN)] {
        let mut script = script(stack).written();
        // One more is taken as long as no more than the buffer is in use.
        let fit = 65_536 / cost + 1;
        for index in 0..fit {
            come(&mut script, 2 * index + 1);
        }
        assert_eq!(script.headers().len() as u32, fit, "{stack}");
        come(&mut script, 2 * fit + 1);
        let told: Vec<SackList> = script.headers().iter().map(|(_, one)| one.sack).collect();
        if stack == "linux-6.12" {
            assert_eq!(told, []);
            continue;
        }
        // What the blocks told of may be gone: they begin anew.
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].as_slice().len(), 1);
        // An eighth of the buffer went.
        let gone = (65_536_u32 >> 3).div_ceil(cost);
        for index in 0..=fit {
            come(&mut script, 2 * index);
        }
        assert_eq!(acknowledged(&mut script), (2 * (fit - gone) + 1) * LEN);
    }
}
