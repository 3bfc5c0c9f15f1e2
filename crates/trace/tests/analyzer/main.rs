//! From packets to rows: connections, their limits, threads, columns.

mod account;
mod account_path;
mod columns;
mod connections;
mod contained;
mod limits;
mod measures;
mod multipath;
mod parts;
mod paths;
mod properties;
mod requests;
mod run;
mod script;
mod turns;
mod window;
