//! The lines of a text, wrapped ones put together.

use std::io::{self, BufRead, ErrorKind};

use super::details;
use super::line::{self, Begin, Form};
use crate::capture::window::ByteWindow;

/// Bytes of a line that are kept, with the lines that go on with it.
const MOST: usize = 4096;
/// The same of a packet in detail.
const MOST_DETAILS: usize = 1 << 14;

/// Lines that may begin a packet, with those that go on with them: the second of `tcpdump -v`, what mail wraps, and all
/// fields of a packet in detail.
pub(super) struct Lines<'r> {
    window: ByteWindow<'r>,
    form: Form,
    /// Lines read.
    number: u64,
    /// The first line of the next packet.
    ahead: Option<(u64, String)>,
    /// Packets begin with a time: what begins without is within another.
    is_timed: bool,
    is_cut: bool,
}

impl<'r> Lines<'r> {
    pub fn new(window: ByteWindow<'r>, form: Form) -> Self {
        Lines {
            window,
            form,
            number: 0,
            ahead: None,
            is_timed: false,
            is_cut: false,
        }
    }

    /// The next line that begins a packet, and its number, from 1.
    pub fn next(&mut self) -> io::Result<Option<(u64, String)>> {
        let (number, mut text) = loop {
            match self.ahead.take() {
                Some(first) => break first,
                None => match self.one()? {
                    Some(line) if self.begins(&line) => break (self.number, line),
                    Some(_) => {}
                    None => return Ok(None),
                },
            }
        };
        while let Some(more) = self.one()? {
            if more.is_empty() {
                break;
            }
            if self.begins(&more) {
                self.ahead = Some((self.number, more));
                break;
            }
            let (between, most) = match self.form {
                Form::Lines => (' ', MOST),
                Form::Details => ('\n', MOST_DETAILS),
            };
            if text.len() + more.len() < most {
                text.push(between);
                text.push_str(&more);
            }
        }
        Ok(Some((number, text)))
    }

    fn begins(&mut self, line: &str) -> bool {
        if self.form == Form::Details {
            return details::begins(line);
        }
        let begin = line::begins(line);
        self.is_timed |= begin == Some(Begin::Time);
        match begin {
            Some(Begin::Time) => true,
            Some(Begin::NoTime) => !self.is_timed,
            None => false,
        }
    }

    /// Whether the text ended where what packs it says that more follows.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// One line, without the marks of a quotation.
    fn one(&mut self) -> io::Result<Option<String>> {
        let (mut line, mut any) = (Vec::new(), false);
        loop {
            let bytes = match self.window.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    self.is_cut = true;
                    &[]
                }
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                break;
            }
            any = true;
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            line.extend_from_slice(&piece[..piece.len().min(MOST - line.len())]);
            let used = piece.len() + usize::from(end.is_some());
            self.window.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        self.number += 1;
        let text = String::from_utf8_lossy(&line);
        let mut text = text.trim_start_matches('\u{feff}').trim();
        while let Some(quoted) = text.strip_prefix('>') {
            text = quoted.trim_start();
        }
        Ok(Some(text.to_owned()))
    }
}
