//! How segments are marked lost by counting, as before Linux 4.18 and since, and what the first keeps for it.

mod fack;
mod rfc6675;

pub(super) use fack::Fack;
