//! Client certificates, of merchants' systems and our own: what identifies one, until when it is valid, and for whom.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};
use webpki::EndEntityCert;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// The most bytes of a PEM file that are read.
pub const MOST_PEM_BYTES: usize = 64 * 1024;

/// The SHA-256 of a certificate in DER, as RFC 8705 (3.1) has it. It is written in hexadecimal, as OpenSSL does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// The error for a text or bytes that are not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a fingerprint is the SHA-256 of a certificate, 64 hexadecimal digits; `openssl x509 -noout -fingerprint -sha256 -in FILE` shows it"
)]
pub struct NoFingerprint;

impl Fingerprint {
    /// The fingerprint of a certificate.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    /// The bytes, to be stored.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl TryFrom<&[u8]> for Fingerprint {
    type Error = NoFingerprint;

    fn try_from(bytes: &[u8]) -> Result<Self, NoFingerprint> {
        bytes.try_into().map(Self).map_err(|_| NoFingerprint)
    }
}

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    /// Reads hexadecimal digits, in either case, with or without colons.
    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        let digits: Vec<u8> = text.trim().bytes().filter(|byte| *byte != b':').collect();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or(NoFingerprint);
        let (pairs, rest) = digits.as_chunks::<2>();
        let byte = |[high, low]: &[u8; 2]| Ok::<_, NoFingerprint>((digit(*high)? << 4) | digit(*low)?);
        let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Result<_, _>>()?;
        if rest.is_empty() { Self::try_from(bytes.as_slice()) } else { Err(NoFingerprint) }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A client certificate: what identifies it, and until when it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    pub fingerprint: Fingerprint,
    pub expires_at: DateTime<Utc>,
}

/// The reasons that a file is not a client certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoClientCertificate {
    #[error("the file has more than {} KiB; name the file of the certificate and its intermediates", MOST_PEM_BYTES / 1024)]
    TooLarge,
    #[error("the file contains no certificate in PEM format (-----BEGIN CERTIFICATE-----)")]
    NotPem,
    #[error("the certificate cannot be parsed, or it is not an X.509 certificate of version 3; have a new one issued")]
    Malformed,
    #[error("the certificate expired at {0:?}; have a new one issued")]
    Expired(DateTime<Utc>),
}

impl ClientCertificate {
    /// Reads a certificate. None if it cannot be parsed, or a signature cannot be verified with it.
    #[must_use]
    pub fn read(certificate: &CertificateDer<'_>) -> Option<Self> {
        EndEntityCert::try_from(certificate).ok()?;
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let expires_at = DateTime::from_timestamp(parsed.validity().not_after.timestamp(), 0)?;
        Some(Self { fingerprint: Fingerprint::of(certificate), expires_at })
    }

    /// Reads the first certificate of a PEM file, which must not have expired at `now`.
    pub fn from_pem(pem: &[u8], now: DateTime<Utc>) -> Result<Self, NoClientCertificate> {
        if pem.len() > MOST_PEM_BYTES {
            return Err(NoClientCertificate::TooLarge);
        }
        let first = CertificateDer::pem_slice_iter(pem).next().and_then(Result::ok).ok_or(NoClientCertificate::NotPem)?;
        Self::read(&first).ok_or(NoClientCertificate::Malformed)?.not_expired(now)
    }

    /// The certificate, unless it has expired at `now`.
    pub fn not_expired(self, now: DateTime<Utc>) -> Result<Self, NoClientCertificate> {
        if self.expires_at <= now { Err(NoClientCertificate::Expired(self.expires_at)) } else { Ok(self) }
    }
}

/// The subject of a certificate, for people.
#[must_use]
pub fn subject_of(certificate: &CertificateDer<'_>) -> Option<String> {
    X509Certificate::from_der(certificate).ok().map(|(_, parsed)| parsed.subject().to_string())
}

/// The most certificates that a credential is bound to: while one is renewed, both work.
pub const MOST_BOUND: usize = 2;

/// The client certificates of a credential. Without any, it works without one.
#[derive(Clone, Debug, Default)]
pub struct Binding(Option<Arc<[Fingerprint]>>);

/// The reasons that a caller's certificate does not satisfy a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// The connection has no client certificate.
    Missing,
    /// It is another certificate.
    Foreign,
    /// It is the right one, but it has expired.
    Expired,
}

impl Binding {
    /// Reads stored fingerprints. An unreadable one fails, so that it cannot open the door to everybody.
    pub fn parse(stored: &[Vec<u8>]) -> Result<Self, NoFingerprint> {
        if stored.is_empty() {
            return Ok(Self(None));
        }
        let fingerprints = stored.iter().map(|bytes| Fingerprint::try_from(bytes.as_slice()));
        fingerprints.collect::<Result<_, _>>().map(|fingerprints| Self(Some(fingerprints)))
    }

    /// Checks the certificate of a caller's connection at `now`.
    pub fn check(&self, shown: Option<ClientCertificate>, now: DateTime<Utc>) -> Result<(), CertificateFault> {
        let Some(bound) = &self.0 else { return Ok(()) };
        let shown = shown.ok_or(CertificateFault::Missing)?;
        if !bound.contains(&shown.fingerprint) {
            return Err(CertificateFault::Foreign);
        }
        shown.not_expired(now).map(|_| ()).map_err(|_| CertificateFault::Expired)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate() -> (CertificateDer<'static>, String) {
        let mut params = CertificateParams::new(vec!["erp.example.com".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2026, 2, 1);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        (certificate.der().clone(), certificate.pem())
    }

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_written_and_as_openssl_writes_it() {
        let fingerprint = Fingerprint::of(&certificate().0);
        let text = fingerprint.to_string();
        assert_eq!((text.len(), text.parse()), (64, Ok(fingerprint)));
        let (pairs, _) = text.as_bytes().as_chunks::<2>();
        let colons = pairs.iter().map(|pair| std::str::from_utf8(pair).unwrap()).collect::<Vec<_>>().join(":").to_uppercase();
        assert_eq!(colons.parse(), Ok(fingerprint));
        for wrong in ["", "ab", &text[1..], &format!("{text}0"), &format!("{text}00"), &text.replace(|_: char| true, "g")] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(NoFingerprint), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_a_certificate_that_has_not_expired() {
        let (der, pem) = certificate();
        let read = ClientCertificate::from_pem(pem.as_bytes(), time("2026-01-31T23:59:59Z")).unwrap();
        assert_eq!(read, ClientCertificate { fingerprint: Fingerprint::of(&der), expires_at: time("2026-02-01T00:00:00Z") });
        let expired = ClientCertificate::from_pem(pem.as_bytes(), time("2026-02-01T00:00:00Z"));
        assert_eq!(expired, Err(NoClientCertificate::Expired(read.expires_at)));
        let now = time("2026-01-01T00:00:00Z");
        assert_eq!(ClientCertificate::from_pem(b"certificate", now), Err(NoClientCertificate::NotPem));
        let key = KeyPair::generate().unwrap().serialize_pem();
        assert_eq!(ClientCertificate::from_pem(key.as_bytes(), now), Err(NoClientCertificate::NotPem));
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(ClientCertificate::from_pem(nonsense.as_bytes(), now), Err(NoClientCertificate::Malformed));
    }

    #[test]
    fn a_binding_asks_for_one_of_its_certificates_until_it_expires() {
        let [ours, other] = [(); 2].map(|()| ClientCertificate::read(&certificate().0).unwrap());
        let (valid, later) = (time("2026-01-31T23:59:59Z"), time("2026-02-01T00:00:00Z"));
        let binding = Binding::parse(&[vec![7; 32], ours.fingerprint.bytes().to_vec()]).unwrap();
        assert_eq!(binding.check(Some(ours), valid), Ok(()));
        assert_eq!(binding.check(Some(ours), later), Err(CertificateFault::Expired));
        assert_eq!(binding.check(Some(other), valid), Err(CertificateFault::Foreign));
        assert_eq!(binding.check(None, valid), Err(CertificateFault::Missing));
        assert_eq!(Binding::parse(&[]).unwrap().check(None, later), Ok(()));
        assert_eq!(Binding::default().check(Some(other), later), Ok(()));
        assert_eq!(Binding::parse(&[vec![7; 31]]).err(), Some(NoFingerprint));
    }
}
