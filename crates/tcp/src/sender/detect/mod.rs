//! What finds losses, a part each.

mod dupack;
mod early_retransmit;
pub(super) mod fack;
mod rack;
mod rfc6675;
