//! `chaos-receiving`: many scanners receive the units of one ASN, and of returns without an ASN, at once, each unit at least twice,
//! as fast as they can. The service is killed again and again, at regular steps of the progress. Every unit must be received once.
//! Every unit of the ASN must be reported to the merchant once, every return must report the arrival of all its units, and every
//! unexpected unit must be listed as an exception.
//!
//! - The returns and their units (`returned.rs`).
//! - A scanner (`scanner.rs`) repeats requests until they are answered, and records the answers.
//! - The stored records (`stored.rs`), the checker (`history.rs`), and the faults it must find (`faults.rs`).

mod faults;
mod history;
mod plan;
mod request;
mod returned;
mod scanner;
mod stored;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::returns::set_policy::{PolicyChange, set_policy};
use backhaul::flow::warehouse::configure_place::{WarehouseChange, set_warehouse};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use domain::warehouse::place::Address;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use sandbox::merchant::Merchant;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::history::{History, Wrong, check};
pub(crate) use self::plan::Plan;
use self::returned::Returned;
use self::scanner::{Answer, Scanner, WAREHOUSE};
use self::stored::Stored;
use crate::messages::history::Arrival;
use crate::messages::owing;
use crate::messages::witness::{SEED, answer_by_chance};
use crate::stage::{Service, Stage};

/// The merchant of the stage that receives.
const MERCHANT: usize = 0;
/// The paths of the merchant's systems, each with the field that names the subject of a message.
const PATHS: [(Interface, &str); 2] = [(Interface::InventoryReceipt, "unit_identifier"), (Interface::Rma, "rma_identifier")];
/// The percentage of calls to the merchant's systems that fail.
const REFUSED: u8 = 10;
/// The timeout for the scanners after the last kill.
const SCANNED_WITHIN: Duration = Duration::from_mins(3);
/// The interval for checking their progress.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The timeout for the deliveries after that.
const DRAINED_WITHIN: Duration = Duration::from_mins(3);

/// The calls to the merchant's systems, each with its unit or its return.
type Arrivals = Arc<Mutex<Vec<(Arrival, String)>>>;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    let (lines, returns) = (plan.lines, returned::returns_of(plan));
    println!("Setting up: a temporary PostgreSQL, an ASN of {lines} lines, {returns} returns, {} scanners …", plan.scanners);
    let stage = Stage::set(program).await?;
    let (systems, arrivals) = (Merchant::start().await?, Arrivals::default());
    watch(&systems, &arrivals);
    let app = stage.app()?;
    prepare(&app, &stage, &systems).await?;
    app.cell().close().await;
    let mut service = stage.serve()?;
    service.ready().await?;
    let token = stage.tokens.get(MERCHANT).context("there is no such merchant")?.clone();
    let announced = scanner::announce(service.address, &token, plan.lines).await?;
    println!("ASN announced in {} ms", announced.as_millis());
    let returned = returned::units(&returned::start(service.address, &token, plan).await?);

    let (started, answers) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let scanners = scan(plan, &returned, service.address, &token, &answers);
    let slowest = kill(&stage, plan, &mut service, &answers).await?;
    end(scanners).await?;
    let scanned = started.elapsed();
    let mut connection = stage.connect().await?;
    let drained = owing::all_settled(&mut connection, DRAINED_WITHIN).await;
    service.leave().await?;

    let stored = Stored::read(&mut connection).await?;
    let history = History {
        lines: plan.lines,
        returned,
        answers: answers.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        arrivals: arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        stored,
    };
    let result = report(plan, &history, announced, scanned, slowest)?;
    drained?;
    Ok(result)
}

/// Runs the checker and builds the result. Fails if there are faults.
fn report(plan: &Plan, history: &History, announced: Duration, scanned: Duration, slowest: Duration) -> anyhow::Result<Value> {
    let findings = check(history);
    let (caught, seeded) = faults::seed(history, &mut StdRng::seed_from_u64(SEED));
    let count = |wrong: Wrong| findings.wrong.iter().filter(|(found, _)| *found == wrong).count();
    let for_returns = history.stored.receipts.iter().filter(|receipt| receipt.rma.is_some()).count();
    let result = json!({
        "chaos": "receiving", "lines": plan.lines, "scanners": plan.scanners, "kills": plan.kills, "announce_ms": announced.as_millis(),
        "seconds": scanned.as_secs(), "slowest_ready_ms": slowest.as_millis(), "answers": history.answers.len(),
        "received": history.stored.receipts.len(), "received_for_returns": for_returns, "messages": history.stored.messages.len(),
        "return_messages": history.stored.return_messages.len(), "exceptions": history.stored.exceptions.len(),
        "sent": history.arrivals.len(), "duplicates": findings.duplicates, "lost": count(Wrong::Lost), "doubled": count(Wrong::Doubled),
        "altered": count(Wrong::Altered), "miscounted": count(Wrong::Miscounted), "seeded_caught": caught, "seeded": seeded,
    });
    let some: Vec<_> = findings.wrong.iter().take(10).collect();
    ensure!(findings.wrong.is_empty(), "some units are faulty, such as {some:?}: {result}");
    ensure!(history.stored.receipts.len() == plan.lines + history.returned.len(), "not every unit was received: {result}");
    ensure!(for_returns == history.returned.len(), "units of returns were received against the ASN: {result}");
    ensure!(seeded > 0 && caught == seeded, "the checker missed a seeded fault: {result}");
    Ok(result)
}

/// Records the calls, and makes some of them fail.
fn watch(systems: &Merchant, arrivals: &Arrivals) {
    systems.keep_bodies(false);
    for (interface, name) in PATHS {
        let arrivals = Arc::clone(arrivals);
        systems.answer_by(interface.path(), move |received| {
            let (accepted, answer) = answer_by_chance(received, REFUSED);
            let id = received.message_id().and_then(|id| id.parse().ok()).unwrap_or_default();
            let subject = received.json().get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let arrival = Arrival { number: received.number(), id, digest: received.digest(), accepted };
            arrivals.lock().unwrap_or_else(PoisonError::into_inner).push((arrival, subject));
            answer
        });
    }
}

/// Sets up the merchant's endpoints, its warehouse and managed receiving.
async fn prepare(app: &App, stage: &Stage, systems: &Merchant) -> anyhow::Result<()> {
    let merchant = MerchantId(*stage.merchants.get(MERCHANT).context("there is no such merchant")?);
    for (interface, _) in PATHS {
        let change = EndpointChange {
            url: Some(systems.url(interface.path())),
            slots: Some(20),
            per_second: Some(100_000),
            waits: Some(vec![1, 1, 2, 3, 3]),
            ..EndpointChange::default()
        };
        set_endpoint(app, "proof", merchant, interface, change).await?;
    }
    set_policy(app, "proof", merchant, PolicyChange { managed_receiving: Some(true), ..PolicyChange::default() }).await?;
    let text = ToOwned::to_owned;
    let address = Address {
        name: text("Dock 4"),
        company: None,
        street: text("7 Dock Rd"),
        street2: None,
        city: text("Reno"),
        state: text("NV"),
        zip: text("89501"),
    };
    let change = WarehouseChange { name: Some(text("Reno")), address: Some(address), ..WarehouseChange::default() };
    set_warehouse(app, "proof", merchant, &WAREHOUSE.parse()?, change).await?;
    Ok(())
}

fn scan(
    plan: &Plan,
    returned: &[Returned],
    address: SocketAddr,
    token: &str,
    answers: &Arc<Mutex<Vec<Answer>>>,
) -> JoinSet<anyhow::Result<()>> {
    let mut scanners = JoinSet::new();
    for number in 0..plan.scanners {
        let scanner = Scanner::new(number, plan, returned, address, token, Arc::clone(answers));
        scanners.spawn(scanner.work());
    }
    scanners
}

async fn end(mut scanners: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    let all = async {
        while let Some(scanner) = scanners.join_next().await {
            scanner??;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(SCANNED_WITHIN, all).await.context("the scanners did not finish in time")?
}

/// Kills and restarts the service whenever another share of the units is answered. Returns the longest time until it was ready.
async fn kill(stage: &Stage, plan: &Plan, service: &mut Service, answers: &Mutex<Vec<Answer>>) -> anyhow::Result<Duration> {
    let (address, admin) = (service.address, service.admin);
    let answered = || answers.lock().unwrap_or_else(PoisonError::into_inner).len();
    let mut slowest = Duration::ZERO;
    for kill in 1..=plan.kills {
        while answered() < scanner::answers_of(plan) * kill / (plan.kills + 1) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        service.kill();
        *service = stage.serve_on(address, admin)?;
        slowest = slowest.max(service.ready().await?);
        println!("{kill} kills, {} units answered", answered());
    }
    Ok(slowest)
}
