//! The binary `backhaul`.

use std::process::ExitCode;

/// Orders are many small pieces, made on one thread and freed on another: what the system's allocator is slowest at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    backhaul::cli::main()
}
