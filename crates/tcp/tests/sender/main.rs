//! The sender against scripts, and against a network and a receiver of a few lines.

mod legacy;
mod linux_3_10;
mod linux_4_1;
mod linux_6;
mod script;
mod today;
