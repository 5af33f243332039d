//! Checks on the TLS certificates for `backhaul doctor`: their names, their validity and their issuing authority.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::node::mode::Mode;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use store::merchants::credentials::certificates;
use store::merchants::portals;
use webpki::{EndEntityCert, KeyUsage};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::{RelativeDistinguishedName, X509Name};

use crate::node::health::Check;
use crate::node::{Node, each_cell};
use crate::platform::config::{PairFiles, Settings};
use crate::platform::metrics::CertificateLabels;
use crate::platform::tls::Certificate;

/// The time before expiry at which a certificate must be renewed.
const RENEW_BEFORE: TimeDelta = TimeDelta::days(14);

/// Checks the certificates that are set. The public authorities are those that Mozilla trusts.
#[must_use]
pub fn examine(settings: &Settings, now: DateTime<Utc>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(files) = settings.tls.files() {
        let mend = "set tls.certificate and tls.private_key to the PEM files of a certificate and its private key";
        checks.extend(examine_files(files, mend, settings.mode, now));
    }
    for files in settings.portal.certificates() {
        // There may be several, so each finding names its file.
        let file = files.certificate.display().to_string();
        let mend = "name the PEM files of a certificate and its private key in portal.certificates";
        let of_portal = examine_files(files.clone(), mend, settings.mode, now).into_iter();
        checks.extend(of_portal.map(|check| Check { found: format!("{file}: {}", check.found), ..check }));
    }
    checks
}

/// The time between two updates of the metric.
const MEASURED_EVERY: Duration = Duration::from_secs(10);

/// Keeps the metric of the certificates' ends current.
pub async fn watch(node: Node) {
    loop {
        measure(&node);
        tokio::time::sleep(MEASURED_EVERY).await;
    }
}

/// Updates the metric of when the certificates of the settings end. The files are read, and the service reloads them when they change.
fn measure(node: &Node) {
    let settings = &node.settings;
    let all = settings.tls.files().into_iter().chain(settings.portal.certificates().iter().cloned()).chain(settings.http.admin_files());
    for files in all {
        let file = files.certificate.display().to_string();
        let Ok(certificate) = Certificate::load(files) else { continue };
        let current = certificate.current();
        let parsed = current.cert.first().and_then(|der| X509Certificate::from_der(der).ok());
        if let Some((_, parsed)) = parsed {
            let ends = parsed.validity().not_after.timestamp();
            node.metrics.certificate_ends.get_or_create(&CertificateLabels { file }).set(ends);
        }
    }
}

fn examine_files(files: PairFiles, mend: &str, mode: Mode, now: DateTime<Utc>) -> Vec<Check> {
    match Certificate::load(files) {
        Ok(certificate) => inspect(&certificate.current().cert, webpki_roots::TLS_SERVER_ROOTS, mode, now),
        Err(error) => vec![Check::bad("certificate", error.to_string(), mend)],
    }
}

/// Checks that every host name of merchants' portals has a certificate, if the portal is served over TLS.
pub async fn examine_hosts(node: &Node) -> Option<Check> {
    let (portal, tls) = (&node.settings.portal, &node.settings.tls);
    let files = if portal.listen().is_some() { portal.own_certificates(tls) } else { portal.public_certificates(tls) };
    let certificates: Vec<Certificate> = files.into_iter().filter_map(|files| Certificate::load(files).ok()).collect();
    // The database and the certificates have checks of their own.
    let hosts = each_cell::each(node, portals::list_all_hosts).await.ok()?.concat();
    if hosts.is_empty() || certificates.is_empty() {
        return None;
    }
    let bare: Vec<&str> = hosts.iter().map(String::as_str).filter(|host| !certificates.iter().any(|one| one.is_for(host))).collect();
    Some(if bare.is_empty() {
        Check::good("portal hosts", format!("{} with a certificate", hosts.len()))
    } else {
        let found = format!("no certificate is valid for {}", bare.join(", "));
        Check::bad(
            "portal hosts",
            found,
            "add certificates for them to portal.certificates, or remove them with `backhaul portal remove-host`",
        )
    })
}

/// Checks that credentials which are bound to client certificates can be used, if there are any.
pub async fn examine_bound(node: &Node) -> Option<Check> {
    // The database has a check of its own.
    let bound = each_cell::sum(node, |store| certificates::count_bound(store, node.now())).await.ok().filter(|bound| *bound > 0)?;
    let found = format!("{bound} credentials are bound to client certificates");
    Some(if node.settings.tls.client_certificates {
        Check::good("client certificates", format!("{found}, and callers are asked for one"))
    } else {
        Check::bad(
            "client certificates",
            format!("{found}, but callers are not asked for one, so they are all refused"),
            "set tls.client_certificates = true, with TLS terminated by this process; or issue them credentials without a certificate",
        )
    })
}

/// Checks a chain: its names, its validity, and that it ends in one of `anchors`.
fn inspect(chain: &[CertificateDer<'_>], anchors: &[TrustAnchor<'_>], mode: Mode, now: DateTime<Utc>) -> Vec<Check> {
    let Some((der, intermediates)) = chain.split_first() else { return Vec::new() };
    let Ok((_, certificate)) = X509Certificate::from_der(der) else {
        return vec![Check::bad("certificate", "the certificate cannot be parsed", "have the authority issue a new one")];
    };
    let (from, to) = (time(certificate.validity().not_before.timestamp()), time(certificate.validity().not_after.timestamp()));
    // Verify at a time when the certificate is valid: today's validity has its own check.
    let root = verify(der, intermediates, anchors, now.clamp(from, to.max(from)));
    vec![
        Check::good("certificate", format!("for {}; the private key matches", names(&certificate).join(", "))),
        validity(from, to, now),
        authority(root, &certificate, mode),
    ]
}

fn validity(from: DateTime<Utc>, to: DateTime<Utc>, now: DateTime<Utc>) -> Check {
    let mend = "renew the certificate; the service reloads its files without a restart";
    if now < from {
        Check::bad("validity", format!("not valid before {from:?}"), "wait until then, or correct this machine's clock")
    } else if now > to {
        Check::bad("validity", format!("expired at {to:?}"), mend)
    } else if to - now < RENEW_BEFORE {
        Check::bad("validity", format!("expires at {to:?}, in less than {} days", RENEW_BEFORE.num_days()), mend)
    } else {
        Check::good("validity", format!("valid until {to:?}"))
    }
}

fn authority(root: Result<String, webpki::Error>, certificate: &X509Certificate<'_>, mode: Mode) -> Check {
    match (root, mode) {
        (Ok(root), _) => Check::good("authority", format!("public; clients must trust the root {root}")),
        (Err(why), Mode::Sandbox) => {
            let found = format!("not public ({why:?}); give clients the root certificate of {}", certificate.issuer());
            Check::good("authority", found)
        }
        (Err(why), Mode::Production) => Check::bad(
            "authority",
            format!("the chain of {} does not end in a public root ({why:?})", certificate.issuer()),
            "use a certificate of a public authority, and append its intermediate certificates to the certificate's file",
        ),
    }
}

/// Verifies the chain at `now`, and returns the name of its root.
fn verify(
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    anchors: &[TrustAnchor<'_>],
    now: DateTime<Utc>,
) -> Result<String, webpki::Error> {
    let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms.all;
    let now = UnixTime::since_unix_epoch((now - DateTime::UNIX_EPOCH).to_std().unwrap_or_default());
    let certificate = EndEntityCert::try_from(certificate)?;
    let path = certificate.verify_for_usage(algorithms, anchors, intermediates, now, KeyUsage::server_auth(), None, None)?;
    Ok(name(&path.anchor().subject))
}

/// The name of a root. A trust anchor holds the parts of the name without the enclosing sequence.
fn name(mut subject: &[u8]) -> String {
    let mut parts = Vec::new();
    while let Ok((rest, part)) = RelativeDistinguishedName::from_der(subject) {
        parts.push(part);
        subject = rest;
    }
    X509Name::new(parts, &[]).to_string()
}

/// The names that a certificate is for.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let names = certificate.subject_alternative_name().ok().flatten().into_iter().flat_map(|names| &names.value.general_names);
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match <[u8; 4]>::try_from(*bytes) {
            Ok(address) => Some(std::net::Ipv4Addr::from(address).to_string()),
            Err(_) => <[u8; 16]>::try_from(*bytes).ok().map(|address| std::net::Ipv6Addr::from(address).to_string()),
        },
        _ => None,
    });
    names.collect()
}

fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};

    use super::*;

    /// The checks, at `time`, of a certificate that is valid in January 2026, and whose root is `known` or not.
    fn checked(time: &str, mode: Mode, known: bool) -> Vec<(bool, String)> {
        let authority = |name: &str| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            (params, KeyPair::generate().expect("a key"))
        };
        let ((root, root_key), (issuing, issuing_key)) = (authority("Example Root"), authority("Example Issuing"));
        let root = CertifiedIssuer::self_signed(root, root_key).expect("a root");
        let issuing = CertifiedIssuer::signed_by(issuing, issuing_key, &root).expect("an intermediate");
        let mut params = CertificateParams::new(vec!["api.example.com".to_owned()]).expect("a name");
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2026, 2, 1));
        let certificate = params.signed_by(&KeyPair::generate().expect("a key"), &issuing).expect("a certificate");
        let anchors = if known { vec![webpki::anchor_from_trusted_cert(root.der()).expect("an anchor")] } else { Vec::new() };
        let chain = [certificate.der().clone(), issuing.der().clone()];
        let checks = inspect(&chain, &anchors, mode, time.parse().expect("a time"));
        checks.into_iter().map(|check| (check.ok, check.found)).collect()
    }

    #[test]
    fn a_certificate_of_a_known_authority_names_the_root_that_callers_need() {
        let checks = checked("2026-01-10T00:00:00Z", Mode::Production, true);
        let right = [
            "for api.example.com; the private key matches",
            "valid until 2026-02-01T00:00:00Z",
            "public; clients must trust the root CN=Example Root",
        ];
        assert_eq!(checks, right.map(|found| (true, found.to_owned())));
    }

    #[test]
    fn a_certificate_is_to_be_renewed_two_weeks_before_its_end() {
        for (time, ok, found) in [
            ("2025-12-31T23:59:59Z", false, "not valid before 2026-01-01T00:00:00Z"),
            ("2026-01-18T00:00:00Z", true, "valid until 2026-02-01T00:00:00Z"),
            ("2026-01-18T00:00:01Z", false, "expires at 2026-02-01T00:00:00Z, in less than 14 days"),
            ("2026-02-01T00:00:01Z", false, "expired at 2026-02-01T00:00:00Z"),
        ] {
            let checks = checked(time, Mode::Production, true);
            assert_eq!(checks[1], (ok, found.to_owned()));
            assert!(checks[2].0, "the authority does not depend on the time: {checks:?}");
        }
    }

    #[test]
    fn an_authority_that_nobody_knows_will_do_for_a_sandbox_only() {
        let time = "2026-01-10T00:00:00Z";
        let (ok, found) = checked(time, Mode::Sandbox, false).remove(2);
        assert!(ok && found.contains("give clients the root certificate of CN=Example Issuing"), "{found}");
        let (ok, found) = checked(time, Mode::Production, false).remove(2);
        assert!(!ok && found.contains("UnknownIssuer"), "{found}");
    }

    #[test]
    fn the_names_of_public_roots_can_be_read() {
        for anchor in webpki_roots::TLS_SERVER_ROOTS {
            let name = name(&anchor.subject);
            assert!(name.contains("CN=") || name.contains("OU="), "{name:?}");
        }
    }
}
