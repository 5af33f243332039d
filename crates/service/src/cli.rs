//! The command line: one file per group of commands.
//!
//! Listings are tables by default, and JSON with `-o json`.

mod confirm;
mod context;
#[cfg(feature = "simulators")]
mod dev;
mod id;
mod merchants;
mod messages;
mod moment;
mod named_host;
mod node;
mod orders;
mod output;
mod page;
mod pager;
mod remote;
mod reseal;
mod returns;
mod session;
mod table;
mod terminal;
mod warehouse;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use domain::id::Handle;

use self::output::Format;
use crate::app::App;
use crate::http::openapi;
use crate::http::operator_api::{Answer, Call, Commands};
use crate::node::keys::MEND;
use crate::platform::clock::Clock;
use crate::platform::config::Settings;
use crate::platform::entropy::Entropy;

/// Returns, exchange and fulfilment integration: merchants push orders in, and Backhaul notifies their systems of what comes back.
#[derive(Parser)]
#[command(name = "backhaul", version, max_term_width = 100)]
struct Cli {
    /// A TOML file with the settings that differ from the defaults (`backhaul config default` prints those).
    #[arg(long, global = true, env = "BACKHAUL_CONFIG")]
    config: Option<PathBuf>,
    /// The output format.
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// The e-mail address of the operator in whose name the command runs; the audit log names them besides the user.
    #[arg(long = "as", global = true, env = "BACKHAUL_AS", value_name = "EMAIL")]
    as_operator: Option<String>,
    /// Show times in UTC; in a terminal, lists tell how long ago they were.
    #[arg(long, global = true)]
    utc: bool,
    #[command(flatten)]
    server: remote::client::Server,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a complete sandbox on this machine: a temporary PostgreSQL, the service, and two merchants with simulated systems.
    #[cfg(feature = "simulators")]
    Dev(dev::Dev),
    /// Tell a story in a sandbox of its own: a return, a system that fails, the failure queue, and the refund in the end.
    #[cfg(feature = "simulators")]
    Demo(dev::demo::Demo),
    /// Run the service.
    Serve(node::serve::Serve),
    /// Create or upgrade the database schema; the first run also fixes the mode, production or sandbox.
    Migrate(node::migrate::Migrate),
    /// Prepare a database that was restored from a backup. Run it before the service starts again.
    Restored,
    #[command(flatten)]
    Operate(Operate),
    /// Forward a merchant's messages to a server on this machine as they come, signed, and from where the last run stopped.
    Listen(Box<messages::listen::Listen>),
    /// Print the OpenAPI document.
    Openapi(node::openapi::Openapi),
    /// Check the settings, or print the defaults.
    #[command(subcommand)]
    Config(node::config::Command),
    /// Check the installation, and say how to fix what is wrong.
    Doctor(node::doctor::Doctor),
    /// Print every command and its options as a Markdown document.
    #[command(hide = true)]
    CliReference,
}

/// The commands with which people operate an installation, at a terminal or through the operator API.
#[derive(Subcommand)]
enum Operate {
    /// Add, change, rename, list, show, pause and resume merchants.
    #[command(subcommand)]
    Merchant(merchants::merchant::Command),
    /// Issue, list and revoke the credentials with which merchants get access tokens.
    #[command(subcommand)]
    Credential(merchants::credential::Command),
    /// Manage endpoints, the addresses where merchants' systems receive messages.
    #[command(subcommand)]
    Endpoint(messages::endpoint::Command),
    /// Manage the carrier accounts from which merchants' labels are bought.
    #[command(subcommand)]
    Carrier(returns::carrier::Command),
    /// Manage the warehouses that receive and ship merchants' goods.
    #[command(subcommand)]
    Warehouse(warehouse::warehouses::Command),
    /// Manage the vendors that merchants' goods are sent back to.
    #[command(subcommand)]
    Vendor(warehouse::vendor::Command),
    /// Work through receiving exceptions: units that did not match what was announced, and missing ones.
    #[command(subcommand)]
    Exceptions(warehouse::exceptions::Command),
    /// List, show and retry messages to merchants' systems.
    #[command(subcommand)]
    Messages(messages::commands::Command),
    /// Work through the failure queue: messages whose delivery was given up.
    #[command(subcommand)]
    Failures(messages::failures::Command),
    /// Make a message in a sandbox, by living through what leads to it: an order, a return, a scan, a receipt, a refund.
    #[cfg(feature = "simulators")]
    Trigger(messages::trigger::Trigger),
    /// List the processes that deliver: buckets, lease age, calls in flight, overdue deliveries.
    Deliverers,
    /// Import, show and find orders; list refused order messages and orders with warnings.
    #[command(subcommand)]
    Orders(orders::commands::Command),
    /// List, show, cancel and resend returns; settle exchanges that hang; work through the work list.
    #[command(subcommand)]
    Returns(returns::commands::Command),
    /// Find a shopper's orders and returns; export and erase their personal data.
    #[command(subcommand)]
    Shopper(merchants::shopper::Command),
    /// Show and change merchants' return policies.
    #[command(subcommand)]
    Policy(returns::policy::Command),
    /// Show and change what merchants' portals show shoppers, and the host names that lead to them.
    #[command(subcommand)]
    Portal(merchants::portal::Command),
    /// List, read and resend mails to shoppers; change their sender, and which of them are sent.
    #[command(subcommand)]
    Mails(returns::mails::Command),
    /// List and show shoppers' withdrawals from contracts, and name the orders that they are about.
    #[command(subcommand)]
    Withdrawals(returns::withdrawals::Command),
    /// Show and change the brand of merchants' portals: look, logos, contact, links and texts.
    #[command(subcommand)]
    Brand(merchants::brand::Command),
    /// Add and list operators, the people who work with the console; change roles, disable, enable and reset them.
    #[command(subcommand)]
    Operator(merchants::operator::Command),
    /// List who changed what, and verify that nobody has tampered with the record of it.
    #[command(subcommand)]
    Audit(merchants::audit::Command),
    /// Ask a second person for what one administrator may not do alone, and decide on what others ask for.
    #[command(subcommand)]
    Request(merchants::request::Command),
    /// Report on deliveries to a merchant's systems.
    #[command(subcommand)]
    Report(messages::report::Command),
    /// List limits, lower them under heavy traffic, and reset them.
    #[command(subcommand)]
    Limit(node::limit::Command),
    /// List cells, add them, and move merchants out of them; only where there are several.
    #[command(subcommand)]
    Cell(node::cells::Command),
    /// Show the installation's keys, and rotate them.
    #[command(subcommand)]
    Keys(node::keys::Command),
    /// Show or advance a sandbox's clock, to see retries, reminders and expiry happen.
    #[command(subcommand)]
    Clock(node::clock::Command),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let parsed = Cli::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches).map(|cli| (cli, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return misread(&error),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&anyhow::Error::new(error)),
    };
    let ended = runtime.block_on(run(cli, &matches)).unwrap_or_else(|error| fail(&error));
    match output::lost() {
        Some(error) => {
            output::progress(&format!("error: standard output cannot be written, so some of it is missing: {error}"));
            ExitCode::FAILURE
        }
        None => ended,
    }
}

/// Explains what is wrong with the command line, or shows the help that it asks for.
fn misread(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    output::progress(error.render().to_string().trim_end());
    ExitCode::from(2)
}

fn fail(error: &anyhow::Error) -> ExitCode {
    output::progress(&format!("error: {}", output::told(error)));
    ExitCode::FAILURE
}

async fn run(cli: Cli, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let settings = || Settings::load(cli.config.as_deref(), std::env::vars()).context("the settings are invalid");
    if let Some(url) = cli.server.url() {
        if cli.as_operator.is_some() {
            bail!("with --server the token says who acts; leave --as out, or unset BACKHAUL_AS");
        }
        return cli.server.run(url, Cli::command(), matches, cli.output, terminal::screen(cli.utc), settings()?).await;
    }
    let unconnected = || anyhow::Ok(App::new(settings()?, Clock::system(), Entropy::system())?);
    match cli.command {
        #[cfg(feature = "simulators")]
        Command::Dev(dev) => dev::run(dev, settings()?, operator_api()).await?,
        #[cfg(feature = "simulators")]
        Command::Demo(demo) => dev::demonstrate(demo, settings()?, operator_api()).await?,
        Command::Serve(serve) => node::serve::run(unconnected()?, &serve, operator_api()).await?,
        Command::Migrate(migrate) => node::migrate::run(&migrate, &settings()?, &Clock::system(), cli.output).await?,
        Command::Restored => node::restored::run(&unconnected()?, cli.output).await?,
        Command::Operate(command) => {
            let app = unconnected()?;
            app.cell().reach().await?;
            // In a sandbox whose clock was advanced, a command must use the same time as the nodes.
            app.renew_clock().await?;
            if let Some(screen) = terminal::screen(cli.utc) {
                session::fit(table::View { screen, now: app.now() });
            }
            // With a wrong key, a shopper would not be found and a secret not be read. The status of the keys says more.
            if !matches!(command, Operate::Keys(node::keys::Command::Status))
                && let Some(wrong) = app.confirm_keys().await?.first()
            {
                bail!("{wrong}; {MEND}");
            }
            if let Some(email) = &cli.as_operator {
                context::act_as(&app, email).await?;
            }
            match command {
                Operate::Merchant(merchants::merchant::Command::Move(command)) => {
                    merchants::moving::run(command, &app, cli.output).await?;
                }
                Operate::Cell(command) => node::cells::run_here(command, &app, cli.output).await?,
                command => operate_for(context::named_merchant(matches), command, app, cli.output).await?,
            }
        }
        Command::Listen(listen) => Box::pin(messages::listen::run(*listen, settings()?, cli.output)).await?,
        Command::Openapi(openapi) => output::text(&if openapi.operator { operator_api().document } else { openapi::text().to_owned() }),
        Command::CliReference => output::text(&node::reference::write(Cli::command())),
        Command::Config(command) => node::config::run(&command, cli.config.as_deref(), unconnected, cli.output)?,
        Command::Doctor(doctor) => return node::doctor::run(doctor, settings(), cli.output).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command with the app of the cell of the merchant that it names.
async fn operate_for(named: Option<Handle>, command: Operate, app: App, format: Format) -> anyhow::Result<()> {
    let app = context::of_named_merchant(app, named).await?;
    operate(command, &app, format).await
}

async fn operate(command: Operate, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Operate::Merchant(command) => merchants::merchant::run(command, app, format).await,
        Operate::Credential(command) => merchants::credential::run(command, app, format).await,
        Operate::Endpoint(command) => messages::endpoint::run(command, app, format).await,
        Operate::Carrier(command) => returns::carrier::run(command, app, format).await,
        Operate::Warehouse(command) => warehouse::warehouses::run(command, app, format).await,
        Operate::Vendor(command) => warehouse::vendor::run(command, app, format).await,
        Operate::Exceptions(command) => warehouse::exceptions::run(command, app, format).await,
        Operate::Messages(command) => messages::commands::run(command, app, format).await,
        Operate::Failures(command) => messages::failures::run(command, app, format).await,
        #[cfg(feature = "simulators")]
        Operate::Trigger(trigger) => messages::trigger::run(trigger, app, format).await,
        Operate::Deliverers => node::deliverers::run(app, format).await,
        Operate::Orders(command) => orders::commands::run(command, app, format).await,
        Operate::Returns(command) => returns::commands::run(command, app, format).await,
        Operate::Shopper(command) => merchants::shopper::run(command, app, format).await,
        Operate::Policy(command) => returns::policy::run(command, app, format).await,
        Operate::Mails(command) => returns::mails::run(command, app, format).await,
        Operate::Portal(command) => merchants::portal::run(command, app, format).await,
        Operate::Withdrawals(command) => returns::withdrawals::run(command, app, format).await,
        Operate::Brand(command) => merchants::brand::run(command, app, format).await,
        Operate::Operator(command) => merchants::operator::run(command, app, format).await,
        Operate::Audit(command) => merchants::audit::run(command, app, format).await,
        Operate::Request(command) => merchants::request::run(command, app, format).await,
        Operate::Report(command) => messages::report::run(command, app, format).await,
        Operate::Limit(command) => node::limit::run(command, app, format).await,
        Operate::Cell(command) => node::cells::run(command, app, format).await,
        Operate::Keys(command) => node::keys::run(command, app, format).await,
        Operate::Clock(command) => node::clock::run(command, app, format).await,
    }
}

/// The command line as it is read, with every command and option.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// The commands behind the operator API.
#[must_use]
pub fn operator_api() -> Commands {
    remote::commands(Cli::command(), |app, call| Box::pin(answer(app, call)))
}

/// Runs a command for a caller of the operator API.
async fn answer(app: App, call: Call) -> Answer {
    let words = match remote::read(Cli::command(), call, app.now()) {
        Ok(words) => words,
        Err(why) => return remote::refuse(why),
    };
    let parsed = Cli::command().try_get_matches_from(&words.line);
    match parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?.command, matches))) {
        Ok((Command::Operate(command), matches)) => {
            let format = words.format;
            let named = context::named_merchant(&matches);
            remote::run(words, Box::pin(operate_for(named, command, app, format))).await
        }
        Ok(_) => remote::refuse("this command cannot be run from elsewhere".to_owned()),
        Err(error) => remote::refuse(remote::explain(&error)),
    }
}
