//! What finds losses, a part each.

mod dupack;
pub(super) mod rack;
mod rfc6675;
