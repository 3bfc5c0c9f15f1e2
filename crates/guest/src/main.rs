//! Sets up hosts and runs transfers inside a kernel of their own.

fn main() {}
