//! `chaos-mails`: shoppers start returns and hand goods over, and each change owes them a mail, while the service is killed again and
//! again and the mail server refuses mails or hangs up without an answer. Every mail must arrive, and a repeat must be the same mail.
//!
//! - The checker (`history.rs`) compares the returns, the stored mails and those that arrived.

mod history;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backhaul::platform::clock::Clock;
use chrono::TimeDelta;
use sandbox::mailbox::{Answer, Mailbox};
use serde_json::Value;
use tokio::task::JoinSet;

use self::history::{Arrived, History, caught, check};
use super::carriers::{hurry, settle, start_return};
use crate::stage::{Stage, free};

/// The size of a run.
pub(crate) struct Plan {
    /// One return in three is handed over at once and owes two mails, the others one.
    pub(crate) returns: u64,
    pub(crate) kills: u32,
    /// The time between kills.
    pub(crate) every: Duration,
}

/// The answers of the mail server, again and again until the last kill. One in four mails is lost on the way back or refused.
const ANSWERS: [Answer; 8] =
    [Answer::Accept, Answer::Accept, Answer::Disconnect, Answer::Accept, Answer::Accept, Answer::TryLater, Answer::Accept, Answer::Accept];
/// The step of the sandbox's clock after each kill. It saves the wait for retries.
const STEP: TimeDelta = TimeDelta::minutes(1);

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, and a mail server that fails one mail in four …");
    let stage = Arc::new(Stage::set(program).await?);
    let (app, mailbox) = (stage.app()?, Mailbox::start().await?);
    let variables = [
        ("BACKHAUL__MAIL__URL", &*format!("{}?tls=none", mailbox.url())),
        ("BACKHAUL__MAIL__FROM", "returns@example.com"),
        ("BACKHAUL__PORTAL__URL", "https://returns.example.com"),
    ];
    let answers = ANSWERS.iter().copied().cycle().take(usize::try_from(plan.returns)? * 2);
    mailbox.answer_next(answers);
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
        println!("{kill} kills, {} mails arrived", mailbox.count());
    }
    while let Some(request) = requests.join_next().await {
        request??;
    }
    let mut connection = stage.connect().await?;
    settle(&app, &[], &mut connection).await?;
    service.leave().await?;
    let arrived = mailbox.received().iter().map(Arrived::of).collect();
    let history = History::read(&mut connection, arrived).await?;
    check(&history).result(&history, plan.kills, caught(&history), started.elapsed())
}
