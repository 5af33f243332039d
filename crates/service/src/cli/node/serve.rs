//! `backhaul serve`: runs the service until SIGTERM or SIGINT.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use domain::node::mode::Mode;
use futures::future::join_all;
use rustls::ServerConfig;
use secrecy::ExposeSecret as _;
use store::messages::partitions;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::cli::output;
use crate::delivery::trace_exporter::TraceExporter;
use crate::flow::merchants::operators::invitation::first_link;
use crate::flow::orders::count_intake::count_intake;
use crate::http::listener::{self, Door};
use crate::http::operator_api::Commands;
use crate::node::cell::Cell;
use crate::node::keys::MEND;
use crate::node::{Phase, database};
use crate::platform::config::{PairFiles, Settings};
use crate::platform::metrics::Connections;
use crate::platform::tls::{Certificates, ClientCertificates};
use crate::platform::{open_files, telemetry, tls};
use crate::worker::Workers;
use crate::{heartbeat, http};

/// The time between two attempts to reach the database at startup.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The interval at which counts of the intake are stored.
const COUNTED_EVERY: Duration = Duration::from_secs(10);

/// A role that a process can take.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Role {
    /// Serve the API.
    Api,
    /// Deliver messages to merchants' systems.
    Deliver,
    /// Serve the operator's console.
    Console,
}

#[derive(Args, Default)]
pub(in crate::cli) struct Serve {
    /// A role of this process. Repeat for several; all roles if left out.
    #[arg(long = "role", value_enum)]
    roles: Vec<Role>,
    /// The cells for which this process delivers, as the settings name them; all of them if left out. It serves the API of all
    /// cells in any case.
    #[arg(long = "cells", value_name = "NAME", value_delimiter = ',')]
    cells: Vec<String>,
}

impl Serve {
    fn has(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// True if a process with these roles delivers for the cell.
    fn delivers_for(&self, cell: &Cell) -> bool {
        self.has(Role::Deliver) && (self.cells.is_empty() || self.cells.iter().any(|name| name == cell.name()))
    }
}

/// Listeners that were bound before the service starts. The service binds the others by its settings.
#[derive(Default)]
pub(in crate::cli) struct Bound {
    pub(in crate::cli) public: Option<TcpListener>,
    /// Whoever binds it introduces the console as well.
    pub(in crate::cli) console: Option<TcpListener>,
}

pub(in crate::cli) async fn run(app: App, roles: &Serve, operator_api: Commands) -> anyhow::Result<()> {
    telemetry::start(&app.settings.log);
    let (leave, leaving) = watch::channel(false);
    tokio::spawn(on_signal(app.clone(), leave));
    // Installed before anything else happens, because SIGHUP ends a process that does not handle it.
    tokio::spawn(on_hangup(app.clone(), signal(SignalKind::hangup()).context("installing the handler of SIGHUP failed")?));
    serve(app, roles, operator_api, Bound::default(), leaving, |_| {}).await
}

/// Serves until `leaving` turns true; calls `started` with the public address once the service accepts requests.
pub(in crate::cli) async fn serve(
    app: App,
    roles: &Serve,
    operator_api: Commands,
    bound: Bound,
    leaving: watch::Receiver<bool>,
    started: impl FnOnce(std::net::SocketAddr),
) -> anyhow::Result<()> {
    let limits = &app.settings.http;
    check(&app, roles)?;
    let doors = roles.has(Role::Api).then(|| Doors::prepare(&app)).transpose()?;
    // Start the admin listener first, so that its health page shows why the service is not ready yet.
    let admin = serve_admin(&app, leaving.clone()).await?;
    tokio::select! {
        ready = wait_for_databases(&app) => ready?,
        () = leaving_requested(leaving.clone()) => return Ok(()),
    }
    // The nodes of a cluster are known now.
    refuse_insecure(&app)?;
    // Load the lowered limits before the first request.
    if let Err(failed) = app.limits.renew(app.home()).await {
        tracing::warn!(%failed, "loading the operator's limits failed, using those of the settings for now");
    }
    if let Err(failed) = app.renew_clock().await {
        tracing::warn!(%failed, "loading the sandbox's clock failed, using the machine's for now");
    }
    let apps = app.of_each_cell();
    for app in &apps {
        prepare_cell(app).await;
    }
    let exporter = TraceExporter::start(&app);
    let heartbeat = tokio::spawn(heartbeat::run(app.clone()));
    let counting = tokio::spawn(count_intake_forever(apps.clone()));
    let workers = Workers::start(&apps, |app| roles.delivers_for(app.place()));
    let console = match app.settings.console.listen().filter(|_| roles.has(Role::Console)) {
        Some(listen) => {
            let listener = match bound.console {
                Some(listener) => listener,
                None => bind_console(&app, listen).await?,
            };
            Some(serve_console(&app, listener, operator_api, leaving.clone())?)
        }
        None => None,
    };
    if let Some(doors) = doors {
        let public = match bound.public {
            Some(public) => public,
            None => bind(&limits.listen, "http.listen").await?,
        };
        let portal = match app.settings.portal.listen() {
            Some(listen) => Some(bind(listen, "portal.listen").await?),
            None => None,
        };
        let address = public.local_addr()?;
        let tls = app.settings.tls.files().is_some();
        let of_portal = portal.as_ref().map(TcpListener::local_addr).transpose()?.map(tracing::field::display);
        tracing::info!(%address, portal = of_portal, tls, mode = app.settings.mode.as_str(), "serving");
        app.enter(Phase::Serving);
        started(address);
        let serving = listener::serve_through(doors.public, public, http::router(&app), leaving_requested(leaving.clone()));
        match doors.portal.zip(portal) {
            Some((door, portal)) => {
                let router = http::portal_listener_router(&app);
                tokio::try_join!(serving, listener::serve_through(door, portal, router, leaving_requested(leaving)))?;
            }
            None => serving.await?,
        }
    } else {
        tracing::info!(mode = app.settings.mode.as_str(), "delivering");
        app.enter(Phase::Serving);
        leaving_requested(leaving).await;
    }
    app.variants.wait_until_idle().await;
    workers.leave().await;
    heartbeat.abort();
    counting.abort();
    for app in &apps {
        if let Err(failed) = count_intake(app).await {
            tracing::warn!(%failed, cell = app.place().name(), "storing the last counts of warnings failed");
        }
    }
    if let Some(console) = console {
        console.await??;
    }
    if let Some(exporter) = exporter {
        exporter.leave().await;
    }
    admin.await??;
    join_all(app.cells().iter().map(|cell| cell.store.close())).await;
    tracing::info!("shutdown complete");
    Ok(())
}

/// Refuses settings with which a process of these roles must not start. The database is not asked.
pub(in crate::cli) fn check(app: &App, roles: &Serve) -> anyhow::Result<()> {
    let settings = &app.settings;
    if roles.has(Role::Api) {
        check_open_files(settings)?;
        // Loading the certificates shows whether they can be used.
        certificates(settings, settings.portal.public_certificates(&settings.tls))?;
        if settings.portal.listen().is_some() {
            certificates(settings, settings.portal.own_certificates(&settings.tls))?;
        }
    }
    refuse_insecure(app)?;
    refuse_unknown_cells(app, roles)?;
    settings.http.check_admin(settings.mode, settings.http.admin_token()?.as_ref())?;
    if let Some(files) = settings.http.admin_files() {
        certificates(settings, vec![files])?;
    }
    Ok(())
}

/// Starts serving metrics and health.
async fn serve_admin(app: &App, leaving: watch::Receiver<bool>) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
    let (settings, http) = (&app.settings, &app.settings.http);
    let token = http.admin_token()?;
    http.check_admin(settings.mode, token.as_ref())?;
    let tls = match http.admin_files() {
        Some(files) => secure(settings, vec![files], true, ClientCertificates::NotAsked)?,
        None => None,
    };
    let listener = bind(&http.admin_listen, "http.admin_listen").await?;
    let door = Door::admin(http, &app.entropy, tls, app.metrics.admin_listener.clone());
    Ok(tokio::spawn(listener::serve_through(door, listener, http::admin_router(app, token.as_ref()), leaving_requested(leaving))))
}

/// Binds the console's listener, and tells whoever looks on how to become its first administrator.
async fn bind_console(app: &App, listen: &str) -> anyhow::Result<TcpListener> {
    let listener = bind(listen, "console.listen").await?;
    introduce(app, &listener).await;
    Ok(listener)
}

/// Prints a one-time link for the first administrator, if there is no operator yet. It is secret, so it is not in the log.
async fn introduce(app: &App, listener: &TcpListener) {
    let (console, address) = (&app.settings.console, listener.local_addr());
    let scheme = if app.settings.tls.files().is_some() && !console.is_local() { "https" } else { "http" };
    let base = console.url().map(str::to_owned).or_else(|| address.ok().map(|address| format!("{scheme}://{address}")));
    match first_link(app, &base.unwrap_or_default()).await {
        Ok(Some(link)) => output::note(&format!(
            "Nobody works with the console yet. Whoever opens this link within 72 hours becomes its first administrator:\n{}",
            link.expose_secret()
        )),
        Ok(None) => {}
        Err(failed) => tracing::warn!(%failed, "making the link for the first administrator failed; `backhaul operator add` makes one too"),
    }
}

/// Starts serving the console and the operator API on `listener`.
fn serve_console(
    app: &App,
    listener: TcpListener,
    operator_api: Commands,
    leaving: watch::Receiver<bool>,
) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
    let (settings, address) = (&app.settings, listener.local_addr()?);
    // Only this machine reaches a local console, so there is nobody on the way who could listen.
    let certificates = settings.tls.files().filter(|_| !settings.console.is_local());
    let tls = match certificates {
        Some(files) => secure(settings, vec![files], true, ClientCertificates::NotAsked)?,
        None => None,
    };
    let door = Door::public(&settings.http, &app.entropy, tls, app.metrics.console_listener.clone());
    tracing::info!(%address, url = settings.console.url(), "serving the console");
    Ok(tokio::spawn(listener::serve_through(door, listener, http::console_router(app, operator_api), leaving_requested(leaving))))
}

/// The files that a process opens besides the connections of callers: those to the database and to merchants, and the log.
const OTHER_FILES: u64 = 1024;

/// Raises the limit on open files, and checks that it suffices for the connections in the settings.
fn check_open_files(settings: &Settings) -> anyhow::Result<()> {
    let connections = settings.http.connections;
    let listeners = 1 + u64::from(settings.portal.listen().is_some());
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_mul(listeners).saturating_add(OTHER_FILES);
    let Some(files) = open_files::raise().filter(|files| *files < needed) else { return Ok(()) };
    let of = if listeners > 1 { " on two listeners" } else { "" };
    let found = format!("this process may open {files} files, but http.connections = {connections}{of} needs {needed}");
    let mend = "raise the limit (LimitNOFILE, ulimit -n), or lower http.connections";
    match settings.mode {
        Mode::Production => bail!("{found}: {mend}"),
        Mode::Sandbox => tracing::warn!("{found}: {mend}"),
    }
    Ok(())
}

/// Refuses a connection to the database that others could read or answer, unless the settings allow it.
fn refuse_insecure(app: &App) -> anyhow::Result<()> {
    for cell in app.cells() {
        let check = database::protection(&app.settings, cell);
        match check.mend {
            Some(mend) if app.settings.mode == Mode::Production => {
                bail!("the connection to {} is not safe: {}; {mend}", cell.told(), check.found)
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses to deliver for a cell that the settings do not name.
fn refuse_unknown_cells(app: &App, roles: &Serve) -> anyhow::Result<()> {
    match roles.cells.iter().find(|name| !app.cells().iter().any(|cell| cell.name() == name.as_str())) {
        Some(name) => bail!("the settings name no cell `{name}`; name one of its `[[cells]]`, or `main`"),
        None => Ok(()),
    }
}

/// Makes a cell ready for the first request.
async fn prepare_cell(app: &App) {
    let cell = app.place().name();
    if let Err(failed) = app.follow_clock().await {
        tracing::warn!(%failed, cell, "moving the clock of the cell failed");
    }
    // After weeks without any process there is no partition for today; the first request must not find out.
    if let Err(failed) = partitions::make_around(app.cell(), app.now()).await {
        tracing::warn!(%failed, cell, "making the partitions for today failed, the deliverer tries again");
    }
}

/// What the listeners for the internet admit, and with which certificates.
struct Doors {
    public: Door,
    /// Of the portal's own listener, if it has one.
    portal: Option<Door>,
}

impl Doors {
    fn prepare(app: &App) -> anyhow::Result<Self> {
        let settings = &app.settings;
        let door = |certificates, allow_1_3, of_clients, counts: &Connections| {
            let tls = secure(settings, certificates, allow_1_3, of_clients)?;
            anyhow::Ok(Door::public(&settings.http, &app.entropy, tls, counts.clone()))
        };
        let asked = if settings.tls.client_certificates { ClientCertificates::Asked } else { ClientCertificates::NotAsked };
        let public = door(settings.portal.public_certificates(&settings.tls), settings.tls.allow_1_3, asked, &app.metrics.listener)?;
        // The contract restricts the API to TLS 1.2, not the portal. A shopper's browser would ask for a certificate to choose.
        let certificates = settings.portal.own_certificates(&settings.tls);
        let portal = || door(certificates, true, ClientCertificates::NotAsked, &app.metrics.portal_listener);
        Ok(Self { public, portal: settings.portal.listen().map(|_| portal()).transpose()? })
    }
}

/// The TLS of a listener with these certificates, whose files are reloaded when they change. Without any, it speaks plain HTTP.
fn secure(
    settings: &Settings,
    files: Vec<PairFiles>,
    allow_1_3: bool,
    of_clients: ClientCertificates,
) -> anyhow::Result<Option<Arc<ServerConfig>>> {
    let Some(certificates) = certificates(settings, files)? else { return Ok(None) };
    tokio::spawn(Arc::clone(&certificates).keep_current(settings.tls.reload_interval()));
    Ok(Some(tls::server_config(certificates, allow_1_3, of_clients).context("preparing TLS failed")?))
}

/// The certificates in these files. Without any, a listener speaks plain HTTP, which production refuses.
fn certificates(settings: &Settings, files: Vec<PairFiles>) -> anyhow::Result<Option<Arc<Certificates>>> {
    if files.is_empty() {
        if settings.mode == Mode::Production && !settings.http.behind_tls_proxy {
            bail!(
                "production serves only over TLS: set tls.certificate and tls.private_key, or, if a proxy in front of this process terminates TLS, http.behind_tls_proxy = true"
            );
        }
        return Ok(None);
    }
    let certificates = Certificates::load(files)
        .context("loading the files of tls.certificate and tls.private_key, of portal.certificates or of http.admin_certificate failed")?;
    Ok(Some(Arc::new(certificates)))
}

async fn bind(address: &str, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}, set by {setting}"))
}

/// Refuses keys that are not those that the installation used before.
async fn check_keys(app: &App) -> anyhow::Result<()> {
    match app.confirm_keys().await?.as_slice() {
        [] => Ok(()),
        [wrong, ..] => bail!("{wrong}; {MEND}"),
    }
}

/// Waits until the databases of all cells are reachable. Refuses one with another mode or an outdated schema.
async fn wait_for_databases(app: &App) -> anyhow::Result<()> {
    for app in app.of_each_cell() {
        wait_for_database(&app).await?;
    }
    check_keys(app).await
}

async fn wait_for_database(app: &App) -> anyhow::Result<()> {
    let told = app.place().told();
    loop {
        match app.cell().mode().await {
            Ok(Some(mode)) if mode == app.settings.mode => break,
            Ok(Some(mode)) => bail!(
                "{told} is a {mode} installation, but the settings say mode = \"{}\"; change the mode, or use another database",
                app.settings.mode
            ),
            Ok(None) => bail!("{told} has no schema yet; run `backhaul migrate`"),
            Err(failed) => {
                let failed = app.cell().reach().await.err().unwrap_or(failed);
                if failed.is_permanent() {
                    bail!("{failed}");
                }
                tracing::warn!(%failed, cell = app.place().name(), "the database is unreachable, will retry");
            }
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    let of = if app.place().is_home() { String::new() } else { format!(" of the cell `{}`", app.place().name()) };
    match app.cell().pending_migrations().await? {
        0 => Ok(()),
        1 => bail!("the schema{of} is 1 migration behind; run `backhaul migrate`"),
        pending => bail!("the schema{of} is {pending} migrations behind; run `backhaul migrate`"),
    }
}

/// Waits until `leaving` turns true.
pub(in crate::cli) async fn leaving_requested(mut leaving: watch::Receiver<bool>) {
    _ = leaving.wait_for(|leaving| *leaving).await;
}

/// Adds what was counted of the intake to the counts of the day, every few seconds.
async fn count_intake_forever(apps: Vec<App>) {
    let mut ticks = tokio::time::interval(COUNTED_EVERY);
    loop {
        ticks.tick().await;
        for app in &apps {
            if let Err(failed) = count_intake(app).await {
                tracing::warn!(%failed, cell = app.place().name(), "storing the counts of the intake failed, will retry");
            }
        }
    }
}

/// On SIGTERM or SIGINT, reports the process as not ready. After the notice, or on a second signal, it starts the shutdown.
async fn on_signal(app: App, leave: watch::Sender<bool>) {
    wait_for_signal().await;
    let notice = app.settings.http.leave_notice();
    tracing::info!(notice_ms = notice.as_millis(), "shutdown requested");
    app.enter(Phase::Leaving);
    tokio::select! {
        () = tokio::time::sleep(notice) => {}
        () = wait_for_signal() => {}
    }
    let _ = leave.send(true);
}

/// On SIGHUP, reloads at once what a running process can reload: the operator's limits here, and every certificate in the task that
/// keeps it current. Other settings take a restart.
async fn on_hangup(app: App, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        tracing::info!("SIGHUP: reloading the certificates and the operator's limits; other settings take a restart");
        if let Err(failed) = app.limits.renew(app.home()).await {
            tracing::warn!(%failed, "reloading the operator's limits failed, will retry");
        }
    }
}

/// Waits for SIGTERM or SIGINT.
pub(in crate::cli) async fn wait_for_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        tracing::error!("installing the signal handlers failed, SIGTERM and SIGINT will not be handled");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
