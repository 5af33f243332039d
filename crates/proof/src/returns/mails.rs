//! `chaos-mails`: shoppers start returns and hand goods over, and each change owes them a mail, while the service is killed again and
//! again and the mail server refuses mails or hangs up without an answer. Every mail must arrive, and a repeat must be the same mail.
//!
//! - The mail server fails on purpose, or is a real Postfix (`postfix.rs`).
//! - The checker (`history.rs`) compares the returns, the stored mails and those that arrived.

mod history;
mod postfix;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backhaul::platform::clock::Clock;
use chrono::TimeDelta;
use sandbox::mailbox::{Answer, Mailbox};
use serde_json::Value;
use tokio::task::JoinSet;

use self::history::{Arrived, History, caught, check};
use self::postfix::Postfix;
use super::carriers::{hurry, settle, start_return};
use crate::stage::{Stage, free};

/// The size of a run.
pub(crate) struct Plan {
    /// One return in three is handed over at once and owes two mails, the others one.
    pub(crate) returns: u64,
    pub(crate) kills: u32,
    /// The time between kills.
    pub(crate) every: Duration,
    /// Send through Postfix.
    pub(crate) postfix: bool,
}

/// The mail server of a run.
enum Server {
    Failing(Mailbox),
    Postfix(Postfix),
}

impl Server {
    async fn start(plan: &Plan) -> anyhow::Result<Self> {
        if plan.postfix {
            return Ok(Self::Postfix(Postfix::start()?));
        }
        let mailbox = Mailbox::start().await?;
        mailbox.answer_next(ANSWERS.iter().copied().cycle().take(usize::try_from(plan.returns)? * 2));
        Ok(Self::Failing(mailbox))
    }

    /// The setting `mail.url`.
    fn url(&self) -> String {
        match self {
            Self::Failing(mailbox) => format!("{}?tls=none", mailbox.url()),
            Self::Postfix(postfix) => postfix.url(),
        }
    }

    fn arrived(&self) -> anyhow::Result<Vec<Arrived>> {
        match self {
            Self::Failing(mailbox) => Ok(mailbox.received().iter().map(Arrived::of).collect()),
            Self::Postfix(postfix) => postfix.received(),
        }
    }
}

/// The answers of the mail server, again and again until the last kill. One in four mails is lost on the way back or refused.
const ANSWERS: [Answer; 8] =
    [Answer::Accept, Answer::Accept, Answer::Disconnect, Answer::Accept, Answer::Accept, Answer::TryLater, Answer::Accept, Answer::Accept];
/// The step of the sandbox's clock after each kill. It saves the wait for retries.
const STEP: TimeDelta = TimeDelta::minutes(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, and a mail server …");
    let stage = Arc::new(Stage::set(program).await?);
    let (app, server) = (stage.app()?, Server::start(plan).await?);
    let variables = [
        ("BACKHAUL__MAIL__URL", &*server.url()),
        ("BACKHAUL__MAIL__FROM", "returns@example.com"),
        ("BACKHAUL__PORTAL__URL", "https://returns.example.com"),
    ];
    let (address, admin) = (free()?, free()?);
    let mut service = stage.serve_with(address, admin, &variables)?;
    service.ready().await?;
    let started = Instant::now();

    println!("Starting {} returns, with {} kills of the service …", plan.returns, plan.kills);
    let (mut requests, began) = (JoinSet::new(), Clock::system().now());
    for number in 0..plan.returns {
        let pause = plan.every * plan.kills * u32::try_from(number)? / u32::try_from(plan.returns)?;
        requests.spawn(start_return(Arc::clone(&stage), address, number, pause, began));
    }
    for kill in 1..=plan.kills {
        tokio::time::sleep(plan.every).await;
        service.kill();
        service = stage.serve_with(address, admin, &variables)?;
        service.ready().await?;
        hurry(&app, STEP).await?;
        println!("{kill} kills, {} mails arrived", server.arrived()?.len());
    }
    while let Some(request) = requests.join_next().await {
        request??;
    }
    let mut connection = stage.connect().await?;
    settle(&app, &[], &mut connection).await?;
    service.leave().await?;
    let history = History::read(&mut connection, server.arrived()?).await?;
    check(&history).result(&history, (plan.kills, plan.postfix), caught(&history), started.elapsed())
}
