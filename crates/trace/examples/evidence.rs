//! Prints the page of necessary evidence.

fn main() {
    print!("{}", rexmit_trace::necessary::page());
}
