//! The client certificate that we present to an endpoint (mTLS), and the connections that were made with it.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The sessions that are kept for one certificate: an endpoint has one host, and its tokens may come from another.
const SESSIONS: usize = 4;

/// A client certificate with its private key, as one endpoint sees it. It has no `Debug` because of the key.
pub struct Identity {
    owner: Owner,
    certified: Arc<CertifiedKey>,
}

/// The owner of connections: an endpoint with one certificate. Nobody else gets them, not even an endpoint at the same host.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    endpoint: Uuid,
    chain: [u8; 32],
}

impl Identity {
    /// The identity of an endpoint. Fails if the key is not that of the first certificate, or cannot be used.
    pub fn new(endpoint: Uuid, chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, Error> {
        let digest = chain
            .iter()
            .fold(Sha256::new(), |digest, certificate| digest.chain_update(certificate.len().to_be_bytes()).chain_update(certificate));
        let owner = Owner { endpoint, chain: digest.finalize().into() };
        let certified = Arc::new(CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())?);
        Ok(Self { owner, certified })
    }

    /// A digest of the certificate and its intermediates.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.owner.chain
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// The TLS settings `usual` with this certificate. Sessions are not shared with others, because a resumed one stands for the
    /// certificate with which it began.
    pub(super) fn tls(&self, usual: &ClientConfig) -> ClientConfig {
        let mut config = usual.clone();
        config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(Arc::clone(&self.certified)));
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        config
    }
}
