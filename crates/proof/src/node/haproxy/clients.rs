//! The clients: programs that others' systems call with. They keep their connections open, and try no request twice.

use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::orders::order;
use crate::stage::Stage;

/// The longest wait for a client to end: its patience with one request, and some.
const PATIENCE: Duration = Duration::from_mins(1);

/// A kind of client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Python,
    Node,
    Curl,
}

impl Client {
    pub(super) const ALL: [Self; 3] = [Self::Python, Self::Node, Self::Curl];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Curl => "curl",
        }
    }

    /// The command that runs its script.
    fn command(self) -> Command {
        let (program, arguments, script): (_, &[&str], _) = match self {
            Self::Python => ("python3", &["-c"], include_str!("clients/python.py")),
            Self::Node => ("node", &["--input-type=module", "-e"], include_str!("clients/node.mjs")),
            Self::Curl => ("bash", &["-c"], include_str!("clients/curl.sh")),
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(script);
        command
    }
}

/// The requests of a client.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Count {
    pub(super) requests: u64,
    /// The connections that it opened, as far as it knows: not those of Node's `fetch`.
    pub(super) connections: u64,
    pub(super) failed: u64,
    /// The first failure.
    pub(super) first: Option<String>,
}

/// A running client; killed when dropped.
struct Running {
    client: Client,
    child: Child,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The running clients.
pub(super) struct Clients {
    running: Vec<Running>,
    /// They end when this file exists.
    stop: PathBuf,
}

impl Clients {
    /// Starts every client against the service at `address`, each as another merchant. Their files are in `dir`.
    pub(super) fn start(dir: &Path, address: SocketAddr, stage: &Stage) -> anyhow::Result<Self> {
        let mut clients = Self { running: Vec::new(), stop: dir.join("stop") };
        for (number, client) in (0..).zip(Client::ALL) {
            let order = order::text(number, 1);
            let about: Value = serde_json::from_str(&order)?;
            let identifier = about.get("identifier").and_then(Value::as_str).context("the order has no identifier")?;
            let body = dir.join(format!("{}.json", client.as_str()));
            fs::write(&body, format!(r#"{{"returns_portal_order":{{"orders":[{order}]}}}}"#))?;
            let mut command = client.command();
            command.env("BASE", format!("http://{address}")).env("TOKEN", stage.token(number));
            command.env("WRITE", "/returns_portal_orders").env("READ", format!("/v1/orders/{identifier}"));
            command.env("BODY", &body).env("STOP", &clients.stop);
            let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
            let child = child.with_context(|| format!("the client {} could not be started; run `make setup`", client.as_str()))?;
            clients.running.push(Running { client, child });
        }
        Ok(clients)
    }

    /// Ends the clients, and returns what they counted.
    pub(super) async fn stop(mut self) -> anyhow::Result<Vec<(Client, Count)>> {
        fs::write(&self.stop, "")?;
        let mut counts = Vec::new();
        for running in &mut self.running {
            counts.push((running.client, count(running).await?));
        }
        Ok(counts)
    }
}

/// Waits for the end of a client, and reads what it counted.
async fn count(Running { client, child }: &mut Running) -> anyhow::Result<Count> {
    let (started, name) = (Instant::now(), client.as_str());
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => bail!("the client {name} did not end"),
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    ensure!(status.success(), "the client {name} failed: {status}");
    let mut text = String::new();
    child.stdout.take().context("the client has no output")?.read_to_string(&mut text)?;
    serde_json::from_str(&text).with_context(|| format!("the client {name} counted nothing: {text}"))
}
