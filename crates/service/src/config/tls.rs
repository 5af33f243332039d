//! The settings of TLS.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// Whether the public listener speaks TLS, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    certificate: String,
    private_key: String,
    /// Whether TLS 1.3 is offered besides 1.2.
    pub allow_1_3: bool,
    reload_seconds: u64,
}

/// Where a certificate and its key are.
#[derive(Clone, Debug)]
pub struct PairFiles {
    /// The certificate, and those that lead to its root.
    pub certificate: PathBuf,
    /// Its key.
    pub private_key: PathBuf,
}

impl Tls {
    /// Where the certificate and its key are; nothing when neither is set. One alone is kept, so that its use fails: a
    /// forgotten setting must not turn TLS off.
    #[must_use]
    pub fn files(&self) -> Option<PairFiles> {
        let Self { certificate, private_key, .. } = self;
        let set = !(certificate.is_empty() && private_key.is_empty());
        set.then(|| PairFiles { certificate: certificate.into(), private_key: private_key.into() })
    }

    /// Turns TLS off.
    pub fn turn_off(&mut self) {
        self.certificate.clear();
        self.private_key.clear();
    }

    /// How often the files are looked at.
    #[must_use]
    pub fn reload_interval(&self) -> Duration {
        Duration::from_secs(self.reload_seconds.max(1))
    }
}
