//! What a program does with a socket.

use rexmit_time::Time;

use super::Connection;

/// What a program does with a socket, whatever is behind it; see [`Connection`] for each.
pub trait Socket {
    /// As `send`.
    fn write(&mut self, now: Time, bytes: u32, more: bool) -> u32;
    /// As `sendfile`.
    fn send_file(&mut self, now: Time, offset: u64, bytes: u32) -> u32;
    /// As `recv`.
    fn read(&mut self, now: Time, most: u32) -> u32;
    /// Nothing more will be read.
    fn at_end(&self) -> bool;
    /// TCP_CORK.
    fn set_cork(&mut self, now: Time, on: bool);
    /// As `close`.
    fn close(&mut self, now: Time);
    /// As `close` with SO_LINGER and no time.
    fn abort(&mut self, now: Time);
}

impl Socket for Connection {
    fn write(&mut self, now: Time, bytes: u32, more: bool) -> u32 {
        self.write(now, bytes, more)
    }

    fn send_file(&mut self, now: Time, offset: u64, bytes: u32) -> u32 {
        self.send_file(now, offset, bytes)
    }

    fn read(&mut self, now: Time, most: u32) -> u32 {
        self.read(now, most)
    }

    fn at_end(&self) -> bool {
        self.at_end()
    }

    fn set_cork(&mut self, now: Time, on: bool) {
        self.set_cork(now, on);
    }

    fn close(&mut self, now: Time) {
        self.close(now);
    }

    fn abort(&mut self, now: Time) {
        self.abort(now);
    }
}
