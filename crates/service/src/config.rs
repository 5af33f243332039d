//! The settings: the commented defaults, a file of the operator's, the environment.

mod allowed;
mod mail;
mod notices;
mod outbound;
mod tls;

use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use domain::mode::Mode;
use ipnet::IpNet;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use toml::{Table, Value};

pub use self::allowed::{Allowed, NoAllowed, What, is_localhost, is_name};
pub use self::mail::Mail;
pub use self::notices::Notices;
pub use self::outbound::Outbound;
pub use self::tls::{PairFiles, Tls};
use crate::key::{FingerprintKey, NoKey};
use crate::seal::{Keyring, NoKeyring};

/// The reference: every setting with its default and what it means.
pub const DEFAULTS: &str = include_str!("../../../config.default.toml");

/// What the environment's names start with.
const PREFIX: &str = "BACKHAUL__";

/// All settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(deserialize_with = "mode")]
    /// Production or sandbox.
    pub mode: Mode,
    /// Where the data is.
    pub database: Database,
    /// Where the service listens.
    pub http: Http,
    /// How much callers may ask.
    pub limits: Limits,
    /// How orders are taken in.
    pub intake: Intake,
    /// How the feed is followed.
    pub events: Events,
    /// How others are called.
    pub outbound: Outbound,
    /// How mails are sent.
    pub mail: Mail,
    /// How the operator's systems are told.
    pub notices: Notices,
    /// Whether it speaks TLS.
    pub tls: Tls,
    /// What it says about itself.
    pub log: Log,
    /// The keys that are not in the database.
    pub keys: Keys,
}

/// Where the data is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// The address may hold a password.
    url: SecretString,
    /// The most connections.
    pub connections: u32,
    acquire_timeout_ms: u64,
    statement_timeout_ms: u64,
    lock_timeout_ms: u64,
}

/// Where the service listens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// The public listener.
    pub listen: String,
    /// Metrics and health.
    pub admin_listen: String,
    /// Proxies whose word about a client's address is taken.
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// The most connections of the public listener.
    pub connections: usize,
    /// The most of them from one address.
    pub connections_per_address: usize,
    handshake_timeout_ms: u64,
    head_timeout_ms: u64,
    body_timeout_ms: u64,
    write_timeout_ms: u64,
    idle_timeout_ms: u64,
    drain_timeout_ms: u64,
}

/// How much callers may ask.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Requests of one address; 0 is what the mode says.
    pub requests_per_minute: u32,
}

/// How orders are taken in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intake {
    /// How many order messages a node works on at once.
    pub messages_in_flight: NonZeroU32,
    /// How many batches of orders are written at a time.
    pub writers: NonZeroUsize,
}

/// How the feed is followed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// How many live feeds a node has.
    pub followers: u32,
    /// How many of them one merchant has.
    pub followers_per_merchant: u32,
    heartbeat_ms: u64,
}

/// What the service says about itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// For machines or for people.
    pub format: LogFormat,
    /// How much.
    pub level: String,
}

/// For machines or for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A JSON object a line.
    Json,
    /// A readable line.
    Text,
}

/// The keys that are not in the database.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    fingerprint: SecretString,
    fingerprint_file: String,
    sealing: SecretString,
    sealing_file: String,
}

fn mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// Networks such as `10.0.0.0/8`; an address alone is a network of one.
fn networks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let read = |text: String| {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map_err(|_| serde::de::Error::custom(format!("`{text}` is no network such as 10.0.0.0/8 or 2001:db8::/32")))
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum NoSettings {
    /// The operator's file cannot be read.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// A layer is not TOML.
    #[error("{0} is not well-formed: {1}")]
    Toml(String, String),
    /// A setting has the wrong type or is not known.
    #[error("{0}\nconfig.default.toml lists every setting; `backhaul config default` prints it")]
    Wrong(String),
}

impl Settings {
    /// The defaults, then `file`, then the environment's `variables`.
    pub fn load(file: Option<&Path>, variables: impl Iterator<Item = (String, String)>) -> Result<Self, NoSettings> {
        let parse =
            |name: &str, text: &str| text.parse::<Table>().map_err(|error| NoSettings::Toml(name.to_owned(), error.message().to_owned()));
        let mut table = parse("config.default.toml", DEFAULTS)?;
        if let Some(file) = file {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file).map_err(|error| NoSettings::File(name.clone(), error))?;
            overlay(&mut table, parse(&name, &text)?);
        }
        overlay(&mut table, from_environment(variables));
        table.try_into().map_err(|error: toml::de::Error| NoSettings::Wrong(error.message().to_owned()))
    }

    /// The key of shoppers' fingerprints. A sandbox without one has one that everybody knows.
    pub fn fingerprint_key(&self) -> Result<FingerprintKey, NoKey> {
        let Keys { fingerprint, fingerprint_file, .. } = &self.keys;
        if !fingerprint.expose_secret().is_empty() {
            return FingerprintKey::parse(fingerprint);
        }
        if !fingerprint_file.is_empty() {
            return FingerprintKey::parse(&std::fs::read_to_string(fingerprint_file).map_err(|_| NoKey)?.into());
        }
        match self.mode {
            Mode::Sandbox => FingerprintKey::of_sandboxes(),
            Mode::Production => Err(NoKey),
        }
    }

    /// The keys with which merchants' secrets are sealed. A sandbox without any has one that everybody knows.
    pub fn keyring(&self) -> Result<Keyring, NoKeyring> {
        let Keys { sealing, sealing_file, .. } = &self.keys;
        if !sealing.expose_secret().is_empty() {
            return Keyring::parse(sealing);
        }
        if !sealing_file.is_empty() {
            return Keyring::parse(&std::fs::read_to_string(sealing_file).map_err(|_| NoKeyring)?.into());
        }
        match self.mode {
            Mode::Sandbox => Keyring::of_sandboxes(),
            Mode::Production => Err(NoKeyring),
        }
    }
}

impl Database {
    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.expose_secret()
    }

    /// Points to another database.
    pub fn set_url(&mut self, url: &str) {
        self.url = url.into();
    }

    /// How long to wait for a free connection.
    #[must_use]
    pub fn acquire_timeout(&self) -> Duration {
        Duration::from_millis(self.acquire_timeout_ms)
    }

    /// How long a statement may run.
    #[must_use]
    pub fn statement_timeout(&self) -> Duration {
        Duration::from_millis(self.statement_timeout_ms)
    }

    /// How long a statement may wait for a lock.
    #[must_use]
    pub fn lock_timeout(&self) -> Duration {
        Duration::from_millis(self.lock_timeout_ms)
    }
}

impl Events {
    /// How often a live feed shows that it is there while nothing is said.
    #[must_use]
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms)
    }
}

impl Http {
    /// How long a client may take for the handshake of TLS.
    #[must_use]
    pub fn handshake_timeout(&self) -> Duration {
        Duration::from_millis(self.handshake_timeout_ms)
    }

    /// How long a client may take for the head of a request.
    #[must_use]
    pub fn head_timeout(&self) -> Duration {
        Duration::from_millis(self.head_timeout_ms)
    }

    /// How long a client may take for the body.
    #[must_use]
    pub fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.body_timeout_ms)
    }

    /// How long a client may leave an answer standing.
    #[must_use]
    pub fn write_timeout(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }

    /// How long a connection may stay without a request.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }

    /// How long requests in flight may take once the process leaves.
    #[must_use]
    pub fn drain_timeout(&self) -> Duration {
        Duration::from_millis(self.drain_timeout_ms)
    }
}

/// Lays `upper` over `lower`.
fn overlay(lower: &mut Table, upper: Table) {
    for (name, value) in upper {
        match (lower.get_mut(&name), value) {
            (Some(Value::Table(lower)), Value::Table(upper)) => overlay(lower, upper),
            (_, value) => _ = lower.insert(name, value),
        }
    }
}

/// `BACKHAUL__SECTION__KEY=value` as a layer. A value is read as TOML where it is (`40`, `true`, `["a"]`), and as
/// text otherwise.
fn from_environment(variables: impl Iterator<Item = (String, String)>) -> Table {
    let mut layer = Table::new();
    for (name, text) in variables {
        let (path, value) = match name.strip_prefix(PREFIX) {
            Some(path) => (path.to_lowercase(), scalar(&text)),
            None if name == "DATABASE_URL" => ("database__url".to_owned(), Value::String(text)),
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
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Settings, NoSettings> {
        Settings::load(None, variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn the_defaults_stand_alone() {
        let settings = with(&[]).expect("the defaults are settings");
        assert_eq!(settings.mode, Mode::Production);
        assert_eq!(settings.database.connections, 20);
    }

    #[test]
    fn the_environment_wins() {
        let settings = with(&[
            ("BACKHAUL__MODE", "sandbox"),
            ("BACKHAUL__DATABASE__CONNECTIONS", "7"),
            ("DATABASE_URL", "postgres:///elsewhere"),
            ("PATH", "/bin"),
        ]);
        let settings = settings.expect("settings");
        assert_eq!((settings.mode, settings.database.connections), (Mode::Sandbox, 7));
        assert_eq!(settings.database.url(), "postgres:///elsewhere");
    }

    #[test]
    fn a_misspelt_setting_is_named() {
        let error = with(&[("BACKHAUL__DATABASE__CONECTIONS", "7")]).expect_err("unknown");
        assert!(error.to_string().contains("conections"), "{error}");
    }

    #[test]
    fn trusted_proxies_are_networks() {
        let proxies = |text| with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", text)]).map(|settings| settings.http.trusted_proxies);
        let read: Vec<String> =
            proxies(r#"["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]"#).expect("networks").iter().map(ToString::to_string).collect();
        assert_eq!(read, ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"]);
        let error = proxies(r#"["somewhere"]"#).expect_err("no network");
        assert!(error.to_string().contains("`somewhere` is no network such as 10.0.0.0/8"), "{error}");
    }

    #[test]
    fn production_needs_a_key_of_its_own() {
        assert!(with(&[]).expect("settings").fingerprint_key().is_err());
        assert!(with(&[("BACKHAUL__MODE", "sandbox")]).expect("settings").fingerprint_key().is_ok());
        assert!(with(&[("BACKHAUL__KEYS__FINGERPRINT", "c2hvcnQ=")]).expect("settings").fingerprint_key().is_err());
        let key = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
        assert!(with(&[("BACKHAUL__KEYS__FINGERPRINT", key)]).expect("settings").fingerprint_key().is_ok());
    }

    #[test]
    fn production_needs_sealing_keys_of_its_own() {
        assert!(with(&[]).expect("settings").keyring().is_err());
        assert!(with(&[("BACKHAUL__MODE", "sandbox")]).expect("settings").keyring().is_ok());
        assert!(with(&[("BACKHAUL__KEYS__SEALING", "k1:c2hvcnQ=")]).expect("settings").keyring().is_err());
        let keys = "k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
        assert!(with(&[("BACKHAUL__KEYS__SEALING", keys)]).expect("settings").keyring().is_ok());
    }

    #[test]
    fn what_may_be_called_is_read() {
        let outbound = with(&[
            ("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.1:8080", "10.1.0.0/16", "hooks.internal.example:8443"]"#),
            ("BACKHAUL__OUTBOUND__NAME_SERVERS", r#"["192.0.2.53", "[2001:db8::53]:5353"]"#),
        ]);
        let outbound = outbound.expect("settings").outbound;
        let allowed: Vec<String> = outbound.allowed.iter().map(ToString::to_string).collect();
        assert_eq!(allowed, ["127.0.0.1/32:8080", "10.1.0.0/16", "hooks.internal.example:8443"]);
        let servers: Vec<String> = outbound.name_servers.iter().map(ToString::to_string).collect();
        assert_eq!(servers, ["192.0.2.53:53", "[2001:db8::53]:5353"]);
        let wrong = with(&[("BACKHAUL__OUTBOUND__ALLOWED", r#"["0x7f.1"]"#)]).expect_err("an odd spelling");
        assert!(wrong.to_string().contains("`0x7f.1` is no network"), "{wrong}");
        let wrong = with(&[("BACKHAUL__OUTBOUND__NAME_SERVERS", r#"["dns"]"#)]).expect_err("no address");
        assert!(wrong.to_string().contains("`dns` is no name server"), "{wrong}");
    }

    #[test]
    fn settings_do_not_print_their_secrets() {
        let settings = with(&[
            ("DATABASE_URL", "postgres://u:canary@h/d"),
            ("BACKHAUL__KEYS__FINGERPRINT", "canary"),
            ("BACKHAUL__KEYS__SEALING", "canary"),
            ("BACKHAUL__MAIL__URL", "smtp://u:canary@h"),
            ("BACKHAUL__NOTICES__WEBHOOK_SECRET", "canary"),
        ]);
        let settings = settings.expect("settings");
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
