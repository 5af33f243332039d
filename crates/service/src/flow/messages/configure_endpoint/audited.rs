//! An endpoint as the audit trail shows it: what is secret as a fingerprint.

use secrecy::ExposeSecret as _;
use serde_json::Value;
use store::messages::endpoints::Endpoint;
use wire::merchants::audit::Changes;

use crate::app::App;
use crate::delivery::secrets::authentication::NoAuthentication;
use crate::delivery::secrets::client_pair::ClientPair;
use crate::delivery::secrets::stored::Secrets;

/// The fields of an endpoint in the audit trail, by name.
pub(super) struct Audited(Vec<(&'static str, Value)>);

impl Audited {
    /// The fields of an endpoint with its secrets.
    pub(super) fn of(app: &App, endpoint: &Endpoint, secrets: &Secrets) -> Result<Self, NoAuthentication> {
        let authentication = secrets.authentication.to_json()?;
        let header = endpoint.version_header.as_ref().map(|(name, value)| format!("{name}: {value}"));
        let certificate = secrets.client.as_ref().and_then(ClientPair::certificate);
        Ok(Self(vec![
            ("url", url(app, &endpoint.url).into()),
            ("slots", endpoint.slots.into()),
            ("per_second", endpoint.per_second.into()),
            ("waits", endpoint.waits.clone().into()),
            ("version_header", header.into()),
            ("authentication", secrets.authentication.word().into()),
            ("credential", app.fingerprints.audited(&String::from_utf8_lossy(&authentication)).into()),
            ("client_certificate", certificate.map(|certificate| certificate.fingerprint.to_string()).into()),
            ("secret", app.fingerprints.audited(secrets.secret.show().expose_secret()).into()),
        ]))
    }

    /// The fields that differ. An endpoint that is new, or gone, differs in all of them.
    pub(super) fn differing(before: Option<&Self>, after: Option<&Self>) -> Changes {
        let fields = after.or(before).map(|either| either.0.as_slice()).unwrap_or_default();
        let value = |of: Option<&Self>, at: usize| of.and_then(|of| of.0.get(at)).map_or(Value::Null, |(_, value)| value.clone());
        let numbered = fields.iter().enumerate();
        numbered.fold(Changes::default(), |changes, (at, (name, _))| changes.field(name, value(before, at), value(after, at)))
    }
}

/// A URL whose query, in which some systems want a secret, is a fingerprint.
fn url(app: &App, url: &str) -> String {
    match url.split_once('?') {
        Some((address, query)) => format!("{address}?{}", app.fingerprints.audited(query)),
        None => url.to_owned(),
    }
}
