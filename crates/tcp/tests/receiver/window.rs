//! The window that is offered.

use rexmit_tcp::receiver::Receiver;
use rexmit_wire::Flags;

use crate::script::{settings, Script, FULL};

/// The window field of the last acknowledgement, scaled.
fn offered(script: &mut Script) -> u32 {
    let scale = script.receiver.scale();
    let headers = script.headers();
    u32::from(headers.last().expect("an acknowledgement").1.window) << scale
}

#[test]
fn the_first_windows_are_linux_s() {
    // As `tcpdump` shows them: in the SYN, and then in the acknowledgement that ends the handshake, scaled by 7.
    for (stack, syn, opening) in [
        ("linux-3.10", 14_600, 115),
        ("linux-6.1", 64_240, 502),
        ("linux-6.12", 64_240, 502),
    ] {
        assert_eq!(syn_window(stack, None), (syn, 7), "{stack}");
        assert_eq!(Script::new(stack).opening.window, opening, "{stack}");
    }
}

#[test]
fn a_route_s_window_bounds_it_and_its_scale() {
    assert_eq!(syn_window("linux-6.1", Some(20_000)), (18_980, 0));
    assert_eq!(syn_window("linux-6.12", Some(200_000)), (64_240, 2));
}

/// `ip route … initrwnd`: 3.10 bounds the first window in any case, later kernels where a route says so.
#[test]
fn a_route_s_segments_bound_the_first_window() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        for segments in [2, 5, 20] {
            let said = ("initial_receive_window", segments.to_string());
            let first = first_window(stack, &[(said.0, &said.1)], None).0;
            assert_eq!(u32::from(first), segments * 1460, "{stack}");
        }
    }
}

/// `net.core.rmem_max` is 212,992.
#[test]
fn a_small_buffer_s_scale_is_that_of_the_largest_a_program_may_ask_for() {
    for (stack, scale) in [("linux-3.10", 2), ("linux-6.12", 2), ("rfc", 0)] {
        let small = [("receive_buffer", "4096 16384 32768")];
        assert_eq!(first_window(stack, &small, None).1, scale, "{stack}");
    }
}

fn syn_window(stack: &str, clamp: Option<u32>) -> (u16, u8) {
    first_window(stack, &[], clamp)
}

fn first_window(stack: &str, set: &[(&str, &str)], clamp: Option<u32>) -> (u16, u8) {
    let settings = settings(stack, set);
    let clock = settings.timers.clock();
    let receiver = Receiver::new(&settings, clock, 1460, 1460, clamp, true);
    (receiver.syn_window(), receiver.scale())
}

#[test]
fn a_reader_that_sleeps_sees_the_window_shut_and_open_again() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::new(stack);
        script.set_reading(false);
        let scale = script.receiver.scale();
        let mut right = u32::from(script.opening.window) << scale;
        let (mut millis, mut sent) = (1.0, 0);
        // The peer heeds the window; when it is full, an acknowledgement may widen it.
        loop {
            let len = FULL.min(right - sent);
            millis += if len > 0 { 1.0 } else { 300.0 };
            script.at(millis);
            if len > 0 {
                script.segment(sent, len, Flags(0));
                sent += len;
            }
            let Some((_, header)) = script.headers().pop() else {
                assert!(len > 0, "{stack}: the window is full and stays so");
                continue;
            };
            if header.window == 0 {
                break;
            }
            right = header.ack.get() - 1000 + (u32::from(header.window) << scale);
        }
        script.at(millis + 10.0).segment(sent, FULL, Flags(0));
        assert_eq!(script.acks(), [(millis + 10.0, sent)], "{stack}");
        script.at(millis + 20.0).set_reading(true);
        assert!(offered(&mut script) > 20_000, "{stack}: reading opens it");
    }
}

#[test]
fn the_window_never_shrinks() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::new(stack);
        script.set_reading(false);
        let scale = script.receiver.scale();
        let mut edge = 0;
        for index in 0..60 {
            script.at(f64::from(index)).full(index);
            for (_, header) in script.headers() {
                let ack = header.ack.get() - 1000;
                let right = ack + (u32::from(header.window) << scale);
                assert!(right >= edge, "{stack}: {right} after {edge}");
                edge = right;
            }
        }
    }
}

#[test]
fn the_buffer_follows_what_the_reader_takes() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::new(stack);
        // Windows of 10, 20, 40 ... segments, one each round trip.
        let (mut index, mut flight) = (0, 10);
        for round in 0..5 {
            script
                .at(100.0 * f64::from(round))
                .fulls(index..index + flight);
            index += flight;
            flight *= 2;
        }
        script.at(1000.0);
        assert!(offered(&mut script) > 4 * 64_240, "{stack}");
    }
}

#[test]
fn data_beyond_the_window_are_refused_and_answered() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut script = Script::new(stack);
        script.full(0).acks();
        script.segment(200 * FULL, FULL, Flags(0));
        assert_eq!(script.acks(), [(0.0, FULL)], "{stack}");
    }
}
