//! A change of an endpoint, and the reasons that it cannot be made.

use domain::messages::delivery::NoSchedule;
use domain::messages::message::Interface;
use secrecy::SecretSlice;
use store::Failed;

use crate::delivery::guard::NotAllowed;
use crate::delivery::secrets::authentication::{Authentication, NoAuthentication};
use crate::delivery::secrets::client_pair::NoClientPair;
use crate::delivery::secrets::signature::NoSecret;
use crate::delivery::secrets::stored::Unusable;
use crate::delivery::variants::template::NoTemplate;

/// Changes to an endpoint. Absent fields stay as they are, or get their defaults in a new endpoint.
#[derive(Default)]
pub struct EndpointChange {
    pub url: Option<String>,
    pub authentication: Option<Authentication>,
    pub client_certificate: Option<CertificateChange>,
    /// Concurrent calls.
    pub slots: Option<i32>,
    pub per_second: Option<i32>,
    /// Seconds before each of the five retries. An empty list restores the default schedule.
    pub waits: Option<Vec<i64>>,
    /// The name and the value of the header that carries the API version.
    pub version_header: Option<(String, String)>,
    /// Sends the messages that were written while there was no endpoint.
    pub send_waiting: bool,
}

/// A change of the client certificate that calls to an endpoint present.
pub enum CertificateChange {
    /// The certificate with its intermediates, and its private key, in PEM.
    Files {
        certificate: Vec<u8>,
        key: SecretSlice<u8>,
    },
    Removed,
}

/// The reasons an endpoint cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureEndpointError {
    #[error("the merchant has no endpoint for {0}; add one with `backhaul endpoint set --merchant HANDLE {0}`")]
    NoSuchEndpoint(Interface),
    #[error("a new endpoint needs a URL: give --url, or --base for the default path below it")]
    NoAddress,
    #[error("the URL cannot be called")]
    NotAllowed(#[from] NotAllowed),
    #[error("the URL cannot be used to ask for variants")]
    NoTemplate(#[from] NoTemplate),
    #[error(transparent)]
    Schedule(#[from] NoSchedule),
    #[error("{0} is called while a shopper waits, so calls are never retried; leave out --waits")]
    NoRetries(Interface),
    #[error("{0} is only queried and gets no messages, so none can wait for it; leave out --send-waiting")]
    NothingWaits(Interface),
    #[error("{0} is only queried and gets no messages, so there is nothing to sign")]
    NotSigned(Interface),
    #[error("{0} is only queried and gets no messages; test it with `backhaul endpoint test --merchant HANDLE {0}`")]
    Asked(Interface),
    #[error("an endpoint must have 1 to 1000 concurrent calls, and 1 to 100000 calls per second")]
    Limits,
    #[error("the version header is not a valid HTTP header name and value")]
    VersionHeader,
    #[error(
        "`{0}` cannot be the version header: it is reserved for HTTP, for our signature or for the authentication; choose another name"
    )]
    ReservedHeader(String),
    /// Carries the scheme, host and port of the new URL.
    #[error(
        "the new URL would send the stored credentials to another host, {0}; give them again with --authentication, or `--authentication none`"
    )]
    CredentialsNeeded(String),
    /// Carries the scheme, host and port of the new URL.
    #[error(
        "the new URL would present the stored client certificate to another host, {0}; give it again with --client-certificate and --client-key, or remove it with `--client-certificate \"\"`"
    )]
    CertificateNeeded(String),
    #[error("a client certificate is presented over TLS only; give an https URL, or remove it with `--client-certificate \"\"`")]
    CertificateWithoutTls,
    #[error("OAuth with a client certificate instead of a secret needs one; give --client-certificate and --client-key")]
    NoCertificate,
    #[error(transparent)]
    ClientPair(#[from] NoClientPair),
    #[error("the stored endpoint cannot be used")]
    Unusable(#[from] Unusable),
    #[error(transparent)]
    Authentication(#[from] NoAuthentication),
    #[error(transparent)]
    Secret(#[from] NoSecret),
    #[error(transparent)]
    Failed(#[from] Failed),
}
