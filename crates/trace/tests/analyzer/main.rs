//! From packets to rows: connections, their limits, threads, columns.

mod columns;
mod connections;
mod limits;
mod multipath;
mod paths;
mod properties;
mod run;
mod script;
