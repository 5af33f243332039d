//! `backhaul dev`: a complete sandbox on one machine, without configuration.
//!
//! - The database (`database.rs`): a temporary PostgreSQL, or the sandbox that `DATABASE_URL` names. What a killed run left behind is
//!   removed (`leftovers.rs`).
//! - Two merchants with orders (`seed.rs`); their systems, carriers and warehouses are simulated.
//! - Their warehouses and vendors, and announced inbound goods (`places.rs`).
//! - A few sample returns (`tour.rs`), so that the developer sees messages delivered at once.
//! - The mailbox that catches all mail, with a page to look at it (`mail_page.rs`).
//! - Commands to paste (`welcome.rs`), and colours (`paint.rs`).

mod database;
mod leftovers;
pub(super) mod machine;
mod mail_page;
mod paint;
mod places;
mod seed;
mod tour;
mod welcome;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use domain::node::mode::Mode;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::Merchant as Receiver;
use store::node::installation;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};

use self::database::Database;
use self::paint::{Paint, Steps};
use super::confirm::Confirmation;
use super::output;
use crate::app::App;
use crate::cli::node::serve;
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
    /// The port to listen on; 0 picks a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Empty the sandbox that `DATABASE_URL` names before starting, after a confirmation: all its tables are dropped. Refused for
    /// production.
    #[arg(long)]
    reset: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

pub(super) async fn run(dev: Dev, settings: Settings, operator_api: Commands) -> anyhow::Result<()> {
    let steps = Steps { paint: Paint::of_stdout(), clock: Clock::system() };
    port_is_free(dev.port)?;
    // Handle Ctrl-C and a closed terminal from the start, so that no PostgreSQL is left behind.
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
    output::painted(&format!("{}\n", steps.paint.bold("Starting a sandbox on this machine")));
    let reset = dev.reset.then_some(&dev.confirmation);
    let database = Database::open(&settings, reset, &steps).await?;
    let ran = Box::pin(run_until_stopped(&database, dev.port, settings, operator_api, &steps, leaving)).await;
    ran.and(database.close())
}

/// Checks that the service can listen, before anything is started.
fn port_is_free(port: u16) -> anyhow::Result<()> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "port {port} is in use by another program: stop it, or choose another port with `backhaul dev --port {}` (0 picks a free one)",
            port.checked_add(1).unwrap_or(8080)
        ),
        ErrorKind::PermissionDenied => anyhow!("port {port} needs privileges: choose one above 1023, such as `backhaul dev --port 8080`"),
        _ => anyhow!("cannot listen on port {port}: {error}"),
    })
}

/// Runs the service and the simulated systems around it, until shutdown is requested.
async fn run_until_stopped(
    database: &Database,
    port: u16,
    settings: Settings,
    operator_api: Commands,
    steps: &Steps,
    leaving: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let (receiver, mailbox) = (Receiver::start().await?, Arc::new(Mailbox::start().await?));
    let mails = mail_page::serve(Arc::clone(&mailbox)).await?;
    let app = App::new(sandboxed(settings, &database.url(), port, &mailbox)?, Clock::system(), Entropy::system())?;
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
    let serving = serve::serve(app.clone(), &roles, operator_api, leaving, |address| _ = started.send(address));
    let showing = async {
        let address: SocketAddr = address.await.context("the service did not start")?;
        let mut arrivals = tour::follow(&receiver);
        demos.0.connect(address)?;
        demos.1.connect(address)?;
        tour::play(&app, &demos, &mut arrivals, steps.paint).await?;
        output::painted(&welcome::welcome((address, mails), database, &demos, app.now(), steps.paint));
        // Errors before this point end the command and are printed; from here on they go to the log.
        telemetry::start(&app.settings.log);
        let (one, other) = (demos.0.warehouse(address, app.now())?, demos.1.warehouse(address, app.now())?);
        tokio::join!(
            tour::report(&app, &receiver, &mailbox, arrivals, steps.paint),
            one.keep_working(WAREHOUSE_PAUSE),
            other.keep_working(WAREHOUSE_PAUSE),
        );
        anyhow::Ok(())
    };
    tokio::select! {
        biased;
        served = serving => served,
        shown = showing => shown,
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

/// The port of the console: the next one, or any if that of the service is any.
fn console_port(port: u16) -> u16 {
    if port == 0 { 0 } else { port.checked_add(1).unwrap_or_default() }
}

/// The settings, with everything replaced that does not suit a sandbox on this machine.
fn sandboxed(mut settings: Settings, url: &str, port: u16, mailbox: &Mailbox) -> anyhow::Result<Settings> {
    settings.mode = Mode::Sandbox;
    settings.database.set_url(url);
    settings.http.listen = format!("127.0.0.1:{port}");
    "127.0.0.1:0".clone_into(&mut settings.http.admin_listen);
    settings.console.serve_at(format!("127.0.0.1:{}", console_port(port)), None);
    settings.tls.turn_off();
    settings.portal.share_listener(format!("http://127.0.0.1:{port}"));
    settings.mail.set_url(&format!("{}?tls=none", mailbox.url()));
    "notices@example.com".clone_into(&mut settings.mail.from);
    // The simulated systems listen on this machine's loopback address, which calls otherwise refuse.
    settings.outbound.allowed.push(welcome::LOOPBACK.parse()?);
    settings.log.format = LogFormat::Text;
    Ok(settings)
}
