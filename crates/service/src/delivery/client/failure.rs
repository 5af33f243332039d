//! Why a call failed, in a few words for people, and without anything that was sent.

use std::error::Error;
use std::io::{self, ErrorKind};

use domain::messages::delivery::Outcome;
use hyper_util::client::legacy;
use rustls::CertificateError;

use crate::delivery::guard::NotAllowed;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoConnection {
    /// We do not connect there.
    #[error(transparent)]
    Refused(#[from] NotAllowed),
    /// We cannot.
    #[error("{0}")]
    Unreachable(&'static str),
}

/// The outcome of a call that brought no answer.
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
            return unreachable(io_words(why));
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

/// What happened on the network, or in the handshake.
pub(in crate::delivery) fn io_words(error: &io::Error) -> &'static str {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return tls_words(error);
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => "the connection was refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => "the connection was reset",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "no way leads to the address",
        ErrorKind::TimedOut => "no connection in time",
        ErrorKind::UnexpectedEof => "the connection was closed in the middle",
        _ => "the connection failed",
    }
}

fn tls_words(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => "TLS: the certificate is of an unknown authority",
        rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "TLS: the certificate has expired"
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }) => {
            "TLS: the certificate is for another name"
        }
        rustls::Error::InvalidCertificate(_) => "TLS: the certificate cannot be trusted",
        rustls::Error::AlertReceived(_) => "TLS: the peer broke the handshake off",
        _ => "TLS: no handshake",
    }
}
