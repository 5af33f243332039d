//! The command line: one file per group of commands.
//!
//! Every listing is a table for people, and JSON for scripts with `-o json`.

mod carrier;
mod clock;
mod config;
mod credential;
mod deliverers;
mod dev;
mod doctor;
mod endpoint;
mod failures;
mod import;
mod limit;
mod merchant;
mod messages;
mod migrate;
mod orders;
mod output;
mod place;
mod policy;
mod reference;
mod report;
mod returns;
mod serve;
mod shopper;
mod vendor;
mod warehouse;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, Subcommand};
use domain::id::Handle;
use store::merchants::{self, Merchant};

use self::output::Format;
use crate::app::App;
use crate::clock::Clock;
use crate::config::Settings;
use crate::entropy::Entropy;
use crate::http::openapi;

/// Returns, exchange and fulfilment integration: merchants push orders in, Backhaul tells their systems what comes back.
#[derive(Parser)]
#[command(name = "backhaul", version, max_term_width = 100)]
struct Cli {
    /// A file with the settings that differ from the defaults (see `backhaul config default`).
    #[arg(long, global = true, env = "BACKHAUL_CONFIG")]
    config: Option<PathBuf>,
    /// How listings are written.
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything on a laptop: a temporary PostgreSQL, two merchants with orders, their simulated systems and carriers, the service.
    Dev(dev::Dev),
    /// Run the service.
    Serve(serve::Serve),
    /// Bring the schema up to date; the first time, fix the mode.
    Migrate,
    /// Merchants: add, list, show, pause, resume.
    #[command(subcommand)]
    Merchant(merchant::Command),
    /// Credentials with which merchants get tokens: issue, list, revoke.
    #[command(subcommand)]
    Credential(credential::Command),
    /// Endpoints, where merchants' systems take messages: set, list, show, test, pause, resume, rotate their secrets, remove.
    #[command(subcommand)]
    Endpoint(endpoint::Command),
    /// Carriers, from whom merchants' labels are bought: set, show, remove.
    #[command(subcommand)]
    Carrier(carrier::Command),
    /// Warehouses, which merchants' goods leave and go to: set, list, show, remove.
    #[command(subcommand)]
    Warehouse(warehouse::Command),
    /// Vendors, to whom merchants' goods go back: add, set, list, show, remove.
    #[command(subcommand)]
    Vendor(vendor::Command),
    /// Messages to merchants' systems: list, show, retry.
    #[command(subcommand)]
    Messages(messages::Command),
    /// The failure queue: what was given up, by whom it is worked on, and trying it again.
    #[command(subcommand)]
    Failures(failures::Command),
    /// Who delivers: processes with their buckets, the age of their leases, calls in flight, what is past due.
    Deliverers,
    /// Orders: import history, see what was refused and what does not add up.
    #[command(subcommand)]
    Orders(orders::Command),
    /// Returns: list, show, cancel, resend, convert-exchange.
    #[command(subcommand)]
    Returns(returns::Command),
    /// Shoppers: erase them.
    #[command(subcommand)]
    Shopper(shopper::Command),
    /// Policies: what merchants' returns may be like: show, set.
    #[command(subcommand)]
    Policy(policy::Command),
    /// Reports: what became of a merchant's messages.
    #[command(subcommand)]
    Report(report::Command),
    /// Limits: lower them when traffic threatens, list, reset.
    #[command(subcommand)]
    Limit(limit::Command),
    /// The clock of a sandbox: move it forward, so that retries, reminders and expiry can be watched.
    #[command(subcommand)]
    Clock(clock::Command),
    /// Print the OpenAPI document.
    Openapi,
    /// The settings: check them, print the defaults.
    #[command(subcommand)]
    Config(config::Command),
    /// Say what is wrong and how to mend it.
    Doctor(doctor::Doctor),
    /// Print every command and its options as a document.
    #[command(hide = true)]
    CliReference,
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&anyhow::Error::new(error)),
    };
    match runtime.block_on(run(cli)) {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let settings = || Settings::load(cli.config.as_deref(), std::env::vars()).context("the settings are not right");
    let unconnected = || anyhow::Ok(App::new(settings()?, Clock::system(), Entropy::system())?);
    // A command goes by the same time as the nodes.
    let app = async || {
        let app = unconnected()?;
        app.renew_clock().await?;
        anyhow::Ok(app)
    };
    match cli.command {
        Command::Dev(dev) => dev::run(dev, settings()?).await?,
        Command::Serve(serve) => serve::run(unconnected()?, &serve).await?,
        Command::Migrate => migrate::run(&settings()?, &Clock::system()).await?,
        Command::Merchant(command) => merchant::run(command, &app().await?, cli.output).await?,
        Command::Credential(command) => credential::run(command, &app().await?, cli.output).await?,
        Command::Endpoint(command) => endpoint::run(command, &app().await?, cli.output).await?,
        Command::Carrier(command) => carrier::run(command, &app().await?, cli.output).await?,
        Command::Warehouse(command) => warehouse::run(command, &app().await?, cli.output).await?,
        Command::Vendor(command) => vendor::run(command, &app().await?, cli.output).await?,
        Command::Messages(command) => messages::run(command, &app().await?, cli.output).await?,
        Command::Failures(command) => failures::run(command, &app().await?, cli.output).await?,
        Command::Deliverers => deliverers::run(&app().await?, cli.output).await?,
        Command::Orders(command) => orders::run(command, &app().await?, cli.output).await?,
        Command::Returns(command) => returns::run(command, &app().await?, cli.output).await?,
        Command::Shopper(command) => shopper::run(command, &app().await?, cli.output).await?,
        Command::Policy(command) => policy::run(command, &app().await?, cli.output).await?,
        Command::Report(command) => report::run(command, &app().await?, cli.output).await?,
        Command::Limit(command) => limit::run(command, &app().await?, cli.output).await?,
        Command::Clock(command) => clock::run(command, &app().await?, cli.output).await?,
        Command::Openapi => output::text(openapi::text()),
        Command::CliReference => output::text(&reference::write(Cli::command())),
        Command::Config(command) => config::run(&command, settings)?,
        Command::Doctor(doctor) => return doctor::run(doctor, settings(), cli.output).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// The merchant called `handle`, or what to do.
async fn merchant(app: &App, handle: &Handle) -> anyhow::Result<Merchant> {
    let found = merchants::find(app.cell(), handle).await?;
    found.with_context(|| format!("there is no merchant `{handle}`; `backhaul merchant list` shows those that there are"))
}

/// Who sits at this command line, for the audit.
#[expect(clippy::disallowed_methods, reason = "who calls is no setting")]
fn actor() -> String {
    let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "unknown".to_owned());
    format!("cli:{user}")
}
