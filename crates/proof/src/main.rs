//! Proof by measure and by fault: what `make bench-…` and `make chaos-…` run.
//!
//! Every command compares two things in the same run, because machines differ and are noisy; it shows progress, a table
//! for people, and as its last line one JSON object for scripts.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a measuring program prints, and measures with the machine's clock")]

mod bare;
mod chaos;
mod growth;
mod intake;
mod load;
mod meter;
mod order;
mod stage;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Load generator, fault driver and history checker")]
struct Cli {
    /// The program to measure.
    #[arg(long, default_value = "target/release/backhaul")]
    program: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Order intake against the bare engine.
    BenchIntake {
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 8)]
        seconds: u64,
        /// Rounds; the medians count.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// The same with few and with many orders stored.
    BenchGrowth {
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 8)]
        seconds: u64,
        /// Orders stored in the large case.
        #[arg(long, default_value_t = 5_000_000)]
        orders: u64,
    },
    /// Kills, disconnects and overload under intake load.
    ChaosIntake {
        /// How often the service is killed.
        #[arg(long, default_value_t = 100)]
        kills: usize,
        /// How often PostgreSQL is killed.
        #[arg(long, default_value_t = 20)]
        database_kills: usize,
        /// Requests whose client disconnects.
        #[arg(long, default_value_t = 20_000)]
        disconnects: usize,
        /// Seconds of overload.
        #[arg(long, default_value_t = 60)]
        overload_seconds: u64,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::BenchIntake { seconds, rounds } => intake::run(&cli.program, Duration::from_secs(seconds), rounds).await?,
        Command::BenchGrowth { seconds, orders } => growth::run(&cli.program, Duration::from_secs(seconds), orders).await?,
        Command::ChaosIntake { kills, database_kills, disconnects, overload_seconds } => {
            let plan = chaos::Plan { kills, database_kills, disconnects, overload: Duration::from_secs(overload_seconds) };
            chaos::run(&cli.program, &plan).await?
        }
    };
    println!("{result}");
    Ok(())
}
