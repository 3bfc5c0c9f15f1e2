//! What a list leaves out, in words.

use core::fmt::Display;

use super::clock::ListClock;
use super::flows::Flows;
use super::line::{Segment, Style};
use super::names::Names;

/// What was met that a capture would have told.
#[derive(Default)]
pub(super) struct Missing {
    /// Acknowledgements without a sequence number.
    unnumbered: u64,
    /// Packets whose numbers the list does not have and that follow from others, and those of which they do not.
    inferred: u64,
    left_out: u64,
    /// Lines that cannot be read, and the first of them.
    broken: u64,
    first_broken: u64,
}

impl Missing {
    /// Counts what the line of a segment does not say.
    pub fn segment(&mut self, segment: &Segment) {
        let is_unnumbered = segment.style == Style::Tcpdump && segment.seq.is_none();
        self.unnumbered += u64::from(is_unnumbered);
    }

    /// Counts a line that tells a packet by what it carries.
    pub fn covered(&mut self, is_found: bool) {
        if is_found {
            self.inferred += 1;
        } else {
            self.left_out += 1;
        }
    }

    /// Counts a line that begins as a packet and cannot be read.
    pub fn broken(&mut self, number: u64) {
        if self.broken == 0 {
            self.first_broken = number;
        }
        self.broken += 1;
    }

    /// All of it.
    pub fn in_words(&self, clock: &ListClock, names: &Names, flows: &Flows) -> String {
        let mut all = vec!["a list of packets as text, without their payload".to_owned()];
        all.extend(clock.in_words().map(str::to_owned));
        if self.broken > 0 {
            let count = counted(
                self.broken,
                "line that begins as a packet",
                "lines that begin as packets",
            );
            all.push(format!(
                "{count} cannot be read, the first is line {}",
                self.first_broken
            ));
        }
        if flows.midway > 0 {
            let connections = counted(flows.connections, "connection", "connections");
            all.push(format!(
                "of {connections} the first packet of {} is no SYN: sequence numbers and windows of those may be relative",
                flows.midway
            ));
        }
        if self.unnumbered > 0 {
            let count = counted(self.unnumbered, "acknowledgement", "acknowledgements");
            all.push(format!(
                "{count} without a sequence number (tcpdump -vv prints it): keep-alives and probes of a window cannot be told from them"
            ));
        }
        if self.inferred + self.left_out > 0 {
            all.push(format!(
                "{} printed without TCP's numbers, which follow from other packets for {} and are not known for {}: those are left out",
                counted(self.inferred + self.left_out, "packet", "packets"),
                self.inferred,
                self.left_out
            ));
        }
        if flows.wide > 0 {
            let count = counted(flows.wide, "window", "windows");
            all.push(format!(
                "{count} above 65,535 without the window scale: taken as 65,535"
            ));
        }
        all.extend(stand_for("address", &names.hosts()));
        all.extend(stand_for("port", &names.ports()));
        all.join("; ")
    }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Which numbers stand for names.
fn stand_for(what: &str, made: &[(impl Display, &str)]) -> Option<String> {
    const TOLD: usize = 16;
    let pairs = made.iter().take(TOLD);
    let pairs: Vec<_> = pairs
        .map(|(number, name)| format!("{number} for {name}"))
        .collect();
    let more = made
        .len()
        .checked_sub(TOLD + 1)
        .map_or(String::new(), |rest| format!(" and {} more", rest + 1));
    (!made.is_empty()).then(|| format!("made {what} {}{more}", pairs.join(", ")))
}
