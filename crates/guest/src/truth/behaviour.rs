//! What an end of a connection does besides what is to be said: it stops reading, and it cuts the connection.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use nix::sys::socket::{setsockopt, sockopt};
use rexmit_plan::{Conversation, Cut, End, Stop};

use super::traffic::pause;

/// A connection as one end behaves on it. After its cut every call fails.
pub(super) struct Line<'a> {
    stream: &'a TcpStream,
    /// Stops to come, in the order of their bytes.
    stops: &'a [Stop],
    cut: Option<Cut>,
    read: u64,
    passed: u64,
}

impl<'a> Line<'a> {
    pub fn new(stream: &'a TcpStream, plan: &'a Conversation, own: End) -> Self {
        Line {
            stream,
            stops: match own {
                End::Client => &plan.client_stops,
                End::Server => &plan.server_stops,
            },
            cut: plan.cut.filter(|cut| cut.by == own),
            read: 0,
            passed: 0,
        }
    }

    /// The connection itself.
    pub fn stream(&self) -> &'a TcpStream {
        self.stream
    }

    /// Bytes that may be read before the next stop, which begins and ends here if it is due.
    fn until_stop(&mut self) -> u64 {
        while let [stop, later @ ..] = self.stops {
            if self.read < stop.after_bytes {
                return stop.after_bytes - self.read;
            }
            pause(stop.pause_ns);
            self.stops = later;
        }
        u64::MAX
    }

    /// So many bytes more were read or written.
    fn count(&mut self, bytes: usize) -> io::Result<()> {
        self.passed += bytes as u64;
        let Some(cut) = self.cut.filter(|cut| self.passed >= cut.after_bytes) else {
            return Ok(());
        };
        pause(cut.wait_ns);
        if cut.resets {
            let now = libc::linger {
                l_onoff: 1,
                l_linger: 0,
            };
            setsockopt(self.stream, sockopt::Linger, &now)?;
        } else {
            // Unread data would make a reset of the close.
            self.drain()?;
        }
        Err(io::Error::new(ErrorKind::ConnectionAborted, "it is cut"))
    }

    fn drain(&self) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        let (mut stream, mut buffer) = (self.stream, vec![0; 1 << 16]);
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Read for Line<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.until_stop()).unwrap_or(usize::MAX);
        let most = buffer.len().min(room);
        let mut stream = self.stream;
        let length = stream.read(&mut buffer[..most])?;
        self.read += length as u64;
        self.count(length)?;
        Ok(length)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        let length = stream.write(buffer)?;
        self.count(length)?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
