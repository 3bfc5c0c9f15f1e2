//! Prints the page of all columns.

fn main() {
    print!("{}", rexmit_schema::page());
}
