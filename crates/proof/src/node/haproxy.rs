//! `rolling-haproxy`: two nodes behind a real HAProxy are restarted in turn while clients in Python, Node and curl call. No request
//! may fail.

mod clients;
mod proxy;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use self::clients::{Client, Clients};
use self::proxy::Proxy;
use crate::meter::round;
use crate::stage::{Stage, free};

/// The number of restarts.
pub(crate) struct Plan {
    pub(crate) restarts: usize,
}

/// The time between the notice of a node and its end, in which HAProxy asks at least five times; and HAProxy as a proxy that is trusted.
const SETTINGS: [(&str, &str); 2] =
    [("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "3000"), ("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)];

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, 100 merchants, and two nodes behind HAProxy …");
    let stage = Stage::set(program).await?;
    let mut nodes = [stage.serve_with(free()?, free()?, &SETTINGS)?, stage.serve_with(free()?, free()?, &SETTINGS)?];
    for node in &nodes {
        node.ready().await?;
    }
    let files = Files::make()?;
    let proxy = Proxy::start(&files.dir, nodes.each_ref().map(|node| (node.address, node.admin)))?;
    proxy.knows_all().await?;

    let started = Instant::now();
    let clients = Clients::start(&files.dir, proxy.address, &stage)?;
    for restart in 0..plan.restarts {
        if let Some(node) = nodes.get_mut(restart % 2) {
            node.leave().await?;
            *node = stage.serve_with(node.address, node.admin, &SETTINGS)?;
            node.ready().await?;
        }
        proxy.knows_all().await?;
        if (restart + 1) % 10 == 0 {
            println!("{} restarts after {:.0} s", restart + 1, started.elapsed().as_secs_f64());
        }
    }
    let counts = clients.stop().await?;
    let sum = |of: fn(&clients::Count) -> u64| counts.iter().map(|(_, count)| of(count)).sum::<u64>();
    let (requests, failed) = (sum(|count| count.requests), sum(|count| count.failed));
    let by_client: Value = counts.iter().map(|(client, count)| (client.as_str().to_owned(), json!(count))).collect();
    let result = json!({
        "proof": "rolling-haproxy", "restarts": plan.restarts, "requests": requests, "failed": failed,
        "seconds": round(started.elapsed().as_secs_f64(), 1), "clients": by_client,
    });
    let all_called = Client::ALL.iter().all(|client| counts.iter().any(|(other, count)| other == client && count.requests > 0));
    ensure!(failed == 0, "callers noticed a restart: {result}");
    ensure!(all_called, "not every client called: {result}");
    Ok(result)
}

/// The directory of HAProxy's and the clients' files; removed when dropped.
struct Files {
    dir: PathBuf,
}

impl Files {
    fn make() -> anyhow::Result<Self> {
        let dir = std::env::temp_dir().join(format!("backhaul-haproxy-{}", std::process::id()));
        fs::create_dir(&dir).with_context(|| format!("{} could not be made", dir.display()))?;
        Ok(Self { dir })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            eprintln!("{} could not be removed: {error}", self.dir.display());
        }
    }
}
