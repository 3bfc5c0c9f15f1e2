//! The few words that the launcher has for the emulator (QEMU's machine protocol, one JSON object a line).

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use serde_json::{json, Value};

/// How long is waited between two questions whether something is done.
const AGAIN: Duration = Duration::from_millis(2);

/// A conversation with an emulator.
pub struct Talk {
    to: File,
    from: BufReader<File>,
}

impl Talk {
    /// Begins the conversation.
    pub fn begin(to: File, from: File) -> Result<Self> {
        let mut talk = Self {
            to,
            from: BufReader::new(from),
        };
        talk.hear(|said| said.get("QMP").is_some())?;
        talk.ask("qmp_capabilities", &json!({}))?;
        Ok(talk)
    }

    /// Waits until the machine has paused of its own will, writes its whole state to a file by a shell's `command`, and
    /// ends the emulator.
    pub fn keep(mut self, command: &str) -> Result<()> {
        self.hear(|said| said["event"] == "STOP")?;
        // Not the speed of a network.
        self.ask(
            "migrate-set-parameters",
            &json!({"max-bandwidth": 1_u64 << 40}),
        )?;
        self.ask("migrate", &json!({"uri": format!("exec:{command}")}))?;
        loop {
            match self.ask("query-migrate", &json!({}))?["status"].as_str() {
                Some("completed") => break,
                Some("failed" | "cancelled") => bail!("the machine's state cannot be kept"),
                _ => std::thread::sleep(AGAIN),
            }
        }
        self.ask("quit", &json!({})).map(drop)
    }

    /// Lets the machine run, from the start or from a kept state, once that is there.
    pub fn go_on(&mut self) -> Result<()> {
        while self.ask("query-status", &json!({}))?["status"] == "inmigrate" {
            std::thread::sleep(AGAIN);
        }
        self.ask("cont", &json!({})).map(drop)
    }

    fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let line = json!({"execute": command, "arguments": arguments});
        writeln!(self.to, "{line}").context("cannot speak to QEMU")?;
        let mut answer =
            self.hear(|said| said.get("return").is_some() || said.get("error").is_some())?;
        match answer.get("error") {
            Some(error) => bail!("QEMU refuses {command}: {}", error["desc"]),
            None => Ok(answer["return"].take()),
        }
    }

    fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self
                .from
                .read_line(&mut line)
                .context("QEMU says nothing")?
                == 0
            {
                return Err(anyhow!("QEMU has ended"));
            }
            let said: Value = serde_json::from_str(&line).context("QEMU says what is no JSON")?;
            if wanted(&said) {
                return Ok(said);
            }
        }
    }
}
