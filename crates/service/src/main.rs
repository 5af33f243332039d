//! The binary `backhaul`.

use std::process::ExitCode;

fn main() -> ExitCode {
    backhaul::cli::main()
}
