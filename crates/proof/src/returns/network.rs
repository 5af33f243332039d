//! `chaos-network`: the network fails between the service and PostgreSQL, and between the service and merchants' systems, while
//! returns go through their whole life cycle. After each fault, every merchant must soon hear of new returns without a restart
//! of the service. In the end no return and no message may be lost, altered, repeated or delivered out of order.

mod faults;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sandbox::fault_proxy::FaultProxy;
use sandbox::merchant::Merchant;
use serde_json::{Value, json};
use sqlx::PgConnection;

use self::faults::{Blow, Deck, Site};
use super::SHOPS;
use super::chaos::end;
use super::report::Report;
use super::scene::{Lives, Network, Scene};
use crate::messages::{owing, rollups};
use crate::meter::round;
use crate::stage::{Service, Stage, free};

/// The faults to inject.
pub(crate) struct Plan {
    pub(crate) faults: usize,
    /// The bounds of a fault's length.
    pub(crate) shortest: Duration,
    pub(crate) longest: Duration,
    /// Decides the order of the faults and their lengths. By default, every run has another.
    pub(crate) seed: Option<u64>,
}

/// Returns under way during each fault.
const DURING: u64 = 20;
/// Returns after each fault. There are two for an order, so every merchant has some.
const AFTER: usize = SHOPS * 2;
/// The time within which all merchants must hear of new returns after a fault.
const RECOVERED_WITHIN: Duration = Duration::from_secs(15);
/// The time after which the service counts as wedged, and is restarted.
const PATIENCE: Duration = Duration::from_secs(45);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A call to a merchant may take this long, in milliseconds: less than the time for recovery, so that calls swallowed by the
/// network are repeated in time.
const CALL_TIMEOUT: &str = "5000";
/// The seconds between attempts. Even the longest fault leaves two attempts for the time after it.
const WAITS: [i64; 5] = [1, 2, 4, 8, 8];
/// The timeout for closing the returns under way when the last fault is over.
const CLOSED_WITHIN: Duration = Duration::from_mins(2);
/// The timeout for the remaining deliveries, and for those that a fault has delayed.
const DRAINED_WITHIN: Duration = Duration::from_mins(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    let seed = plan.seed.unwrap_or_else(rand::random);
    println!("Setting up: a temporary PostgreSQL, 100 merchants, {SHOPS} of them with endpoints; seed {seed} …");
    let systems = Merchant::start().await?;
    let to_merchants = FaultProxy::start(systems.address()).await?;
    let network = Network { reached_at: to_merchants.address(), refused: 0, waits: WAITS };
    let scene = Scene::set_with(Stage::set(program).await?, systems, &network).await?;
    let to_database = FaultProxy::start(scene.stage.cluster()?.socket()).await?;
    let service = serve(&scene, &to_database, free()?, free()?)?;
    service.ready().await?;
    let connection = scene.stage.connect().await?;
    let mut run = Run { scene, service, to_database, to_merchants, connection, lives: Vec::new() };

    let (mut slowest, mut wedged) = (Duration::ZERO, 0);
    let mut deck = Deck::new(seed, plan.shortest..=plan.longest);
    for number in 1..=plan.faults {
        let blow = deck.draw();
        if let Some(recovery) = run.survive(&blow).await? {
            println!("{number}: {blow}: recovered after {:.2} s", recovery.as_secs_f64());
            slowest = slowest.max(recovery);
        } else {
            println!("{number}: {blow}: wedged; restarting the service");
            wedged += 1;
            run.restart().await?;
        }
    }
    let Run { scene, mut service, mut connection, lives, .. } = run;
    let closed_by = Instant::now() + CLOSED_WITHIN;
    let mut closed = Ok(());
    for lives in lives {
        closed = closed.and(end(lives, closed_by.saturating_duration_since(Instant::now())).await);
    }
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    service.leave().await?;
    let report = Report::new(&scene.history(&mut connection).await?);
    let own = json!({
        "faults": plan.faults, "seed": seed, "wedged": wedged, "slowest_recovery_s": round(slowest.as_secs_f64(), 2),
    });
    let result = report.result("network", own);
    closed.with_context(|| format!("a request was answered wrongly: {result}"))?;
    report.ensure(&result)?;
    ensure!(wedged == 0, "the service did not recover by itself: {result}");
    ensure!(slowest <= RECOVERED_WITHIN, "deliveries went on too late: {result}");
    drained?;
    rollups::check(&mut connection).await?;
    Ok(result)
}

/// Starts the service, with its database behind the proxy.
fn serve(scene: &Scene, to_database: &FaultProxy, address: SocketAddr, admin: SocketAddr) -> anyhow::Result<Service> {
    let url = format!("postgres://postgres@{}/postgres", to_database.address());
    let variables = [("DATABASE_URL", url.as_str()), ("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", CALL_TIMEOUT)];
    scene.stage.serve_with(address, admin, &variables)
}

/// The service between two networks, and the returns under way.
struct Run {
    scene: Scene,
    service: Service,
    to_database: FaultProxy,
    to_merchants: FaultProxy,
    /// A connection that bypasses the network.
    connection: PgConnection,
    lives: Vec<Lives>,
}

impl Run {
    /// Lets the network fail once. Returns the time until all merchants heard of new returns, or `None` if they did not.
    async fn survive(&mut self, blow: &Blow) -> anyhow::Result<Option<Duration>> {
        self.start(DURING, blow.lasting);
        let network = match blow.site {
            Site::Database => &self.to_database,
            Site::Merchants => &self.to_merchants,
        };
        network.inject(blow.fault);
        tokio::time::sleep(blow.lasting).await;
        network.heal();
        let healed = Instant::now();
        self.start(AFTER as u64, Duration::ZERO);
        while !self.scene.are_told(AFTER) {
            if healed.elapsed() > PATIENCE {
                return Ok(None);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let recovery = healed.elapsed();
        self.calm_down().await?;
        Ok(Some(recovery))
    }

    /// Starts `count` returns whose life cycles take about this long.
    fn start(&mut self, count: u64, span: Duration) {
        let run = Arc::new(self.scene.run(self.service.address, span));
        let lives = self.scene.live(count, &run);
        self.lives.push(lives);
    }

    /// Waits until the messages that the fault has delayed are delivered. Otherwise several faults could take all attempts of
    /// the same message.
    async fn calm_down(&mut self) -> anyhow::Result<()> {
        let started = Instant::now();
        while started.elapsed() < DRAINED_WITHIN
            && sqlx::query_scalar::<_, bool>("select exists (select from delivery where attempts > 0)")
                .fetch_one(&mut self.connection)
                .await?
        {
            tokio::time::sleep(LOOK_EVERY * 10).await;
        }
        Ok(())
    }

    /// Restarts the service, and waits until it works again.
    async fn restart(&mut self) -> anyhow::Result<()> {
        self.service.kill();
        self.service = serve(&self.scene, &self.to_database, self.service.address, self.service.admin)?;
        let started = Instant::now();
        while !self.scene.are_told(AFTER) {
            ensure!(started.elapsed() < CLOSED_WITHIN, "merchants hear nothing even after a restart");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.calm_down().await
    }
}
