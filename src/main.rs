//! The binary: parse, make the shell, run, exit.
fn main() {}
