//! What an emulated sender goes through that the model's need not remember, as it knows.

use rexmit_tcp::settings::{AckOrder, Settings};
use rexmit_time::Time;

use super::doubt::Before;
use super::instead::Instead;
use super::without_frto::Frto;

/// What was seen of an episode, and what it leaves open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// A recovery began then and nothing was sent again since.
    pub entered: Option<Time>,
    /// It went on with what it had not found lost, as no new data could be sent, and none was since.
    pub forward: bool,
    /// It began only if no new data could be sent.
    pub unless_more: bool,
    /// When the last timeout was.
    pub loss_at: Option<Time>,
    /// What it was before the last timeout, if that may have been none.
    pub before: Option<Before>,
    /// The timeout that there may have been in place of what was taken for it.
    pub instead: Option<Instead>,
    /// Whether the threshold of duplicates at first may be another than the page's.
    pub threshold_open: bool,
    /// Whether the host has F-RTO.
    pub frto: Frto,
}

impl Course {
    pub fn new(settings: &Settings) -> Self {
        Course {
            entered: None,
            forward: false,
            unless_more: false,
            loss_at: None,
            before: None,
            instead: None,
            // By counting a recovery begins early for other reasons, too.
            threshold_open: settings.loss.ack_order == AckOrder::LossesFirst,
            frto: Frto::default(),
        }
    }
}
