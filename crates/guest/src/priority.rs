//! Who runs first where several could: the links where they are a program, whoever keeps a capture, the server, the
//! filter, then all others.
//!
//! Left to the scheduler it would be now one, now the other, by what ran before, and whether a FIN travels on data would
//! follow from that. They are real-time threads, since 6.12 lets ordinary ones run before those at times (`dl_server`).

use nix::errno::Errno;

/// A place in the order.
#[derive(Clone, Copy)]
pub struct Priority(i32);

/// Of a program that is the links: a packet is to arrive when it is due.
pub const LINE: Priority = Priority(4);
/// Of what keeps a capture: a packet that came must be noted before what it made a host send.
pub const CAPTURE: Priority = Priority(3);
/// Of the web server.
pub const SERVER: Priority = Priority(2);
/// Of the client in real time, where all others are not ours.
pub const CLIENT: Priority = Priority(1);
/// Of the loss filter.
pub const FILTER: Priority = Priority(1);

impl Priority {
    /// Gives it to the calling thread, and to what that will execute. Async-signal-safe.
    pub fn take(self) -> Result<(), Errno> {
        let parameters = libc::sched_param {
            sched_priority: self.0,
        };
        // SAFETY: the parameters are live.
        let result =
            unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
        Errno::result(result).map(drop)
    }
}
