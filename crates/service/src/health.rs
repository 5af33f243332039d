//! Whether everything is in order, and what to do where it is not.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use store::Failed;
use store::installation::Condition;

use crate::node::{Node, Phase};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it is in order.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Check {
    pub(crate) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, ok: true, found: found.into(), mend: None }
    }

    pub(crate) fn bad(name: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { name, ok: false, found: found.into(), mend: Some(mend.into()) }
    }
}

/// PostgreSQL 15, as PostgreSQL writes it.
const OLDEST: i32 = 150_000;
/// How far the process' clock may be from the database's.
const MOST_SKEW_MS: i64 = 500;

/// How often it is looked for the metrics.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Keeps the metric of readiness current, also while nobody asks.
pub async fn watch(node: Node) {
    loop {
        ready(&node).await;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Whether the process should be sent work, and what was looked at.
pub async fn ready(node: &Node) -> (bool, Vec<Check>) {
    let checks = examine(node).await;
    let ready = node.is_in(Phase::Serving) && checks.iter().all(|check| check.ok);
    node.metrics.ready.set(ready.into());
    (ready, checks)
}

/// Looks at everything that must be right before work is accepted.
pub async fn examine(node: &Node) -> Vec<Check> {
    // A clock that was moved on purpose is not wrong: the machines' are compared.
    let asked_at = node.clock.wall();
    let condition = match node.cell().condition().await {
        Ok(condition) => condition,
        Err(failed) => {
            return vec![Check::bad("database", failed.to_string(), "start PostgreSQL, or set DATABASE_URL to where it is")];
        }
    };
    let answered_at = node.clock.wall();
    let mut checks = vec![version(&condition), writable(&condition), careful(&condition)];
    if node.clock.is_the_machines() {
        checks.push(clock(&condition, asked_at, answered_at));
    }
    checks.push(mode(node).await);
    checks.push(schema(node).await);
    checks
}

fn version(condition: &Condition) -> Check {
    let found = format!("PostgreSQL {}", condition.version / 10_000);
    if condition.version >= OLDEST {
        Check::good("database", found)
    } else {
        Check::bad("database", found, "upgrade to PostgreSQL 15 or newer")
    }
}

fn writable(condition: &Condition) -> Check {
    if condition.writable {
        Check::good("writes", "accepted")
    } else {
        Check::bad("writes", "the database is read-only", "point DATABASE_URL to the primary, or promote the standby")
    }
}

fn careful(condition: &Condition) -> Check {
    if condition.careless.is_empty() {
        Check::good("durability", "a commit is on disk")
    } else {
        let off = condition.careless.join(", ");
        Check::bad("durability", format!("off: {off}"), "switch them on in postgresql.conf: without them an acknowledged order can be lost")
    }
}

/// The database read its clock at some time between question and answer; how long that took says nothing of the clocks.
fn clock(condition: &Condition, asked_at: DateTime<Utc>, answered_at: DateTime<Utc>) -> Check {
    let nearest = condition.now.clamp(asked_at, answered_at.max(asked_at));
    let skew = (condition.now - nearest).num_milliseconds();
    let found = format!("{skew} ms from the database's");
    if skew.abs() <= MOST_SKEW_MS {
        Check::good("clock", found)
    } else {
        Check::bad("clock", found, "synchronise both machines' clocks (NTP)")
    }
}

async fn mode(node: &Node) -> Check {
    let wanted = node.settings.mode;
    match node.cell().mode().await {
        Ok(Some(mode)) if mode == wanted => Check::good("mode", mode.as_str()),
        Ok(Some(mode)) => Check::bad(
            "mode",
            format!("the database is a {mode} installation, the settings say {wanted}"),
            format!("set mode = \"{mode}\" (BACKHAUL__MODE={mode}), or use another database"),
        ),
        Ok(None) => Check::bad("mode", "the database is empty", "run `backhaul migrate`"),
        Err(failed) => unreadable("mode", &failed),
    }
}

async fn schema(node: &Node) -> Check {
    match node.cell().pending_migrations().await {
        Ok(0) => Check::good("schema", "up to date"),
        Ok(pending) => Check::bad("schema", format!("{pending} migrations behind"), "run `backhaul migrate`"),
        Err(failed) => unreadable("schema", &failed),
    }
}

fn unreadable(name: &'static str, failed: &Failed) -> Check {
    Check::bad(name, failed.to_string(), "see the database's log")
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_clock_may_be_half_a_second_from_the_databases() {
        let asked_at: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let millis = TimeDelta::milliseconds;
        for (database, took, skew) in
            [(0, 0, 0), (500, 0, 500), (501, 0, 501), (-500, 0, -500), (-501, 0, -501), (900, 900, 0), (1_401, 900, 501)]
        {
            let condition = Condition { version: OLDEST, writable: true, careless: Vec::new(), now: asked_at + millis(database) };
            let check = clock(&condition, asked_at, asked_at + millis(took));
            assert_eq!((check.found, check.ok), (format!("{skew} ms from the database's"), i64::abs(skew) <= 500), "{database} {took}");
        }
    }
}
