//! Health checks: each says what was found, and how to fix it if it is wrong.

use std::time::Duration;

use chrono::TimeDelta;
use futures::future::join_all;
use serde::Serialize;
use store::Failed;
use store::node::installation::Condition;
use store::node::keys as installation_keys;
use tokio::time::timeout;

use crate::node::cell::Cell;
use crate::node::{Node, Phase, keys, skew};
use crate::platform::config::Durability;
use crate::platform::keys::Kind;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    /// The cell that was checked, if it is not the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    pub ok: bool,
    pub found: String,
    /// The way to fix it; none if the check passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Check {
    pub(crate) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, cell: None, ok: true, found: found.into(), mend: None }
    }

    pub(crate) fn bad(name: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { name, cell: None, ok: false, found: found.into(), mend: Some(mend.into()) }
    }

    /// This check as one of a cell.
    pub(crate) fn of(self, cell: &Cell) -> Self {
        Self { cell: cell.label().map(str::to_owned), ..self }
    }
}

/// The oldest supported version, PostgreSQL 15, in the format of `server_version_num`.
const OLDEST: i32 = 150_000;

/// The interval at which the metric of readiness is updated.
const UPDATE_INTERVAL: Duration = Duration::from_secs(10);

/// The time in which a database that cannot be used says why.
const REFUSAL_WITHIN: Duration = Duration::from_secs(1);

/// Keeps the metric of readiness current, even if the health page is never requested.
pub async fn watch(node: Node) {
    loop {
        ready(&node).await;
        tokio::time::sleep(UPDATE_INTERVAL).await;
    }
}

/// Runs the checks. The process is ready if it serves and all of them passed.
pub async fn ready(node: &Node) -> (bool, Vec<Check>) {
    let checks = examine_all(node).await;
    let ready = node.is_in(Phase::Serving) && checks.iter().all(|check| check.ok);
    node.metrics.ready.set(ready.into());
    (ready, checks)
}

/// Checks all cells of this process, at the same time.
pub async fn examine_all(node: &Node) -> Vec<Check> {
    let nodes = node.of_each_cell();
    let examined = join_all(nodes.iter().map(examine)).await;
    examined.into_iter().zip(&nodes).flat_map(|(checks, node)| checks.into_iter().map(|check| check.of(node.place()))).collect()
}

/// Checks everything that must be right in a node's cell before the service accepts work.
pub async fn examine(node: &Node) -> Vec<Check> {
    // Compare the machines' clocks: a sandbox's clock may be ahead on purpose.
    let asked_at = node.clock.wall();
    let condition = match node.cell().condition().await {
        Ok(condition) => condition,
        Err(failed) => {
            // A database that answers with a refusal answers soon.
            let refusal = timeout(REFUSAL_WITHIN, node.cell().reach()).await.ok().and_then(Result::err);
            return vec![unusable(&refusal.unwrap_or(failed))];
        }
    };
    let answered_at = node.clock.wall();
    let mut checks = vec![version(&condition), writable(&condition), durability(&condition, node.settings.database.durability)];
    checks.extend(skew::measure(node, asked_at, condition.now, answered_at).map(clock));
    checks.push(mode(node).await);
    let schema = schema(node).await;
    let has_keys = schema.ok;
    checks.push(schema);
    if has_keys && node.place().is_home() {
        checks.push(used_keys(node).await);
    }
    checks
}

/// The check of a database that cannot be used. Many reasons come with their own way out.
fn unusable(failed: &Failed) -> Check {
    let text = failed.to_string();
    let (found, mend) = text.split_once("; ").unwrap_or((text.as_str(), "start PostgreSQL, or correct DATABASE_URL"));
    Check::bad("database", found, mend)
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
        Check::bad("writes", "the database is read-only", "set DATABASE_URL to the primary, or promote the standby")
    }
}

/// Checks that a commit is durable. `fsync` and `full_page_writes` may be the affair of the database's provider.
fn durability(condition: &Condition, durability: Durability) -> Check {
    let checked: &[&str] = match durability {
        Durability::Checked => &["fsync", "full_page_writes", "synchronous_commit"],
        Durability::Provider => &["synchronous_commit"],
    };
    let off: Vec<&str> = condition.careless.iter().map(String::as_str).filter(|setting| checked.contains(setting)).collect();
    if off.is_empty() {
        let found = match durability {
            Durability::Checked => "commits are written to disk",
            Durability::Provider => "commits are written to the provider's storage",
        };
        Check::good("durability", found)
    } else {
        let off = off.join(", ");
        Check::bad("durability", format!("off: {off}"), "turn them on in postgresql.conf: without them, an acknowledged order can be lost")
    }
}

fn clock(skew: TimeDelta) -> Check {
    let found = format!("{} ms from the database's clock", skew.num_milliseconds());
    if skew.abs() <= skew::MOST {
        Check::good("clock", found)
    } else {
        let mend = "synchronise both machines' clocks (NTP); until then this process delivers nothing and runs no timers";
        Check::bad("clock", found, mend)
    }
}

async fn mode(node: &Node) -> Check {
    let expected = node.settings.mode;
    match node.cell().mode().await {
        Ok(Some(mode)) if mode == expected => Check::good("mode", mode.as_str()),
        Ok(Some(mode)) => Check::bad(
            "mode",
            format!("the database is a {mode} installation, but the settings say {expected}"),
            format!("set mode = \"{mode}\" (BACKHAUL__MODE={mode}), or use another database"),
        ),
        Ok(None) => Check::bad("mode", "the database has no schema yet", "run `backhaul migrate`"),
        Err(failed) => unreadable("mode", &failed),
    }
}

/// Checks that the keys are those that were used before.
async fn used_keys(node: &Node) -> Check {
    const NAME: &str = "keys";
    match installation_keys::list(node.home()).await {
        Ok(used) => match keys::compare(&node.keys.known(), &used).as_slice() {
            [] => {
                let active = Kind::ALL.map(|kind| format!("{} `{}`", kind.as_str(), node.keys.active(kind)));
                Check::good(NAME, active.join(", "))
            }
            wrong => Check::bad(NAME, wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), keys::MEND),
        },
        Err(failed) => unreadable(NAME, &failed),
    }
}

async fn schema(node: &Node) -> Check {
    match node.cell().pending_migrations().await {
        Ok(0) => Check::good("schema", "up to date"),
        Ok(1) => Check::bad("schema", "1 migration behind", "run `backhaul migrate`"),
        Ok(pending) => Check::bad("schema", format!("{pending} migrations behind"), "run `backhaul migrate`"),
        Err(failed) => unreadable("schema", &failed),
    }
}

fn unreadable(name: &'static str, failed: &Failed) -> Check {
    Check::bad(name, failed.to_string(), "look at the database's log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_answers_for_its_storage_but_not_for_commits_that_do_not_wait() {
        let condition = |careless: &str| Condition {
            version: OLDEST,
            writable: true,
            careless: vec![careless.to_owned()],
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
        };
        for (careless, by_provider) in [("fsync", true), ("full_page_writes", true), ("synchronous_commit", false)] {
            assert!(!durability(&condition(careless), Durability::Checked).ok, "{careless}");
            assert_eq!(durability(&condition(careless), Durability::Provider).ok, by_provider, "{careless}");
        }
    }

    #[test]
    fn clocks_may_differ_by_half_a_second() {
        for (skew, ok) in [(0, true), (500, true), (501, false), (-500, true), (-501, false)] {
            let check = clock(TimeDelta::milliseconds(skew));
            assert_eq!((check.found, check.ok), (format!("{skew} ms from the database's clock"), ok));
        }
    }
}
