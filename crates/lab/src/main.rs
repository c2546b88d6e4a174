//! The binary `eyelevel-lab`.

fn main() {
    eyelevel_lab::main();
}
