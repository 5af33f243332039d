//! The binary `backhaul-crash-points`: the program as the proof of delivery cuts it off.

use std::process::ExitCode;

fn main() -> ExitCode {
    backhaul::cli::main()
}
