//! A database whose commits wait for a standby.

use std::time::Duration;

use sandbox::postgres::Cluster;
use tokio::time::timeout;

use crate::world::{World, message, order};

/// A server of its own, whose commits can be told to wait for a standby that does not exist.
struct Primary {
    cluster: Cluster,
}

impl Primary {
    fn start(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("backhaul-{name}-{}", std::process::id()));
        Self { cluster: Cluster::start(&dir).unwrap() }
    }

    /// Lets commits wait for this standby; for none if it is empty.
    async fn waits_for(&self, world: &World, standby: &str) {
        let mut connection = world.database.connect_elsewhere().await;
        for statement in [format!("alter system set synchronous_standby_names = '{standby}'"), "select pg_reload_conf()".to_owned()] {
            sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        }
        let setting: &[&str] = if standby.is_empty() { &[] } else { &["yes"] };
        world.database.becomes("select 'yes' where current_setting('synchronous_standby_names') <> ''", setting).await;
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        let _ = self.cluster.stop();
    }
}

/// The connections whose commit waits for a standby.
const WAITING: &str = "select application_name from pg_stat_activity where wait_event = 'SyncRep'";

/// Cancels the wait, as an administrator could.
async fn cancel_the_wait(world: &World) {
    world.database.becomes(WAITING, &["backhaul"]).await;
    let cancelled = "select pg_cancel_backend(pid)::text from pg_stat_activity where wait_event = 'SyncRep'";
    assert_eq!(world.database.texts(cancelled).await, ["true"]);
}

#[tokio::test]
async fn a_commit_whose_wait_for_a_standby_is_cancelled_is_no_success() {
    let primary = Primary::start("cancelled");
    let world = World::on_a_server(&primary.cluster, &[]).await;
    let merchant = world.merchant("acme").await;
    let receiver = world.receiver("other").await;
    primary.waits_for(&world, "nobody").await;

    let order = message([order("1")]);
    let (reply, ()) = tokio::join!(merchant.publishes(&order), cancel_the_wait(&world));
    assert_eq!(reply.status, 503, "{}", reply.text);

    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    world.write(&mut tx, "R-1", 1).await;
    let (committed, ()) = tokio::join!(world.app.commit(tx), cancel_the_wait(&world));
    let failed = committed.expect_err("no standby has it");
    assert_eq!(failed.to_string(), "the database is unreachable: a commit was not confirmed by a standby");

    primary.waits_for(&world, "").await;
    assert_eq!(merchant.publishes(&order).await.results(), ["unchanged"], "its repeat is harmless");
}

#[tokio::test]
async fn without_a_standby_everything_is_answered_with_503_in_time() {
    let primary = Primary::start("lonely");
    let limits = [
        ("BACKHAUL__DATABASE__ACQUIRE_TIMEOUT_MS", "600"),
        ("BACKHAUL__DATABASE__STATEMENT_TIMEOUT_MS", "1000"),
        ("BACKHAUL__DATABASE__CONNECTIONS", "10"),
    ];
    let world = World::on_a_server(&primary.cluster, &limits).await;
    let merchant = world.merchant("acme").await;
    primary.waits_for(&world, "nobody").await;
    let messages: Vec<_> = (0..40).map(|at| message([order(&format!("O-{at}"))])).collect();
    let publishing = futures::future::join_all(messages.iter().map(|message| merchant.publishes(message)));
    // As with the default limits, but three times as fast: within 6 seconds there.
    let replies = timeout(Duration::from_secs(2), publishing).await.expect("every answer in time");
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses, [503; 40], "nothing that could be lost is acknowledged");

    primary.waits_for(&world, "").await;
    for message in &messages {
        assert_eq!(merchant.publishes(message).await.status, 200);
    }
    assert_eq!(world.database.count("customer_order").await, 40);
}
