//! The keys of a process, as the settings have them.

use domain::node::mode::Mode;

use crate::platform::config::Settings;
use crate::platform::keys::fingerprint::FingerprintKeys;
use crate::platform::keys::ring::NoKeys;
use crate::platform::keys::sealing::Keyring;
use crate::platform::keys::source::NoSource;
use crate::platform::keys::{Kind, Known};

/// The keys of a process.
#[derive(Clone, Debug)]
pub struct NodeKeys {
    pub sealing: Keyring,
    pub fingerprints: FingerprintKeys,
}

/// The reasons the settings have no keys.
#[derive(Debug, thiserror::Error)]
pub enum NoNodeKeys {
    #[error("{0}")]
    Source(#[from] NoSource),
    #[error("{0}")]
    Keys(#[from] NoKeys),
    #[error("there is no key; make one with `openssl rand -base64 32`, and name it in one of the settings {0}, {0}_file and {0}_command")]
    None(&'static str),
}

impl NodeKeys {
    /// Reads the keys of the settings. A sandbox also has a well-known one of each kind, and needs no others.
    pub fn load(settings: &Settings) -> Result<Self, (Kind, NoNodeKeys)> {
        let sealing = sealing(settings).map_err(|error| (Kind::Sealing, error))?;
        let fingerprints = fingerprints(settings).map_err(|error| (Kind::Fingerprint, error))?;
        Ok(Self { sealing, fingerprints })
    }

    /// Every key, as the database knows it.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        [self.sealing.known(), self.fingerprints.known()].concat()
    }

    /// The id of the key of this kind that is in use.
    #[must_use]
    pub fn active(&self, kind: Kind) -> &str {
        match kind {
            Kind::Sealing => self.sealing.active(),
            Kind::Fingerprint => self.fingerprints.active(),
        }
    }
}

fn sealing(settings: &Settings) -> Result<Keyring, NoNodeKeys> {
    let keys = settings.keys.sealing().read()?.map(|text| Keyring::parse(&text)).transpose()?;
    match (settings.mode, keys) {
        (Mode::Sandbox, keys) => Ok(Keyring::with_that_of_sandboxes(keys)?),
        (Mode::Production, Some(keys)) => Ok(keys),
        (Mode::Production, None) => Err(NoNodeKeys::None("keys.sealing")),
    }
}

fn fingerprints(settings: &Settings) -> Result<FingerprintKeys, NoNodeKeys> {
    let keys = settings.keys.fingerprint().read()?.map(|text| FingerprintKeys::parse(&text)).transpose()?;
    match (settings.mode, keys) {
        (Mode::Sandbox, keys) => Ok(FingerprintKeys::with_that_of_sandboxes(keys)?),
        (Mode::Production, Some(keys)) => Ok(keys),
        (Mode::Production, None) => Err(NoNodeKeys::None("keys.fingerprint")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";

    fn load(variables: &[(&str, &str)]) -> Result<NodeKeys, String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        NodeKeys::load(&Settings::load(None, variables).expect("settings")).map_err(|(kind, error)| format!("{}: {error}", kind.as_str()))
    }

    #[test]
    fn production_needs_keys_of_its_own() {
        let sealing = format!("k1:{KEY}");
        let both = [("BACKHAUL__KEYS__SEALING", sealing.as_str()), ("BACKHAUL__KEYS__FINGERPRINT", KEY)];
        assert!(load(&both).is_ok());
        assert!(load(&both[..1]).expect_err("no fingerprint key").starts_with("fingerprint: there is no key"));
        assert!(load(&both[1..]).expect_err("no sealing key").starts_with("sealing: there is no key"));
        assert!(load(&[("BACKHAUL__KEYS__SEALING", "k1:c2hvcnQ=")]).expect_err("too short").contains("openssl rand -base64 32"));
        assert!(load(&[("BACKHAUL__MODE", "sandbox")]).is_ok());
    }
}
