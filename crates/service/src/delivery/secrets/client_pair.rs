//! A client certificate with its private key, which we present to an endpoint.

use chrono::{DateTime, Utc};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::{ExposeSecret as _, SecretSlice};
use uuid::Uuid;

use crate::delivery::client::Identity;
use crate::platform::client_certificate::{ClientCertificate, MOST_PEM_BYTES, NoClientCertificate};

/// A certificate, its intermediates, and its private key. The key is not printed.
#[derive(Clone, Debug)]
pub struct ClientPair {
    chain: Vec<CertificateDer<'static>>,
    /// In DER.
    key: SecretSlice<u8>,
}

/// The reasons that files are not a client certificate and its key, for people. Nothing of the key is quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoClientPair {
    #[error("the client certificate cannot be used: {0}")]
    Certificate(#[from] NoClientCertificate),
    #[error(
        "the file of the client key contains no private key in PEM format; if it has a passphrase, remove that first with `openssl pkey -in FILE -out FILE`"
    )]
    NoKey,
    #[error("the client key does not belong to the client certificate, which has to be the first one in its file")]
    OtherKey,
    #[error("the client key is of a kind that is not supported; use RSA with 2048 to 8192 bits, ECDSA or Ed25519")]
    Unsupported,
}

impl ClientPair {
    /// Reads the certificate, followed by its intermediates, and its key from PEM. The certificate must not have expired at `now`.
    pub fn from_pem(certificate: &[u8], key: &[u8], now: DateTime<Utc>) -> Result<Self, NoClientPair> {
        ClientCertificate::from_pem(certificate, now)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.map_err(|_| NoClientCertificate::NotPem)?;
        let key = if key.len() > MOST_PEM_BYTES { None } else { PrivateKeyDer::from_pem_slice(key).ok() };
        let pair = Self { chain, key: key.ok_or(NoClientPair::NoKey)?.secret_der().to_vec().into() };
        pair.identity(Uuid::nil())?;
        Ok(pair)
    }

    /// Restores a pair from [`Self::chain`] and [`Self::key`].
    pub(super) fn from_stored(chain: &[Vec<u8>], key: SecretSlice<u8>) -> Self {
        Self { chain: chain.iter().cloned().map(CertificateDer::from).collect(), key }
    }

    /// The certificate and its intermediates in DER. They are no secret.
    pub(super) fn chain(&self) -> Vec<Vec<u8>> {
        self.chain.iter().map(|certificate| certificate.to_vec()).collect()
    }

    /// The private key in DER, to be sealed.
    pub(super) fn key(&self) -> &[u8] {
        self.key.expose_secret()
    }

    /// The certificate without its key.
    #[must_use]
    pub fn certificate(&self) -> Option<ClientCertificate> {
        self.chain.first().and_then(ClientCertificate::read)
    }

    /// The pair as calls to `endpoint` present it.
    pub fn identity(&self, endpoint: Uuid) -> Result<Identity, NoClientPair> {
        let key = PrivateKeyDer::try_from(self.key().to_vec()).map_err(|_| NoClientPair::NoKey)?;
        Identity::new(endpoint, self.chain.clone(), key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => NoClientPair::OtherKey,
            _ => NoClientPair::Unsupported,
        })
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn now() -> DateTime<Utc> {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }

    fn pair(until: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["backhaul.example.com".to_owned()]).unwrap();
        params.not_after = date_time_ymd(until, 1, 1);
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    fn read(certificate: &str, key: &str) -> Result<ClientPair, NoClientPair> {
        ClientPair::from_pem(certificate.as_bytes(), key.as_bytes(), now())
    }

    #[test]
    fn a_pair_is_a_certificate_with_its_own_key() {
        let ((certificate, key), (other, other_key)) = (pair(2030), pair(2030));
        let read_pair = read(&certificate, &key).unwrap();
        let stored = ClientPair::from_stored(&read_pair.chain(), read_pair.key().to_vec().into());
        assert_eq!(stored.certificate(), read_pair.certificate());
        assert!(stored.identity(Uuid::nil()).is_ok());
        assert_eq!(read(&certificate, &other_key).err(), Some(NoClientPair::OtherKey));
        assert_eq!(read(&format!("{other}{certificate}"), &key).err(), Some(NoClientPair::OtherKey), "the first one counts");
        assert_eq!(read(&certificate, &certificate).err(), Some(NoClientPair::NoKey));
        assert_eq!(read(&key, &key).err(), Some(NoClientCertificate::NotPem.into()));
        assert_eq!(read("", "").err(), Some(NoClientCertificate::NotPem.into()));
        let both = format!("{key}{certificate}");
        let chain = read(&both, &both).unwrap().chain();
        assert_eq!(chain, read_pair.chain(), "one file may hold both, and the key is not among what is stored in the clear");
        let (expired, its_key) = pair(2026);
        let until = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(read(&expired, &its_key).err(), Some(NoClientCertificate::Expired(until).into()));
        assert_eq!(read(&"x".repeat(MOST_PEM_BYTES + 1), &key).err(), Some(NoClientCertificate::TooLarge.into()));
    }

    #[test]
    fn a_key_is_not_printed() {
        let (certificate, key) = pair(2030);
        let pair = read(&certificate, &key).unwrap();
        let printed = format!("{pair:?}");
        assert!(printed.contains("REDACTED"), "{printed}");
    }
}
