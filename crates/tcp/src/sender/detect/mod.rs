//! What finds losses, a part each.

mod dupack;
mod early_retransmit;
pub(super) mod fack;
pub(super) mod rack;
mod rfc6675;
