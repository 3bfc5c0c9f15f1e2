//! What the congestion control of a subflow is told of the others (RFC 6356).

use super::subflow::Subflow;
use crate::congestion::Siblings;
use crate::settings::Settings;

/// Tells a subflow how all that can send do, before something happens to it.
pub(super) fn share_windows(settings: &Settings, subflows: &mut [Subflow], index: usize) {
    if !settings.congestion.congestion_control.is_coupled() {
        return;
    }
    let mut siblings = Siblings::default();
    for (other, subflow) in subflows.iter().enumerate() {
        let own = other == index;
        let sender = subflow.sender().filter(|_| subflow.is_usable());
        if let Some(sibling) = sender.and_then(|sender| sender.as_sibling()) {
            if own {
                siblings.own = siblings.all.len();
            }
            siblings.all.push(sibling);
        } else if own {
            // It cannot send itself: it is on its own.
            siblings = Siblings::default();
            break;
        }
    }
    if let Some(sender) = subflows[index].connection.sender_mut() {
        sender.set_siblings(siblings);
    }
}
