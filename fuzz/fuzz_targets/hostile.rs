#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rexmit_fuzz_targets::hostile(bytes));
