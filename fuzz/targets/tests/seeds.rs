//! The kept seeds: what fuzzers have found interesting or broken before passes every target.

use std::path::{Path, PathBuf};

use rexmit_fuzz_targets::ALL;

/// The most that is kept of one target, and of one seed: they are to stay small enough for a repository.
const MOST_BYTES: usize = 40_000;
const LONGEST: usize = 10_000;

fn files(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../seeds")
        .join(target);
    let entries = folder
        .read_dir()
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_kept_seed_passes() {
    for (name, target) in ALL {
        let files = files(name);
        assert!(!files.is_empty(), "{name} has no seeds");
        let mut total = 0;
        for file in files {
            // The test's output names the seed where a target panics.
            println!("{}", file.display());
            let bytes = std::fs::read(&file).unwrap();
            assert!(bytes.len() <= LONGEST, "{} is too long", file.display());
            total += bytes.len();
            target(&bytes);
        }
        assert!(total <= MOST_BYTES, "{name} has {total} bytes of seeds");
    }
}
