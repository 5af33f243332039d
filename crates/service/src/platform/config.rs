//! The settings: built-in defaults, overridden by the operator's file, overridden by the environment.

mod address;
mod admin;
mod allowed;
mod cells;
mod console;
mod database;
mod mail;
mod no_settings;
mod notices;
mod outbound;
mod portal;
mod tls;
mod traces;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use domain::node::mode::Mode;
use ipnet::IpNet;
use secrecy::SecretString;
use serde::Deserialize;
use store::PoolLimits;
use toml::{Table, Value};

pub use self::allowed::{Allowed, NoAllowed, What, is_localhost, is_name};
pub use self::cells::{CellAddress, CellSettings, HOME};
pub use self::console::Console;
pub use self::database::{Database, Durability};
pub use self::mail::Mail;
pub use self::no_settings::NoSettings;
pub use self::notices::Notices;
pub use self::outbound::Outbound;
pub use self::portal::Portal;
pub use self::tls::{PairFiles, Tls};
pub use self::traces::Traces;
use crate::platform::keys::source::Source;
use crate::platform::networks::Network;

/// The defaults: a TOML document with every setting and an explanation.
pub const DEFAULTS: &str = include_str!("../../../../config.default.toml");

/// The prefix of environment variables that are settings.
const PREFIX: &str = "BACKHAUL__";

/// All settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(deserialize_with = "mode")]
    pub mode: Mode,
    pub database: Database,
    /// The cells besides the first one.
    pub cells: Vec<CellSettings>,
    pub http: Http,
    pub limits: Limits,
    pub intake: Intake,
    pub imports: Imports,
    pub events: Events,
    pub outbound: Outbound,
    pub mail: Mail,
    pub notices: Notices,
    pub portal: Portal,
    pub console: Console,
    pub tls: Tls,
    pub log: Log,
    pub traces: Traces,
    pub keys: Keys,
}

/// The HTTP listeners.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The address of the public listener.
    pub listen: String,
    /// The address of the listener for metrics and health.
    pub admin_listen: String,
    admin_token: SecretString,
    admin_token_file: String,
    admin_certificate: String,
    admin_private_key: String,
    /// The most open connections on the listener for metrics and health.
    pub admin_connections: usize,
    /// A proxy in front of the public listener terminates TLS.
    pub behind_tls_proxy: bool,
    /// Proxies that are trusted to report the client's address.
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// The most open connections on the public listener.
    pub connections: usize,
    /// The most open connections from one address.
    pub connections_per_address: usize,
    /// The most requests that a node works on at a time.
    pub requests_in_flight: NonZeroU32,
    body_memory_mb: NonZeroU32,
    handshake_timeout_ms: u64,
    head_timeout_ms: u64,
    body_timeout_ms: u64,
    write_timeout_ms: u64,
    idle_timeout_ms: u64,
    leave_notice_ms: u64,
    drain_timeout_ms: u64,
}

/// The rate limits for callers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most requests per minute from one address; 0 means the mode's default.
    pub requests_per_minute: u32,
}

/// The intake of orders.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intake {
    /// The most order messages that a node processes concurrently.
    pub messages_in_flight: NonZeroU32,
    /// The most batches of orders written concurrently.
    pub writers: NonZeroUsize,
}

/// The imports of order history.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imports {
    /// The most imports that a node runs for callers at a time.
    pub at_a_time: NonZeroU32,
    /// The share of the time in which an import may write.
    percent: NonZeroU32,
}

/// The live event feed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The most open live feeds per node.
    pub followers: u32,
    /// The most open live feeds per merchant on a node.
    pub followers_per_merchant: u32,
    heartbeat_ms: u64,
}

/// The log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    pub level: String,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Human-readable lines.
    Text,
}

/// The keys, which are never stored in the database.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    fingerprint: SecretString,
    fingerprint_file: String,
    fingerprint_command: Vec<String>,
    sealing: SecretString,
    sealing_file: String,
    sealing_command: Vec<String>,
}

impl Keys {
    /// The sources of the keys for shoppers' fingerprints.
    #[must_use]
    pub fn fingerprint(&self) -> Source<'_> {
        Source { value: &self.fingerprint, file: &self.fingerprint_file, command: &self.fingerprint_command }
    }

    /// The sources of the keys that seal secrets.
    #[must_use]
    pub fn sealing(&self) -> Source<'_> {
        Source { value: &self.sealing, file: &self.sealing_file, command: &self.sealing_command }
    }
}

fn mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// Reads networks such as `10.0.0.0/8`; a single address is a network of its own.
fn networks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let read = |text: String| text.parse().map(|Network(network)| network).map_err(serde::de::Error::custom);
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}

impl Settings {
    /// Loads the defaults, then `file`, then the environment's `variables`; later ones win.
    pub fn load(file: Option<&Path>, variables: impl Iterator<Item = (String, String)>) -> Result<Self, NoSettings> {
        let settings: Self = layered(file, variables)?.try_into().map_err(|error: toml::de::Error| wrong(&error))?;
        cells::check(&settings.database, &settings.cells)?;
        settings.portal.check(settings.mode, &settings.tls).map_err(NoSettings::Wrong)?;
        settings.tls.check(settings.portal.listen().is_none()).map_err(NoSettings::Wrong)?;
        settings.console.check(settings.mode, settings.http.behind_tls_proxy, &settings.tls).map_err(NoSettings::Wrong)?;
        Ok(settings)
    }

    /// The addresses of all cells, the first one first.
    pub fn cell_addresses(&self) -> Result<Vec<CellAddress>, NoSettings> {
        cells::addresses(&self.database, &self.cells)
    }

    /// The limits of the connection pools of one cell. All cells share the connections of the process.
    #[must_use]
    pub fn pool_limits(&self) -> PoolLimits {
        cells::pool_limits(&self.database, self.console.connections, &self.cells)
    }

    /// The most connections with which imports write in a cell: a quarter of those for requests.
    #[must_use]
    pub fn import_writers(&self) -> usize {
        usize::try_from(self.pool_limits().sizes.flows / 4).unwrap_or_default().max(1)
    }
}

impl Imports {
    /// The time for which a connection rests after an import has written with it for `took`.
    #[must_use]
    pub fn rest_after(&self, took: Duration) -> Duration {
        let percent = self.percent.get().min(100);
        took * (100 - percent) / percent
    }
}

impl Events {
    /// The interval of heartbeats on an idle live feed.
    #[must_use]
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms)
    }
}

impl Http {
    /// The most bytes that request bodies may take in memory.
    #[must_use]
    pub fn body_memory(&self) -> u64 {
        u64::from(self.body_memory_mb.get()) * 1024 * 1024
    }

    /// The client's time limit for the TLS handshake.
    #[must_use]
    pub fn handshake_timeout(&self) -> Duration {
        Duration::from_millis(self.handshake_timeout_ms)
    }

    /// The client's time limit for sending the head of a request.
    #[must_use]
    pub fn head_timeout(&self) -> Duration {
        Duration::from_millis(self.head_timeout_ms)
    }

    /// The client's time limit for sending the body.
    #[must_use]
    pub fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.body_timeout_ms)
    }

    /// The client's time limit for reading a response.
    #[must_use]
    pub fn write_timeout(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }

    /// The time after which an idle connection is closed.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }

    /// The time between the notice that the process leaves and its last accepted connection.
    #[must_use]
    pub fn leave_notice(&self) -> Duration {
        Duration::from_millis(self.leave_notice_ms)
    }

    /// The time limit for requests in flight at shutdown.
    #[must_use]
    pub fn drain_timeout(&self) -> Duration {
        Duration::from_millis(self.drain_timeout_ms)
    }
}

/// The settings that are secret, and never shown.
const SECRET: [&str; 7] = [
    "database.url",
    "http.admin_token",
    "keys.fingerprint",
    "keys.sealing",
    "mail.url",
    "notices.webhook_secret",
    "console.oidc.client_secret",
];

/// The setting of a cell that is secret.
const SECRET_OF_CELLS: &str = "url";

/// Every setting with its value as a TOML document, without the secrets.
pub fn shown(file: Option<&Path>, variables: impl Iterator<Item = (String, String)>) -> Result<String, NoSettings> {
    let mut table = layered(file, variables)?;
    for name in SECRET {
        hide(&mut table, name);
    }
    if let Some(Value::Array(cells)) = table.get_mut("cells") {
        for cell in cells.iter_mut().filter_map(Value::as_table_mut) {
            hide(cell, SECRET_OF_CELLS);
        }
    }
    toml::to_string(&table).map_err(|error| NoSettings::Wrong(error.to_string()))
}

/// Hides the value of a setting, if it has one.
fn hide(table: &mut Table, name: &str) {
    match name.split_once('.') {
        Some((section, rest)) => {
            if let Some(Value::Table(section)) = table.get_mut(section) {
                hide(section, rest);
            }
        }
        None => {
            if let Some(Value::String(secret)) = table.get_mut(name).filter(|value| value.as_str() != Some("")) {
                "(secret, not shown)".clone_into(secret);
            }
        }
    }
}

/// The defaults, `file` and the environment's `variables`, one over the other.
fn layered(file: Option<&Path>, variables: impl Iterator<Item = (String, String)>) -> Result<Table, NoSettings> {
    let parse =
        |name: &str, text: &str| text.parse::<Table>().map_err(|error| NoSettings::Toml(name.to_owned(), error.message().to_owned()));
    let mut table = parse("config.default.toml", DEFAULTS)?;
    if let Some(file) = file {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|error| NoSettings::File(name.clone(), error))?;
        overlay(&mut table, parse(&name, &text)?);
    }
    overlay(&mut table, from_environment(variables));
    Ok(table)
}

/// The error about a setting, by its name.
fn wrong(error: &toml::de::Error) -> NoSettings {
    let (whole, message) = (error.to_string(), error.message());
    let place = whole.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
    NoSettings::Wrong(match place {
        Some(name) if !message.contains(name) => format!("{name}: {message}"),
        _ => message.to_owned(),
    })
}

/// Merges `upper` into `lower`, overriding its values.
fn overlay(lower: &mut Table, upper: Table) {
    for (name, value) in upper {
        match (lower.get_mut(&name), value) {
            (Some(Value::Table(lower)), Value::Table(upper)) => overlay(lower, upper),
            (_, value) => _ = lower.insert(name, value),
        }
    }
}

/// Reads settings from variables such as `BACKHAUL__SECTION__KEY=value`. A value that is valid TOML (`40`, `true`, `["a"]`) is
/// read as TOML, anything else as text.
///
/// `DATABASE_URL` is read too, unless it is empty. `BACKHAUL__DATABASE__URL` is meant for this program alone, so it counts more.
fn from_environment(variables: impl Iterator<Item = (String, String)>) -> Table {
    let mut layer = Table::new();
    let mut variables: Vec<(String, String)> = variables.collect();
    // The environment has no order. This one comes first, so that every other one overrides it.
    variables.sort_by_key(|(name, _)| name != "DATABASE_URL");
    for (name, text) in variables {
        let (path, value) = match name.strip_prefix(PREFIX) {
            Some(path) => (path.to_lowercase(), scalar(&text)),
            None if name == "DATABASE_URL" && !text.is_empty() => ("database__url".to_owned(), Value::String(text)),
            None => continue,
        };
        let nested = path.rsplit("__").fold(value, |value, key| Value::Table(Table::from_iter([(key.to_owned(), value)])));
        if let Value::Table(nested) = nested {
            overlay(&mut layer, nested);
        }
    }
    layer
}

fn scalar(text: &str) -> Value {
    match format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value")) {
        Some(value @ (Value::Integer(_) | Value::Boolean(_) | Value::String(_) | Value::Array(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests;
