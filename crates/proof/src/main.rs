//! Benchmarks and fault tests, run by `make bench-…`, `make chaos-…` and similar targets.
//!
//! A benchmark compares two things in the same run, because machines differ and are noisy. Every command prints its progress,
//! a table for people, and as its last line a JSON object for scripts.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a measuring program prints, and measures with the machine's clock")]

mod citus;
mod merchants;
mod messages;
mod meter;
mod node;
mod orders;
mod returns;
mod service;
mod stage;
mod warehouse;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Benchmarks and fault tests: generates load, injects faults and checks the resulting history")]
struct Cli {
    /// Path of the program to test.
    #[arg(long, default_value = "target/release/backhaul")]
    program: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure order intake against bare database writes.
    BenchIntake {
        /// Seconds per measurement.
        #[arg(long, default_value_t = 8)]
        seconds: u64,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Measure order intake with few and with many orders stored.
    BenchGrowth(orders::growth::Plan),
    /// Upgrade the schema of an earlier version while orders and messages are written.
    MigrateLive {
        /// Number of stored messages.
        #[arg(long, default_value_t = 2_000_000)]
        messages: u64,
        /// Number of stored orders.
        #[arg(long, default_value_t = 500_000)]
        orders: u64,
    },
    /// Kill processes, disconnect clients and overload the service during order intake.
    ChaosIntake {
        /// Number of kills of the service.
        #[arg(long, default_value_t = 100)]
        kills: usize,
        /// Number of kills of PostgreSQL.
        #[arg(long, default_value_t = 20)]
        database_kills: usize,
        /// Number of requests whose client disconnects.
        #[arg(long, default_value_t = 20_000)]
        disconnects: usize,
        /// Seconds of overload.
        #[arg(long, default_value_t = 60)]
        overload_seconds: u64,
    },
    /// Move a merchant to another PostgreSQL and back under load, with kills of whoever moves it.
    MerchantMove {
        /// Number of orders that the merchant has before it moves.
        #[arg(long, default_value_t = 100_000)]
        orders: u64,
        /// Number of kills.
        #[arg(long, default_value_t = 20)]
        kills: usize,
    },
    /// Measure delivery against its bare database statements.
    BenchDelivery(messages::delivery::Plan),
    /// Measure new returns, carrier events, resends and refunds end to end against bare database writes.
    BenchFlows {
        /// Number of returns in a round; at least 160.
        #[arg(long, default_value_t = 10_000)]
        returns: usize,
        /// Seconds of the baseline in a round.
        #[arg(long, default_value_t = 8)]
        seconds: u64,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Number of concurrent callers, and of clients of the baseline.
        #[arg(long, default_value_t = 16)]
        callers: usize,
        /// Print the bars, but do not fail on them.
        #[arg(long)]
        untimed: bool,
    },
    /// Kill deliverers while the merchant fails three calls in ten.
    ChaosDelivery {
        /// Number of kills of deliverers.
        #[arg(long, default_value_t = 30)]
        kills: usize,
        /// Number of subjects, each with six messages.
        #[arg(long, default_value_t = 2_000)]
        subjects: u64,
    },
    /// Kill the service and PostgreSQL while returns go through their whole life cycle.
    ChaosReturns {
        /// Number of returns while the service is killed; a fifth of it while PostgreSQL is killed.
        #[arg(long, default_value_t = 1_000)]
        returns: u64,
        /// Number of kills of the service.
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// Number of kills of PostgreSQL.
        #[arg(long, default_value_t = 6)]
        database_kills: u32,
        /// Milliseconds between kills.
        #[arg(long, default_value_t = 5_000)]
        every: u64,
    },
    /// Let the network to PostgreSQL and to merchants fail while returns go through their whole life cycle.
    ChaosNetwork {
        /// Number of faults.
        #[arg(long, default_value_t = 50)]
        faults: usize,
        /// Shortest and longest fault, in milliseconds.
        #[arg(long, default_value_t = 1_000)]
        shortest: u64,
        #[arg(long, default_value_t = 8_000)]
        longest: u64,
        /// Repeats the faults of the run that printed this seed.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Lose the primary with all its data while returns go through their whole life cycle. Needs Patroni, etcd and HAProxy.
    Failover {
        /// Number of failovers.
        #[arg(long, default_value_t = 20)]
        failovers: u32,
    },
    /// Move cells between the workers of a Citus cluster and kill workers while returns go through their whole life cycle. Needs
    /// `scripts/citus`.
    ChaosCells(returns::cells::Plan),
    /// Measure orders and messages on one PostgreSQL, in one cell of a Citus cluster, and in two cells on two workers. Needs
    /// `scripts/citus`.
    BenchCitus(node::cluster::Plan),
    /// Kill the service while hundreds confirm the same exchange at once and merchants fail before or after placing it.
    ChaosExchanges {
        /// Number of orders exchanged while merchants are unreliable.
        #[arg(long, default_value_t = 200)]
        orders: u64,
        /// Number of concurrent confirmations per order.
        #[arg(long, default_value_t = 200)]
        confirmations: u64,
        /// Number of further orders that merchants refuse.
        #[arg(long, default_value_t = 100)]
        refused: u64,
        /// Fewest kills of the service.
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// Average milliseconds between kills.
        #[arg(long, default_value_t = 4_000)]
        every: u64,
    },
    /// Kill the service while carriers fail three calls in ten and repeat and reorder their webhooks.
    ChaosCarriers {
        /// Number of returns that need a label.
        #[arg(long, default_value_t = 1_000)]
        returns: u64,
        /// Number of kills of the service.
        #[arg(long, default_value_t = 20)]
        kills: u32,
        /// Milliseconds between kills.
        #[arg(long, default_value_t = 5_000)]
        every: u64,
    },
    /// Kill the service while many scanners receive the units of one ASN, and of returns without an ASN.
    ChaosReceiving {
        /// Number of lines in the ASN, one unit each; there is a return of five units for every ten.
        #[arg(long, default_value_t = 10_000)]
        lines: usize,
        /// Number of concurrent scanners.
        #[arg(long, default_value_t = 50)]
        scanners: usize,
        /// Number of kills of the service.
        #[arg(long, default_value_t = 20)]
        kills: usize,
    },
    /// Crash a process at every point of a message's delivery.
    CrashDelivery {
        /// Number of crashes at each point.
        #[arg(long, default_value_t = 10)]
        times: usize,
    },
    /// Crash a process before and after the commit of every flow that changes a return.
    CrashReturns {
        /// Number of crashes at each place.
        #[arg(long, default_value_t = 10)]
        times: u64,
    },
    /// Stop PostgreSQL under a steady load, and start it again.
    OutageDelivery {
        /// Number of outages.
        #[arg(long, default_value_t = 5)]
        outages: usize,
        /// Seconds of each outage.
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// Freeze a deliverer for longer than its leases last, and resume it.
    FreezeDelivery,
    /// Measure healthy endpoints next to failing ones.
    BenchIsolation {
        /// Seconds per measurement.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Number of messages waiting for the endpoint that hangs.
        #[arg(long, default_value_t = 100_000)]
        waiting: usize,
    },
    /// Measure a healthy merchant next to one whose variants endpoint hangs.
    BenchVariants {
        /// Seconds per measurement.
        #[arg(long, default_value_t = 12)]
        seconds: u64,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Number of shoppers of the failing merchant.
        #[arg(long, default_value_t = 50)]
        shoppers: u64,
    },
    /// Measure the shoppers' portal along the whole road, with many orders stored and beside order intake.
    BenchPortal {
        /// Number of stored orders.
        #[arg(long, default_value_t = 1_000_000)]
        orders: u64,
        /// Pages shown per second.
        #[arg(long, default_value_t = 200)]
        per_second: u32,
        /// Seconds of the measurement.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Measure every page of the operator's console with a long history stored, and deliveries beside it.
    BenchConsole {
        /// Number of stored orders.
        #[arg(long, default_value_t = 1_000_000)]
        orders: u64,
        /// Number of stored messages, each with three attempts.
        #[arg(long, default_value_t = 2_000_000)]
        messages: u64,
        /// Number of open entries in the failure queue.
        #[arg(long, default_value_t = 20_000)]
        failures: u64,
        /// Pages opened per second.
        #[arg(long, default_value_t = 20)]
        per_second: u32,
        /// Seconds per measurement.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Hold only the buffers to their bar, not the times.
        #[arg(long)]
        untimed: bool,
    },
    /// Compare the answers of the portal to failed searches for an order, and guess orders.
    AttackPortal {
        /// Number of pairs of each kind of miss and an unknown number.
        #[arg(long, default_value_t = 10_000)]
        pairs: u32,
        /// Number of guesses.
        #[arg(long, default_value_t = 10_000)]
        guesses: u32,
        /// Number of addresses of those who guess.
        #[arg(long, default_value_t = 100)]
        addresses: u32,
    },
    /// Reset requests as fast as they are begun, while other callers ask for orders.
    AttackEdge {
        /// Number of requests that are reset.
        #[arg(long, default_value_t = 100_000)]
        resets: u32,
        /// Number of resets per second.
        #[arg(long, default_value_t = 5_000)]
        per_second: u32,
        /// Hold only memory and answers to their bars, not the times.
        #[arg(long)]
        untimed: bool,
    },
    /// Kill the service while shoppers confirm their returns in the portal, all at once.
    ChaosPortal {
        /// Number of shoppers.
        #[arg(long, default_value_t = 200)]
        shoppers: usize,
        /// Number of kills of the service.
        #[arg(long, default_value_t = 10)]
        kills: usize,
    },
    /// Kill the service while it owes and sends mails to shoppers, and the mail server fails.
    ChaosMails {
        /// Number of returns; every third owes two mails, the others one.
        #[arg(long, default_value_t = 750)]
        returns: u64,
        /// Number of kills of the service.
        #[arg(long, default_value_t = 10)]
        kills: u32,
        /// Milliseconds between kills.
        #[arg(long, default_value_t = 3_000)]
        every: u64,
        /// Send through a real Postfix instead of a mail server that fails on purpose.
        #[arg(long)]
        postfix: bool,
    },
    /// Read the feed during concurrent writes, a failover and the restore of a backup.
    Feed {
        /// Seconds of writing before the failover, after it, and after the restore.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Number of concurrent writers.
        #[arg(long, default_value_t = 16)]
        writers: u64,
        /// Number of readers; some of them join later.
        #[arg(long, default_value_t = 10)]
        readers: u64,
    },
    /// Measure an endpoint's live messages while all its failed messages are retried.
    BenchRetry {
        /// Number of messages in the failure queue.
        #[arg(long, default_value_t = 50_000)]
        failed: usize,
        /// Seconds per measurement.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        /// Retried messages per second.
        #[arg(long, default_value_t = 1_000)]
        per_second: i32,
    },
    /// Measure the time and memory for shipping a large pallet.
    BenchPallet {
        /// Number of units on the pallet.
        #[arg(long, default_value_t = 100_000)]
        units: u32,
    },
    /// Restart two nodes behind a load balancer in turn under a steady load.
    RollingRestarts {
        /// Number of restarts.
        #[arg(long, default_value_t = 50)]
        restarts: usize,
        /// Requests per second.
        #[arg(long, default_value_t = 500)]
        per_second: u32,
    },
    /// Restart two nodes behind HAProxy in turn while clients in Python, Node and curl call. Needs these programs.
    RollingHaproxy {
        /// Number of restarts.
        #[arg(long, default_value_t = 100)]
        restarts: usize,
    },
    /// Measure the cost of a message while few and while many others are waiting.
    BenchBacklog {
        /// Number of waiting messages in the large case.
        #[arg(long, default_value_t = 2_000_000)]
        many: usize,
        /// Number of messages delivered per measurement.
        #[arg(long, default_value_t = 20_000)]
        messages: usize,
        /// Number of rounds; the result is their median.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Run the service with simulated merchants and carriers for browser tests, which send commands to standard input.
    PortalStage,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let what = format!("{:?}", cli.command);
    match run(cli).await {
        Ok(result) => {
            println!("{result}");
            ExitCode::SUCCESS
        }
        // No backtrace: it would hide the message in the log of many proofs.
        Err(error) => {
            eprintln!("{what} failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> anyhow::Result<serde_json::Value> {
    let result = match cli.command {
        Command::BenchIntake { seconds, rounds } => orders::intake::run(&cli.program, Duration::from_secs(seconds), rounds).await?,
        Command::MigrateLive { messages, orders } => node::migrate::run(&cli.program, &node::migrate::Plan { messages, orders }).await?,
        Command::BenchGrowth(plan) => orders::growth::run(&cli.program, &plan).await?,
        Command::ChaosIntake { kills, database_kills, disconnects, overload_seconds } => {
            let plan = orders::chaos::Plan { kills, database_kills, disconnects, overload: Duration::from_secs(overload_seconds) };
            orders::chaos::run(&cli.program, &plan).await?
        }
        Command::MerchantMove { orders, kills } => merchants::moving::run(&cli.program, &merchants::moving::Plan { orders, kills }).await?,
        Command::BenchDelivery(plan) => messages::delivery::run(&cli.program, &plan).await?,
        Command::BenchFlows { returns, seconds, rounds, callers, untimed } => {
            returns::flows::run(&cli.program, &returns::flows::Plan { returns, seconds, rounds, callers, untimed }).await?
        }
        Command::ChaosDelivery { kills, subjects } => {
            messages::delivery_chaos::run(&cli.program, &messages::delivery_chaos::Plan { kills, subjects }).await?
        }
        Command::ChaosReturns { returns, kills, database_kills, every } => {
            let plan = returns::chaos::Plan { returns, kills, database_kills, every: Duration::from_millis(every) };
            returns::chaos::run(&cli.program, &plan).await?
        }
        Command::ChaosNetwork { faults, shortest, longest, seed } => {
            let (shortest, longest) = (Duration::from_millis(shortest), Duration::from_millis(longest));
            returns::network::run(&cli.program, &returns::network::Plan { faults, shortest, longest, seed }).await?
        }
        Command::Failover { failovers } => returns::failover::run(&cli.program, &returns::failover::Plan { failovers }).await?,
        Command::ChaosCells(plan) => returns::cells::run(&cli.program, &plan).await?,
        Command::BenchCitus(plan) => node::cluster::run(&cli.program, &plan).await?,
        Command::ChaosExchanges { orders, confirmations, refused, kills, every } => {
            let every = Duration::from_millis(every);
            returns::exchanges::run(&cli.program, &returns::exchanges::Plan { orders, confirmations, refused, kills, every }).await?
        }
        Command::ChaosCarriers { returns, kills, every } => {
            returns::carriers::run(&cli.program, &returns::carriers::Plan { returns, kills, every: Duration::from_millis(every) }).await?
        }
        Command::ChaosReceiving { lines, scanners, kills } => {
            warehouse::receiving::run(&cli.program, &warehouse::receiving::Plan { lines, scanners, kills }).await?
        }
        Command::CrashDelivery { times } => messages::delivery_crash::run(&cli.program, times).await?,
        Command::CrashReturns { times } => returns::crash::run(&cli.program, times).await?,
        Command::OutageDelivery { outages, seconds } => {
            messages::delivery_outage::run(&cli.program, &messages::delivery_outage::Plan { outages, down: Duration::from_secs(seconds) })
                .await?
        }
        Command::FreezeDelivery => messages::delivery_freeze::run(&cli.program).await?,
        Command::BenchIsolation { seconds, rounds, waiting } => {
            messages::isolation::run(&cli.program, &messages::isolation::Plan { duration: Duration::from_secs(seconds), rounds, waiting })
                .await?
        }
        Command::BenchVariants { seconds, rounds, shoppers } => {
            returns::variants::run(&cli.program, &returns::variants::Plan { duration: Duration::from_secs(seconds), rounds, shoppers })
                .await?
        }
        Command::BenchPortal { orders, per_second, seconds } => {
            let plan = returns::portal::bench::Plan { orders, pages_per_second: per_second, duration: Duration::from_secs(seconds) };
            returns::portal::bench::run(&cli.program, &plan).await?
        }
        Command::BenchConsole { orders, messages, failures, per_second, seconds, rounds, untimed } => {
            let plan = node::console::Plan {
                size: node::console::Size { orders, messages, failures },
                duration: Duration::from_secs(seconds),
                rounds,
                pages_per_second: per_second,
                timed: !untimed,
            };
            node::console::run(&cli.program, &plan).await?
        }
        Command::AttackPortal { pairs, guesses, addresses } => {
            returns::portal::attack::run(&cli.program, &returns::portal::attack::Plan { pairs, guesses, addresses }).await?
        }
        Command::AttackEdge { resets, per_second, untimed } => {
            node::edge::run(&cli.program, &node::edge::Plan { resets, per_second, timed: !untimed }).await?
        }
        Command::ChaosPortal { shoppers, kills } => {
            returns::portal::chaos::run(&cli.program, &returns::portal::chaos::Plan { shoppers, kills }).await?
        }
        Command::ChaosMails { returns, kills, every, postfix } => {
            returns::mails::run(&cli.program, &returns::mails::Plan { returns, kills, every: Duration::from_millis(every), postfix })
                .await?
        }
        Command::Feed { seconds, writers, readers } => {
            messages::feed::run(&cli.program, &messages::feed::Plan { part: Duration::from_secs(seconds), writers, readers }).await?
        }
        Command::BenchRetry { failed, seconds, per_second } => {
            messages::retry::run(&cli.program, &messages::retry::Plan { failed, duration: Duration::from_secs(seconds), per_second })
                .await?
        }
        Command::BenchPallet { units } => warehouse::pallet::run(&cli.program, units).await?,
        Command::RollingRestarts { restarts, per_second } => {
            node::rolling::run(&cli.program, &node::rolling::Plan { restarts, rate: per_second }).await?
        }
        Command::RollingHaproxy { restarts } => node::haproxy::run(&cli.program, &node::haproxy::Plan { restarts }).await?,
        Command::BenchBacklog { many, messages, rounds } => {
            messages::backlog::run(&cli.program, &messages::backlog::Plan { many, messages, rounds }).await?
        }
        Command::PortalStage => returns::portal_stage::run(&cli.program).await?,
    };
    Ok(result)
}
