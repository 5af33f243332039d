//! `bench-retry`: an endpoint's live messages while all its failed messages are retried.
//!
//! An endpoint has a large failure queue. Its live messages flow steadily, and their time from commit to receipt is measured
//! before, during and after a job that retries everything. While the job runs, the deliverer is killed: no message may be
//! lost, and only those in flight at that moment may be sent twice.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use domain::messages::message::{Interface, Kind};
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::owing::{self, Receiver, Target};
use crate::meter::{percentile, round};
use crate::stage::Stage;

/// The size of the measurements.
pub(crate) struct Plan {
    /// Messages in the failure queue.
    pub(crate) failed: usize,
    /// The length of each measurement.
    pub(crate) duration: Duration,
    /// Retries per second.
    pub(crate) per_second: i32,
}

/// Live messages per second.
const LIVE_PER_S: u32 = 20;
/// Concurrent calls to the endpoint.
const SLOTS: i32 = 200;
/// The warm-up time.
const WARM: Duration = Duration::from_secs(2);
/// The timeout of the job.
const WITHIN: Duration = Duration::from_mins(10);
/// The bar: the highest acceptable ratio of p99 during the job to p99 without it.
const BAR: f64 = 1.5;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, an endpoint with {} failed messages …", plan.failed);
    let stage = Stage::set(program).await?;
    let (app, receiver) = (stage.app()?, Receiver::start().await?);
    let change = EndpointChange { slots: Some(SLOTS), per_second: Some(10_000), ..EndpointChange::default() };
    let target = Target::set(&app, &stage, 0, &receiver.systems, change).await?;
    let mut connection = stage.connect().await?;
    owing::clear(&stage).await?;
    fail(&mut connection, &target, plan.failed).await?;
    let mut deliverer = owing::deliver(&stage).await?;
    let forwarder = tokio::spawn(backhaul::delivery::forward_signals(app.clone()));

    let mut without = live(&app, &receiver, &target, plan.duration, "before").await?;
    let wanted = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(plan.per_second) };
    let started = Instant::now();
    let (job, total) = retry_failures(&app, "proof", target.merchant, wanted).await?;
    ensure!(usize::try_from(total)? == plan.failed, "the job has {total} messages instead of {}", plan.failed);
    // A deliverer finds the job within a few seconds.
    while released(&mut connection, job).await?.0 == 0 {
        ensure!(started.elapsed() < WITHIN, "the job has not released any message");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let with = live(&app, &receiver, &target, plan.duration, "during").await?;
    let (by_then, ended) = released(&mut connection, job).await?;
    ensure!(!ended, "the job ended before the measurement: give it more messages or a lower rate");
    println!("Killing the deliverer after {by_then} of {total} …");
    deliverer.kill();
    deliverer = stage.deliver()?;
    while !released(&mut connection, job).await?.1 {
        if started.elapsed() > WITHIN {
            bail!("the job has not ended after {} s", WITHIN.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    owing::all_settled(&mut connection, WITHIN).await?;
    let took = started.elapsed().as_secs_f64();
    without.extend(live(&app, &receiver, &target, plan.duration, "after").await?);
    without.sort_unstable();
    owing::all_settled(&mut connection, WITHIN).await?;
    deliverer.leave().await?;
    forwarder.abort();
    app.cell().close().await;

    let lost: i64 = sqlx::query_scalar("select count(*) from failure where state <> 'resolved'").fetch_one(&mut connection).await?;
    let repeated = receiver.repeated();
    let (alone, beside) = (percentile(&without, 0.99), percentile(&with, 0.99));
    let ratio = beside / alone;
    println!("live messages   p99 {alone:.2} ms alone, {beside:.2} ms while the job runs");
    println!("p99_ratio        {ratio:>6.3}   bar {BAR}   {}", if ratio <= BAR { "met" } else { "MISSED" });
    let result = json!({
        "bench": "retry", "failed": plan.failed, "live_per_s": LIVE_PER_S, "per_second": plan.per_second, "job_s": round(took, 1),
        "released_before_kill": by_then, "p50_ms": round(percentile(&without, 0.5), 2), "p50_beside_ms": round(percentile(&with, 0.5), 2),
        "p99_ms": round(alone, 2), "p99_beside_ms": round(beside, 2), "p99_ratio": round(ratio, 3), "lost": lost, "repeated": repeated,
        "repeated_allowed": SLOTS,
    });
    ensure!(lost == 0, "messages were lost: {result}");
    ensure!(repeated <= usize::try_from(SLOTS)?, "more messages were sent twice than were in flight: {result}");
    Ok(result)
}

/// Sends live messages for a while. Returns their sorted latencies.
async fn live(app: &App, receiver: &Receiver, target: &Target, duration: Duration, prefix: &str) -> anyhow::Result<Vec<u32>> {
    owing::owe_steadily(app, std::slice::from_ref(target), LIVE_PER_S, WARM, &format!("warm-{prefix}")).await?;
    let committed = owing::owe_steadily(app, std::slice::from_ref(target), LIVE_PER_S, duration, prefix).await?;
    // Messages still on their way either arrive now or count as late.
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(receiver.latencies(&committed))
}

/// The number of messages a job has released, and whether it has ended.
async fn released(connection: &mut PgConnection, job: Uuid) -> anyhow::Result<(i64, bool)> {
    Ok(sqlx::query_as("select released, ended_at is not null from retry_job where job_id = $1").bind(job).fetch_one(connection).await?)
}

/// Writes failed messages in one statement.
async fn fail(connection: &mut PgConnection, target: &Target, count: usize) -> anyhow::Result<()> {
    sqlx::query(
        "with failed as materialized (
             select n, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7'
                 || overlay(left(md5(random()::text || n), 19) placing '8' from 4 for 1))::uuid as id
             from generate_series(0, $3 - 1) as n
         ),
         taken as (
             update feed_counter set last = last + $3, last_message = (select id from failed where n = $3 - 1)
             where merchant_id = $1 and $3 > 0
             returning last - $3 as before
         ),
         written as (
             insert into message (merchant_id, message_id, sequence, kind, event, subject, body, position)
             select $1, id, 1, 'rma', 'rma.updated', 'F-' || n, $4, before + n + 1 from failed, taken
         )
         insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
         select $1, id, $2, 1, now() - interval '1 hour' + n * interval '1 microsecond', 6, 'rma', 'rma.updated', 'F-' || n, '503', 'open', $4
         from failed",
    )
    .bind(target.merchant.0)
    .bind(target.endpoint.0)
    .bind(i64::try_from(count)?)
    .bind(owing::body("F-0", 1))
    .execute(&mut *connection)
    .await?;
    sqlx::raw_sql("vacuum analyze message, failure").execute(connection).await?;
    Ok(())
}
