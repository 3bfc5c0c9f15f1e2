//! The settings of both hosts, from what the plan says.

use std::collections::BTreeMap;

use anyhow::Result;
use rexmit_plan::{Cell, Ignored};
use rexmit_tcp::settings::{Settings, WindowShare};
use rexmit_tcp::stacks;

use crate::machine::Stack;

/// The stack where the plan names none.
pub const DEFAULT: &str = "linux-6.12";

/// Both hosts' TCP.
pub struct Prepared {
    /// The server's.
    pub server: Stack,
    /// The client's.
    pub client: Stack,
    /// The sysctls of the plan, as they are heeded.
    pub read_back: BTreeMap<String, String>,
    /// What is not heeded.
    pub ignored: Vec<Ignored>,
}

impl Prepared {
    /// What `cell` says.
    ///
    /// # Errors
    /// When there is no such stack, setting or value.
    pub fn new(cell: &Cell) -> Result<Self> {
        let mut prepared = Self::of(&cell.sysctls, &cell.congestion_control, cell.stack.as_ref())?;
        let page = cell.workload.page();
        if let Some(bytes) = page.and_then(|page| page.receive_window_bytes) {
            let mut client = (*prepared.client.settings).clone();
            bound_receive_window(&mut client, bytes);
            prepared.client = Stack::new(client);
        }
        Ok(prepared)
    }

    /// The stack with these sysctls and this congestion control, for both hosts.
    fn of(
        sysctls: &BTreeMap<String, String>,
        congestion_control: &str,
        stack: Option<&rexmit_plan::Stack>,
    ) -> Result<Self> {
        let mut sysctls = sysctls.clone();
        sysctls.insert(
            "net.ipv4.tcp_congestion_control".into(),
            congestion_control.to_owned(),
        );
        let (name, overrides) = match stack {
            Some(stack) => {
                let mut overrides = stack.set.clone();
                if let Some(hz) = stack.hz {
                    overrides.entry("hz".into()).or_insert(hz.to_string());
                }
                (stack.name.as_str(), overrides)
            }
            None => (DEFAULT, BTreeMap::new()),
        };
        let (settings, ignored) = stacks::build(name, &overrides, &sysctls)?;
        let ignored: Vec<Ignored> = ignored
            .into_iter()
            .map(|ignored| Ignored {
                setting: ignored.setting,
                why: ignored.why,
            })
            .collect();
        let server = Stack::new(settings);
        Ok(Self {
            client: server.clone(),
            server,
            read_back: sysctls,
            ignored,
        })
    }
}

/// A receive buffer that cannot grow and makes a window of about `bytes`, as the lab sets it.
fn bound_receive_window(settings: &mut Settings, bytes: u32) {
    let window = u64::from(bytes);
    let space = match settings.receiver.window_share {
        WindowShare::Whole => window,
        WindowShare::ScalingRatio => window * 17 / 10,
        WindowShare::AdvWinScale(shift @ 1..) => (window << shift) / ((1 << shift) - 1),
        WindowShare::AdvWinScale(shift) => window << -shift,
    };
    let space = u32::try_from(space).unwrap_or(u32::MAX);
    settings.receiver.moderate_receive_buffer = false;
    settings.receiver.receive_buffer = [space.min(4096), space, space];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_window_is_the_same_whatever_share_of_the_buffer_it_is() {
        for (name, buffer) in [
            ("linux-2.4", 81_920),
            ("linux-3.10", 122_880),
            ("linux-6.12", 104_448),
            ("solaris-10", 61_440),
        ] {
            let mut settings = stacks::page(name).unwrap().settings;
            bound_receive_window(&mut settings, 61_440);
            assert_eq!(
                settings.receiver.receive_buffer,
                [4096, buffer, buffer],
                "{name}"
            );
        }
    }
}
