//! Acknowledgements that do nothing but open a window that was shut, some of which are lost.

use rexmit_tcp::Segment;
use rexmit_time::Stream;
use rexmit_wire::SeqNum;

use super::draw::chance;

/// Loses some of them.
pub(super) struct Updates {
    loss: f64,
    stream: Stream,
    /// The acknowledgement number at which each end shut its window last.
    shut: Vec<Option<SeqNum>>,
}

impl Updates {
    /// Loses them with the probability `loss`.
    pub fn new(loss: f64, stream: Stream) -> Self {
        Updates {
            loss,
            stream,
            shut: Vec::new(),
        }
    }

    /// Whether what the end with this index sends is lost.
    pub fn lose(&mut self, end: usize, segment: &Segment) -> bool {
        if self.loss == 0.0 || !segment.flags.ack() || segment.flags.rst() {
            return false;
        }
        if end >= self.shut.len() {
            self.shut.resize(end + 1, None);
        }
        if segment.window == 0 {
            self.shut[end] = Some(segment.ack);
            return false;
        }
        let opens = self.shut[end].take() == Some(segment.ack) && segment.space() == 0;
        opens && chance(&mut self.stream, self.loss)
    }
}
