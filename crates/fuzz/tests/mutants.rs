//! Passes mutants of its corpus to every target, the same in every run: 4,000 in `make test-all`,
//! the first 400 of them in `make test`. `make fuzz` finds what requires coverage.

use eyelevel_fuzz::TARGETS;
use eyelevel_units::{Generator, Seed};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

const MUTANTS: usize = 4_000;
const MUTANTS_SAMPLE: usize = 400;
const CHANGES_MAX: u64 = 4;
const INPUT_BYTES_MAX: usize = 1 << 16;
/// Boundary values of lengths and numbers.
const BYTES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n'];

fn read_corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

struct Mutator(Generator);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn range(&mut self, bytes: usize) -> std::ops::Range<usize> {
        let begin = self.below(bytes);
        begin..begin + 1 + self.below((bytes - begin).min(64))
    }

    fn create_mutant(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.0.below(CHANGES_MAX) {
            self.change(&mut bytes, inputs);
        }
        bytes.truncate(INPUT_BYTES_MAX);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        if bytes.is_empty() {
            return bytes.push(self.0.below(256) as u8);
        }
        let at = self.below(bytes.len());
        match self.below(7) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = BYTES[self.below(BYTES.len())],
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(self.range(bytes.len()))),
            4 => {
                let part = bytes[self.range(bytes.len())].to_vec();
                let times = 1 + self.below(8);
                bytes.splice(at..at, part.repeat(times));
            }
            5 => bytes.insert(at, self.0.below(256) as u8),
            _ => {
                let other = &inputs[self.below(inputs.len())];
                let from = self.below(other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
        }
    }
}

#[test]
fn every_damaged_input_passes() {
    let full = std::env::var("EYELEVEL_TESTS").is_ok_and(|selection| selection == "full");
    let mutants = if full { MUTANTS } else { MUTANTS_SAMPLE };
    for (number, (name, target)) in TARGETS.into_iter().enumerate() {
        let inputs = read_corpus(name);
        let mut mutator = Mutator(Generator::new(Seed::new(number as u64)));
        for count in 0..mutants {
            let mutant = mutator.create_mutant(&inputs);
            if catch_unwind(|| target(&mutant)).is_err() {
                let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{count}"));
                fs::write(&file, &mutant).unwrap();
                panic!(
                    "{name}: mutant {count} fails; it is kept as {}",
                    file.display()
                );
            }
        }
        println!(
            "{name}: {mutants} mutants of {} inputs, seed {number}",
            inputs.len()
        );
    }
}
