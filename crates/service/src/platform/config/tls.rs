//! The settings for TLS on the public listener.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// TLS on the public listener.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    certificate: String,
    private_key: String,
    /// Offer TLS 1.3 in addition to 1.2.
    pub allow_1_3: bool,
    /// Ask merchants' systems for a client certificate, which credentials can be bound to.
    pub client_certificates: bool,
    reload_seconds: u64,
}

/// The files of a certificate and its private key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFiles {
    /// The certificate, followed by its intermediates.
    pub certificate: PathBuf,
    pub private_key: PathBuf,
}

impl Tls {
    /// The certificate's files; none if neither is set. If only one is set, it is returned too, so that loading fails: a
    /// forgotten setting must not turn TLS off.
    #[must_use]
    pub fn files(&self) -> Option<PairFiles> {
        let Self { certificate, private_key, .. } = self;
        let set = !(certificate.is_empty() && private_key.is_empty());
        set.then(|| PairFiles { certificate: certificate.into(), private_key: private_key.into() })
    }

    /// Turns TLS off.
    pub fn turn_off(&mut self) {
        self.client_certificates = false;
        self.certificate.clear();
        self.private_key.clear();
    }

    /// Checks these settings. `shares_portal` says that shoppers come to the public listener too.
    pub(super) fn check(&self, shares_portal: bool) -> Result<(), String> {
        if self.client_certificates && self.files().is_none() {
            return Err("tls.client_certificates is true, but the public listener speaks no TLS, so it sees no client certificate, nor \
                does it through a proxy that terminates TLS: set tls.certificate and tls.private_key, or tls.client_certificates = false"
                .to_owned());
        }
        if self.client_certificates && shares_portal {
            return Err("tls.client_certificates is true, but the public listener serves the portal too, and shoppers' browsers would \
                ask them for a certificate: give the portal a listener of its own with portal.listen"
                .to_owned());
        }
        Ok(())
    }

    /// The interval at which the files are checked for changes.
    #[must_use]
    pub fn reload_interval(&self) -> Duration {
        Duration::from_secs(self.reload_seconds.max(1))
    }
}
