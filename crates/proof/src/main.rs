//! Proof by measure and by fault: what `make bench-…` and `make chaos-…` run.
//!
//! Every command compares two things in the same run, because machines differ and are noisy; it shows progress, a table
//! for people, and as its last line one JSON object for scripts.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a measuring program prints, and measures with the machine's clock")]

mod backlog;
mod bare;
mod bare_delivery;
mod carriers;
mod chaos;
mod delivery;
mod delivery_chaos;
mod delivery_crash;
mod delivery_freeze;
mod delivery_outage;
mod exchanges;
mod feed;
mod feed_history;
mod growth;
mod history;
mod intake;
mod isolation;
mod leasing;
mod load;
mod meter;
mod order;
mod owing;
mod pallet;
mod receiving;
mod retry;
mod returns;
mod rollups;
mod stage;
mod variants;
mod witness;

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
    /// Delivery against the same statements without it.
    BenchDelivery {
        /// Messages of an end-to-end measurement.
        #[arg(long, default_value_t = 20_000)]
        messages: usize,
        /// Messages that wait to be drained.
        #[arg(long, default_value_t = 100_000)]
        waiting: usize,
        /// Messages of a measurement of the latency.
        #[arg(long, default_value_t = 1_000)]
        idle: u32,
        /// Rounds; the medians count.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Kills of deliverers while the merchant fails three calls in ten.
    ChaosDelivery {
        /// How often a deliverer is killed.
        #[arg(long, default_value_t = 30)]
        kills: usize,
        /// Subjects, each with six messages.
        #[arg(long, default_value_t = 2_000)]
        subjects: u64,
    },
    /// Kills of the service and of PostgreSQL while returns live their whole lives.
    ChaosReturns {
        /// Returns that live while the service is killed; a fifth as many while PostgreSQL is.
        #[arg(long, default_value_t = 1_000)]
        returns: u64,
        /// How often the service is killed.
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// How often PostgreSQL is killed.
        #[arg(long, default_value_t = 6)]
        database_kills: u32,
        /// Milliseconds from one kill to the next.
        #[arg(long, default_value_t = 5_000)]
        every: u64,
    },
    /// Kills of the service while hundreds confirm the same exchange at once, and merchants fail before and after they place it.
    ChaosExchanges {
        #[arg(long, default_value_t = 200)]
        orders: u64,
        #[arg(long, default_value_t = 200)]
        confirmations: u64,
        #[arg(long, default_value_t = 100)]
        refused: u64,
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// Milliseconds.
        #[arg(long, default_value_t = 4_000)]
        every: u64,
    },
    /// Kills of the service while carriers fail three calls in ten, and repeat and reorder their webhooks.
    ChaosCarriers {
        /// Returns that want a label.
        #[arg(long, default_value_t = 1_000)]
        returns: u64,
        /// How often the service is killed.
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// Milliseconds from one kill to the next.
        #[arg(long, default_value_t = 5_000)]
        every: u64,
    },
    /// Kills of the service while many scanners receive the units of one ASN.
    ChaosReceiving {
        /// Lines of the ASN, one unit each.
        #[arg(long, default_value_t = 10_000)]
        lines: usize,
        /// Scanners at once.
        #[arg(long, default_value_t = 50)]
        scanners: usize,
        /// How often the service is killed.
        #[arg(long, default_value_t = 20)]
        kills: usize,
    },
    /// Processes that are cut off at every point that a message passes.
    CrashDelivery {
        /// How often at each point.
        #[arg(long, default_value_t = 10)]
        times: usize,
    },
    /// Processes that are cut off before and after the commit of every flow that changes a return.
    CrashReturns {
        /// How often at each place.
        #[arg(long, default_value_t = 10)]
        times: u64,
    },
    /// PostgreSQL goes away under a steady load, and comes back.
    OutageDelivery {
        /// How often.
        #[arg(long, default_value_t = 5)]
        outages: usize,
        /// For how many seconds.
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// A deliverer stands still for longer than its leases last, and goes on.
    FreezeDelivery,
    /// Healthy endpoints beside bad ones.
    BenchIsolation {
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Rounds; the medians count.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Messages that wait for the endpoint that hangs.
        #[arg(long, default_value_t = 100_000)]
        waiting: usize,
    },
    /// A merchant that is well beside one whose system does not answer for variants.
    BenchVariants {
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 12)]
        seconds: u64,
        /// Rounds; the medians count.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Shoppers of the merchant in trouble.
        #[arg(long, default_value_t = 50)]
        shoppers: u64,
    },
    /// The feed while many write, through a failover and in a restored backup.
    Feed {
        /// Seconds of writing before the failover, after it, and after the backup was restored.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Writers at a time.
        #[arg(long, default_value_t = 16)]
        writers: u64,
        /// Readers, all of the time or from some moment on.
        #[arg(long, default_value_t = 10)]
        readers: u64,
    },
    /// Live messages of an endpoint while everything of it that failed is tried again.
    BenchRetry {
        /// Messages in the failure queue.
        #[arg(long, default_value_t = 50_000)]
        failed: usize,
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Messages that are tried again in a second.
        #[arg(long, default_value_t = 1_000)]
        per_second: i32,
    },
    /// A pallet of many units: how long it takes to tell of it, and in how much memory.
    BenchPallet {
        /// Units on the pallet.
        #[arg(long, default_value_t = 100_000)]
        units: u32,
    },
    /// What a message costs when few and when many wait.
    BenchBacklog {
        /// Messages that wait in the large case.
        #[arg(long, default_value_t = 2_000_000)]
        many: usize,
        /// Messages that are delivered in a measurement.
        #[arg(long, default_value_t = 20_000)]
        messages: usize,
        /// Rounds; the medians count.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
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
        Command::BenchDelivery { messages, waiting, idle, rounds } => {
            delivery::run(&cli.program, &delivery::Plan { messages, waiting, idle, rounds }).await?
        }
        Command::ChaosDelivery { kills, subjects } => delivery_chaos::run(&cli.program, &delivery_chaos::Plan { kills, subjects }).await?,
        Command::ChaosReturns { returns, kills, database_kills, every } => {
            let plan = returns::chaos::Plan { returns, kills, database_kills, every: Duration::from_millis(every) };
            returns::chaos::run(&cli.program, &plan).await?
        }
        Command::ChaosExchanges { orders, confirmations, refused, kills, every } => {
            let every = Duration::from_millis(every);
            exchanges::run(&cli.program, &exchanges::Plan { orders, confirmations, refused, kills, every }).await?
        }
        Command::ChaosCarriers { returns, kills, every } => {
            carriers::run(&cli.program, &carriers::Plan { returns, kills, every: Duration::from_millis(every) }).await?
        }
        Command::ChaosReceiving { lines, scanners, kills } => {
            receiving::run(&cli.program, &receiving::Plan { lines, scanners, kills }).await?
        }
        Command::CrashDelivery { times } => delivery_crash::run(&cli.program, times).await?,
        Command::CrashReturns { times } => returns::crash::run(&cli.program, times).await?,
        Command::OutageDelivery { outages, seconds } => {
            delivery_outage::run(&cli.program, &delivery_outage::Plan { outages, down: Duration::from_secs(seconds) }).await?
        }
        Command::FreezeDelivery => delivery_freeze::run(&cli.program).await?,
        Command::BenchIsolation { seconds, rounds, waiting } => {
            isolation::run(&cli.program, &isolation::Plan { duration: Duration::from_secs(seconds), rounds, waiting }).await?
        }
        Command::BenchVariants { seconds, rounds, shoppers } => {
            variants::run(&cli.program, &variants::Plan { duration: Duration::from_secs(seconds), rounds, shoppers }).await?
        }
        Command::Feed { seconds, writers, readers } => {
            feed::run(&cli.program, &feed::Plan { part: Duration::from_secs(seconds), writers, readers }).await?
        }
        Command::BenchRetry { failed, seconds, per_second } => {
            retry::run(&cli.program, &retry::Plan { failed, duration: Duration::from_secs(seconds), per_second }).await?
        }
        Command::BenchPallet { units } => pallet::run(&cli.program, units).await?,
        Command::BenchBacklog { many, messages, rounds } => backlog::run(&cli.program, &backlog::Plan { many, messages, rounds }).await?,
    };
    println!("{result}");
    Ok(())
}
