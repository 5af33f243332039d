//! `backhaul serve`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::app::App;
use crate::http::listener::{self, Door};
use crate::node::Phase;
use crate::outbound::forward_signals;
use crate::tls::Certificates;
use crate::{heartbeat, http, telemetry, tls, worker};

/// How often a database that cannot be reached is asked again at the start.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What a process does.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// It answers calls.
    Api,
    /// It delivers messages to merchants' systems.
    Deliver,
}

#[derive(Args, Default)]
pub(super) struct Serve {
    /// What the process does; repeat for several. Without it, everything.
    #[arg(long = "role", value_enum)]
    roles: Vec<Role>,
}

impl Serve {
    fn plays(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }
}

pub(super) async fn run(app: App, what: &Serve) -> anyhow::Result<()> {
    telemetry::start(&app.settings.log);
    let (leave, leaving) = watch::channel(false);
    tokio::spawn(on_signal(app.clone(), leave));
    serve(app, what, leaving, |_| {}).await
}

/// Serves until `leaving` says so; calls `started` with the public address once the service accepts work.
pub(super) async fn serve(
    app: App,
    what: &Serve,
    leaving: watch::Receiver<bool>,
    started: impl FnOnce(std::net::SocketAddr),
) -> anyhow::Result<()> {
    let limits = &app.settings.http;
    let door = public_door(&app)?;
    // Health is served first, so that whoever waits for the service can see what it waits for.
    let admin = bind(&limits.admin_listen, "http.admin_listen").await?;
    let admin = {
        let (app, leaving) = (app.clone(), leaving.clone());
        tokio::spawn(async move { listener::serve(admin, http::admin_router(&app), &app.settings.http, gone(leaving)).await })
    };
    tokio::select! {
        ready = wait_for_database(&app) => ready?,
        () = gone(leaving.clone()) => return Ok(()),
    }
    // A limit that was lowered holds from the first request on.
    if let Err(failed) = app.limits.renew(app.cell()).await {
        tracing::warn!(%failed, "the limits are those of the settings for now");
    }
    if let Err(failed) = app.renew_clock().await {
        tracing::warn!(%failed, "the clock is that of the machine for now");
    }
    let heartbeat = tokio::spawn(heartbeat::run(app.clone()));
    let deliverer = what.plays(Role::Deliver).then(|| worker::start(&app));
    let forwarder = deliverer.is_none().then(|| tokio::spawn(forward_signals(app.clone())));
    if what.plays(Role::Api) {
        let public = bind(&limits.listen, "http.listen").await?;
        let address = public.local_addr()?;
        let tls = app.settings.tls.files().is_some();
        tracing::info!(%address, tls, mode = app.settings.mode.as_str(), "serving");
        app.enter(Phase::Serving);
        started(address);
        listener::serve_through(door, public, http::router(&app), gone(leaving)).await?;
    } else {
        tracing::info!(mode = app.settings.mode.as_str(), "delivering");
        app.enter(Phase::Serving);
        gone(leaving).await;
    }
    app.variants.rest().await;
    if let Some(deliverer) = deliverer {
        deliverer.leave().await;
    }
    if let Some(forwarder) = forwarder {
        forwarder.abort();
    }
    heartbeat.abort();
    admin.await??;
    app.cell().close().await;
    tracing::info!("gone");
    Ok(())
}

/// The public listener's door, with TLS where a certificate is set; its files are looked at from now on.
fn public_door(app: &App) -> anyhow::Result<Door> {
    let settings = &app.settings;
    let tls = match settings.tls.files() {
        Some(files) => {
            let certificates = Arc::new(Certificates::load(files).context("tls.certificate, tls.private_key")?);
            tokio::spawn(Arc::clone(&certificates).keep_current(settings.tls.reload_interval()));
            Some(tls::server_config(certificates, settings.tls.allow_1_3).context("tls")?)
        }
        None => None,
    };
    Ok(Door::public(&settings.http, tls, app.metrics.listener.clone()))
}

async fn bind(address: &str, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{setting}: cannot listen on {address}"))
}

/// Waits for the database, and refuses one that this service must not write to.
async fn wait_for_database(app: &App) -> anyhow::Result<()> {
    loop {
        match app.cell().mode().await {
            Ok(Some(mode)) if mode == app.settings.mode => break,
            Ok(Some(mode)) => bail!("the database is a {mode} installation, but the settings say mode = \"{}\"", app.settings.mode),
            Ok(None) => bail!("the database is empty; run `backhaul migrate`"),
            Err(failed) => tracing::warn!(%failed, "waiting for the database"),
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
    match app.cell().pending_migrations().await? {
        0 => Ok(()),
        pending => bail!("the schema is {pending} migrations behind; run `backhaul migrate`"),
    }
}

/// Waits until somebody says to leave.
pub(super) async fn gone(mut leaving: watch::Receiver<bool>) {
    _ = leaving.wait_for(|leaving| *leaving).await;
}

/// SIGTERM or SIGINT: not ready any more, then leave.
async fn on_signal(app: App, leave: watch::Sender<bool>) {
    asked_to_leave().await;
    tracing::info!("leaving");
    app.enter(Phase::Leaving);
    let _ = leave.send(true);
}

/// Waits for SIGTERM or SIGINT.
pub(super) async fn asked_to_leave() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        tracing::error!("signals cannot be received");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
