//! `backhaul dev`: a complete sandbox on one machine, without configuration.
//!
//! - The ports (`ports.rs`), which are taken before anything is started.
//! - The database (`database.rs`): a temporary PostgreSQL, or the sandbox that `DATABASE_URL` names. What a killed run left behind is
//!   removed (`leftovers.rs`).
//! - Two merchants with orders (`seed.rs`); their systems, carriers and warehouses are simulated.
//! - Their warehouses and vendors, and announced inbound goods (`places.rs`).
//! - A few sample returns (`tour.rs`), so that the developer sees messages delivered at once.
//! - The mailbox that catches all mail, with a page to look at it (`mail_page.rs`).
//! - Commands to paste (`welcome.rs`), and colours (`paint.rs`).
//! - `backhaul demo`, a story that is told on top of all this (`demo.rs`).

mod database;
pub(super) mod demo;
mod leftovers;
pub(super) mod machine;
mod mail_page;
mod paint;
mod places;
mod ports;
mod seed;
mod tour;
mod welcome;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use domain::node::mode::Mode;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::Merchant as Receiver;
use store::node::installation;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};

use self::database::Database;
use self::demo::Demo;
use self::paint::{Paint, Steps};
use self::ports::Ports;
use self::welcome::Addresses;
use super::confirm::Confirmation;
use super::output;
use crate::app::App;
use crate::cli::node::serve;
use crate::flow::merchants::operators::invitation::first_link;
use crate::http::operator_api::Commands;
use crate::node::Phase;
use crate::platform::clock::Clock;
use crate::platform::config::{LogFormat, Settings};
use crate::platform::entropy::Entropy;
use crate::platform::telemetry;

/// The simulated warehouses' pause between two looks for work.
const WAREHOUSE_PAUSE: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(super) struct Dev {
    /// The port to listen on; the console listens on the next one. 0 picks free ones.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Show every message and mail as it arrives, and every line of the log; otherwise only warnings and errors are shown.
    #[arg(long)]
    verbose: bool,
    /// Empty the sandbox that `DATABASE_URL` names before starting, after a confirmation: all its tables are dropped. Refused for
    /// production.
    #[arg(long)]
    reset: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

pub(super) async fn run(dev: Dev, settings: Settings, operator_api: Commands) -> anyhow::Result<()> {
    let steps = Steps { paint: Paint::of_stdout(), clock: Clock::system() };
    let ports = Ports::take(dev.port)?;
    let leaving = watch_for_leaving()?;
    output::painted(&format!("{}\n", steps.paint.bold("Starting a sandbox on this machine")));
    let reset = dev.reset.then_some(&dev.confirmation);
    let database = Database::open(&settings, reset, &steps).await?;
    let sandbox = Sandbox { database: &database, ports, settings, operator_api, then: Then::Stay { verbose: dev.verbose } };
    let ran = Box::pin(run_until_stopped(sandbox, &steps, leaving)).await;
    ran.and(database.close())
}

/// Runs `backhaul demo`. Its database is always a temporary one, because the story moves the clock.
pub(super) async fn demonstrate(demo: Demo, settings: Settings, operator_api: Commands) -> anyhow::Result<()> {
    let steps = Steps { paint: Paint::of_stdout(), clock: Clock::system() };
    let ports = Ports::take(0)?;
    let leaving = watch_for_leaving()?;
    output::painted(&format!("{}\n", steps.paint.bold("Starting a sandbox on this machine")));
    let database = Database::temporary(&steps).await?;
    let sandbox = Sandbox { database: &database, ports, settings, operator_api, then: Then::Tell(demo) };
    let ran = Box::pin(run_until_stopped(sandbox, &steps, leaving)).await;
    ran.and(database.close())
}

/// Handles Ctrl-C and a closed terminal from the start, so that no PostgreSQL is left behind.
fn watch_for_leaving() -> anyhow::Result<watch::Receiver<bool>> {
    let (leave, leaving) = watch::channel(false);
    let mut hangup = signal(SignalKind::hangup()).context("installing the handler of SIGHUP failed")?;
    tokio::spawn(async move {
        tokio::select! {
            () = serve::wait_for_signal() => {}
            _ = hangup.recv() => {}
            () = output::nobody_reads() => {}
        }
        let _ = leave.send(true);
    });
    Ok(leaving)
}

/// What follows once the service runs.
enum Then {
    /// Sample returns and commands to paste, until shutdown is requested.
    Stay { verbose: bool },
    /// The story, which ends.
    Tell(Demo),
}

/// Everything that the service is started with.
struct Sandbox<'a> {
    database: &'a Database,
    ports: Ports,
    settings: Settings,
    operator_api: Commands,
    then: Then,
}

/// Runs the service and the simulated systems around it, until shutdown is requested.
async fn run_until_stopped(sandbox: Sandbox<'_>, steps: &Steps, leaving: watch::Receiver<bool>) -> anyhow::Result<()> {
    let Sandbox { database, ports, settings, operator_api, then } = sandbox;
    let (receiver, mailbox) = (Receiver::start().await?, Arc::new(Mailbox::start().await?));
    let mails = mail_page::serve(Arc::clone(&mailbox)).await?;
    let (public, console) = ports.addresses()?;
    let app = App::new(sandboxed(settings, &database.url(), (public, console), &mailbox)?, Clock::system(), Entropy::system())?;
    let demos = tokio::select! {
        demos = prepare(&app, &receiver, steps) => demos?,
        () = serve::leaving_requested(leaving.clone()) => return Ok(()),
    };
    tokio::spawn({
        let (app, leaving) = (app.clone(), leaving.clone());
        async move {
            serve::leaving_requested(leaving).await;
            app.enter(Phase::Leaving);
        }
    });
    let (started, address) = oneshot::channel();
    let roles = serve::Serve::default();
    let serving = serve::serve(app.clone(), &roles, operator_api, ports.hand_over()?, leaving, |address| _ = started.send(address));
    let showing = async {
        let address: SocketAddr = address.await.context("the service did not start")?;
        demos.0.connect(address)?;
        demos.1.connect(address)?;
        let around = Around { app: &app, database, demos: &demos, receiver: &receiver, mailbox: &mailbox, paint: steps.paint };
        match then {
            Then::Stay { verbose } => around.stay((address, console, mails), verbose).await,
            Then::Tell(demo) => demo::tell(&demo, &app, &receiver, &demos.0, steps.paint).await,
        }
    };
    tokio::select! {
        biased;
        served = serving => served,
        shown = showing => shown,
    }
}

/// The running sandbox.
struct Around<'a> {
    app: &'a App,
    database: &'a Database,
    demos: &'a (seed::Demo, seed::Demo),
    receiver: &'a Receiver,
    mailbox: &'a Mailbox,
    paint: Paint,
}

impl Around<'_> {
    /// Plays the sample returns, prints the commands to paste, and lets the simulated systems work for as long as it is polled. The
    /// addresses are those of the service, the console and the mailbox.
    async fn stay(self, (service, console, mails): (SocketAddr, SocketAddr, SocketAddr), verbose: bool) -> anyhow::Result<()> {
        let Self { app, database, demos, receiver, mailbox, paint } = self;
        let mut arrivals = tour::follow(receiver);
        tour::play(app, demos, &mut arrivals, paint).await?;
        let first_link = first_link(app, &format!("http://{console}")).await?;
        let addresses = Addresses { service, console, mailbox: mails, first_link };
        output::painted(&welcome::welcome(&addresses, database, demos, app.now(), paint, verbose));
        // Errors before this point end the command and are printed; from here on they go to the log.
        if verbose {
            output::painted("\nMessages to merchants and mails to shoppers from now on:\n\n");
            telemetry::start(&app.settings.log);
        } else {
            telemetry::start_quietly(&app.settings.log);
        }
        let shown = verbose.then_some(paint);
        let (one, other) = (demos.0.warehouse(service, app.now())?, demos.1.warehouse(service, app.now())?);
        tokio::join!(
            tour::report(app, receiver, mailbox, arrivals, shown),
            one.keep_working(WAREHOUSE_PAUSE),
            other.keep_working(WAREHOUSE_PAUSE),
        );
        Ok(())
    }
}

/// Creates the schema and the demo merchants.
async fn prepare(app: &App, receiver: &Receiver, steps: &Steps) -> anyhow::Result<(seed::Demo, seed::Demo)> {
    let migrate = async { Ok(installation::migrate(app.settings.database.url(), Mode::Sandbox, app.clock.wall()).await?) };
    steps.take("Schema", migrate).await?;
    app.renew_clock().await?;
    let seeded = seed::create(app, receiver);
    Box::pin(steps.take("Two merchants with fifty orders, simulated systems and carriers", seeded)).await
}

/// The settings, with everything replaced that does not suit a sandbox on this machine.
fn sandboxed(
    mut settings: Settings,
    url: &str,
    (public, console): (SocketAddr, SocketAddr),
    mailbox: &Mailbox,
) -> anyhow::Result<Settings> {
    settings.mode = Mode::Sandbox;
    settings.database.set_url(url);
    settings.http.listen = public.to_string();
    "127.0.0.1:0".clone_into(&mut settings.http.admin_listen);
    settings.console.serve_at(console.to_string(), None);
    settings.tls.turn_off();
    settings.portal.share_listener(format!("http://{public}"));
    settings.mail.set_url(&format!("{}?tls=none", mailbox.url()));
    "notices@example.com".clone_into(&mut settings.mail.from);
    // The simulated systems listen on this machine's loopback address, which calls otherwise refuse.
    settings.outbound.allowed.push(welcome::LOOPBACK.parse()?);
    // They call from there too, and name an address of their own, so that they do not use up the developer's rate limit.
    settings.http.trusted_proxies.push(welcome::LOOPBACK.parse()?);
    settings.log.format = LogFormat::Text;
    Ok(settings)
}
