//! TLS on the listeners: the protocol versions, and the certificates, which can be replaced while the service runs.

mod asking;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedProtocolVersion, version};
use sha2::{Digest as _, Sha256};
use tokio::signal::unix::{SignalKind, signal};
use webpki::EndEntityCert;

use self::asking::AnyCertificate;
use crate::platform::config::PairFiles;

/// An error from loading a certificate.
#[derive(Debug, thiserror::Error)]
pub enum NoCertificate {
    #[error("only one of a certificate and its private key is set; set both or neither")]
    NotSet,
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0} contains no {1} in PEM format")]
    NotPem(String, &'static str),
    /// The certificate and the key do not match, or their algorithm is not supported.
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(rustls::Error),
}

/// A digest of both files, to notice changes without keeping the private key in memory.
type FilesDigest = [u8; 32];

/// A certificate that clients are shown. It is reloaded when its files change.
#[derive(Debug)]
pub struct Certificate {
    files: PairFiles,
    current: RwLock<Arc<CertifiedKey>>,
    digest: Mutex<FilesDigest>,
}

impl Certificate {
    /// Loads the certificate from these files.
    pub fn load(files: PairFiles) -> Result<Self, NoCertificate> {
        let bytes = Pair::read(&files)?;
        let current = RwLock::new(Arc::new(bytes.parse(&files)?));
        Ok(Self { files, current, digest: Mutex::new(bytes.digest()) })
    }

    /// The certificate with its intermediates and its key.
    #[must_use]
    pub fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns true if the certificate is valid for this host name, by itself or by a wildcard.
    #[must_use]
    pub fn is_for(&self, host: &str) -> bool {
        let Ok(name) = ServerName::try_from(host) else { return false };
        let current = self.current();
        let certificate = current.cert.first().and_then(|der| EndEntityCert::try_from(der).ok());
        certificate.is_some_and(|certificate| certificate.verify_is_valid_for_subject_name(&name).is_ok())
    }

    /// Reloads the files if they changed. If they cannot be used, the old certificate stays, and the error is logged once.
    fn refresh(&self) {
        let read = Pair::read(&self.files);
        let digest = read.as_ref().map_or(FilesDigest::default(), Pair::digest);
        if std::mem::replace(&mut *self.digest.lock().unwrap_or_else(PoisonError::into_inner), digest) == digest {
            return;
        }
        let file = self.files.certificate.display();
        match read.and_then(|pair| pair.parse(&self.files)) {
            Ok(new) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
                tracing::info!(%file, "the TLS certificate was reloaded");
            }
            Err(error) => tracing::error!(%file, %error, "reloading the TLS certificate failed, keeping the old one"),
        }
    }
}

/// The certificates of a listener. A client is shown the first one that is valid for the host name it asks for (SNI), and without
/// such a name, the first of all.
#[derive(Debug)]
pub struct Certificates(Vec<Certificate>);

impl Certificates {
    /// Loads the certificates from these files.
    pub fn load(files: Vec<PairFiles>) -> Result<Self, NoCertificate> {
        files.into_iter().map(Certificate::load).collect::<Result<_, _>>().map(Self)
    }

    /// Reloads the files at this interval, and on SIGHUP.
    pub async fn keep_current(self: Arc<Self>, every: Duration) {
        let mut ticks = tokio::time::interval(every);
        let Ok(mut hangup) = signal(SignalKind::hangup()) else {
            tracing::error!("installing the SIGHUP handler failed, TLS certificates will not be reloaded");
            return;
        };
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = hangup.recv() => {}
            }
            // A few small files: blocking is fine.
            self.0.iter().for_each(Certificate::refresh);
        }
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().and_then(|host| self.0.iter().find(|certificate| certificate.is_for(host)));
        named.or_else(|| self.0.first()).map(Certificate::current)
    }
}

/// The bytes of both files.
struct Pair {
    certificate: Vec<u8>,
    private_key: Vec<u8>,
}

impl Pair {
    fn read(files: &PairFiles) -> Result<Self, NoCertificate> {
        let read = |file: &Path| {
            if file.as_os_str().is_empty() {
                return Err(NoCertificate::NotSet);
            }
            std::fs::read(file).map_err(|why| NoCertificate::Unreadable(file.display().to_string(), why))
        };
        Ok(Self { certificate: read(&files.certificate)?, private_key: read(&files.private_key)? })
    }

    fn digest(&self) -> FilesDigest {
        let [certificate, private_key] = [&self.certificate, &self.private_key].map(Sha256::digest);
        Sha256::new().chain_update(certificate).chain_update(private_key).finalize().into()
    }

    fn parse(&self, files: &PairFiles) -> Result<CertifiedKey, NoCertificate> {
        let not_pem = |file: &Path, wanted| NoCertificate::NotPem(file.display().to_string(), wanted);
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or_else(|| not_pem(&files.certificate, "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&self.private_key).map_err(|_| not_pem(&files.private_key, "private key"))?;
        CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider()).map_err(NoCertificate::Unusable)
    }
}

/// Whether a listener asks clients for a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// A client may show one.
    Asked,
    /// No client is asked, so that no browser asks its user.
    NotAsked,
}

/// The TLS configuration of a listener.
pub fn server_config(
    certificates: Arc<Certificates>,
    allow_1_3: bool,
    of_clients: ClientCertificates,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let versions: &[&SupportedProtocolVersion] = if allow_1_3 { &[&version::TLS12, &version::TLS13] } else { &[&version::TLS12] };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions)?;
    let builder = match of_clients {
        ClientCertificates::Asked => builder.with_client_cert_verifier(Arc::new(AnyCertificate::new(&provider))),
        ClientCertificates::NotAsked => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // All suites are strong, but the server's order is more current than that of an old client.
    config.ignore_client_order = true;
    // Lets returning clients resume sessions. The ticket keys rotate every few hours.
    config.ticketer = aws_lc_rs::Ticketer::new()?;
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_tls_1_2_is_ephemeral_and_authenticated() {
        let suites = aws_lc_rs::default_provider().cipher_suites;
        let of_1_2: Vec<String> =
            suites.iter().filter(|suite| suite.tls13().is_none()).map(|suite| format!("{:?}", suite.suite())).collect();
        assert!(of_1_2.len() >= 4, "{of_1_2:?}");
        for suite in of_1_2 {
            assert!(suite.starts_with("TLS_ECDHE_") && (suite.contains("_GCM_") || suite.contains("_POLY1305_")), "{suite}");
        }
    }
}
