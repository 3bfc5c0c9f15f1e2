//! What a program does with a socket.

use rexmit_time::Time;

/// What a program does with a socket, whatever is behind it; a [`Connection`](super::Connection) says what each does.
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
