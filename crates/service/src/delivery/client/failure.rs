//! Turns connection errors into outcomes that people understand. They never quote anything that was sent.

use std::error::Error;
use std::io::{self, ErrorKind};

use domain::messages::delivery::Outcome;
use hyper_util::client::legacy;
use rustls::{AlertDescription, CertificateError};

use crate::delivery::guard::NotAllowed;

/// The reasons a connection was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoConnection {
    /// The guard does not allow it.
    #[error(transparent)]
    Refused(#[from] NotAllowed),
    #[error("{0}")]
    Unreachable(&'static str),
}

/// The outcome of a call that got no answer.
pub(super) fn explain(error: &legacy::Error) -> Outcome {
    let unreachable = |why: &str| Outcome::Unreachable(why.to_owned());
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(why) = error.downcast_ref::<NoConnection>() {
            return match why {
                NoConnection::Refused(refusal) => Outcome::Refused(refusal.to_string()),
                NoConnection::Unreachable(why) => unreachable(why),
            };
        }
        if let Some(why) = error.downcast_ref::<io::Error>() {
            return unreachable(explain_io(why));
        }
        if let Some(why) = error.downcast_ref::<hyper::Error>() {
            if why.is_incomplete_message() {
                return unreachable("the connection was closed without an answer");
            }
            if why.is_parse() {
                return unreachable("the answer is not HTTP");
            }
        }
        cause = error.source();
    }
    unreachable("the connection broke")
}

/// True if a reason that this module gave is about TLS.
pub(crate) fn is_of_tls(why: &str) -> bool {
    why.starts_with("TLS: ")
}

/// Describes an error of the network or of the TLS handshake.
pub(crate) fn explain_io(error: &io::Error) -> &'static str {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return explain_tls(error);
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => "the connection was refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => "the connection was reset",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "there is no route to the address",
        ErrorKind::TimedOut => "connecting timed out",
        ErrorKind::UnexpectedEof => "the connection was closed unexpectedly",
        _ => "the connection failed",
    }
}

fn explain_tls(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => "TLS: the certificate is from an unknown authority",
        rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "TLS: the certificate has expired"
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }) => {
            "TLS: the certificate is for another name"
        }
        rustls::Error::InvalidCertificate(_) => "TLS: the certificate cannot be trusted",
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => "TLS: the peer requires a client certificate",
        // Only a client's certificate can be the matter: the alert comes from the server.
        rustls::Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
            | AlertDescription::AccessDenied,
        ) => "TLS: the peer refused the client certificate, or requires one",
        rustls::Error::AlertReceived(_) => "TLS: the peer aborted the handshake",
        _ => "TLS: the handshake failed",
    }
}
