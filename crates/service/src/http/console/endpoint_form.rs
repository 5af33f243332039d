//! The form of an endpoint: what was typed, and the change that it asks for.

use domain::messages::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use store::messages::endpoints::Endpoint;

use crate::delivery::secrets::authentication::{Authentication, ExtraHeader, OAuth, Style};
use crate::flow::messages::configure_endpoint::{CertificateChange, EndpointChange};

/// The form of an endpoint. An empty field keeps its value.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) url: String,
    pub(super) authentication: String,
    pub(super) user: String,
    pub(super) secret: SecretString,
    pub(super) header: String,
    pub(super) extra_name: String,
    pub(super) extra_value: SecretString,
    pub(super) token_url: String,
    pub(super) scope: String,
    pub(super) client_certificate: String,
    pub(super) client_key: SecretString,
    pub(super) remove_certificate: Option<String>,
    pub(super) slots: String,
    pub(super) per_second: String,
    pub(super) waits: String,
    pub(super) version_name: String,
    pub(super) version_value: String,
    pub(super) send_waiting: Option<String>,
    /// The secret, sealed by the preview.
    pub(super) sealed: String,
    /// The value of the header beside the token, sealed by the preview.
    pub(super) sealed_extra: String,
    /// The private key, sealed by the preview.
    pub(super) sealed_key: String,
    /// Set by the preview.
    pub(super) sure: Option<String>,
}

impl Settings {
    pub(super) fn sends_waiting(&self) -> bool {
        self.send_waiting.is_some()
    }

    /// Everything that was typed, but for secrets.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let fields = [
            ("url", &self.url),
            ("authentication", &self.authentication),
            ("user", &self.user),
            ("header", &self.header),
            ("extra_name", &self.extra_name),
            ("token_url", &self.token_url),
            ("scope", &self.scope),
            ("client_certificate", &self.client_certificate),
            ("slots", &self.slots),
            ("per_second", &self.per_second),
            ("waits", &self.waits),
            ("version_name", &self.version_name),
            ("version_value", &self.version_value),
        ];
        let typed = fields.into_iter().map(|(name, value)| (name, value.clone()));
        let boxes = [("send_waiting", &self.send_waiting), ("remove_certificate", &self.remove_certificate)];
        typed.chain(boxes.into_iter().filter_map(|(name, ticked)| Some((name, ticked.clone()?)))).collect()
    }
}

/// The settings of an endpoint as the form shows them. Secrets are not among them.
pub(super) fn present(endpoint: &Endpoint) -> Settings {
    let waits = endpoint.waits.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (version_name, version_value) = endpoint.version_header.clone().unwrap_or_default();
    Settings {
        url: endpoint.url.clone(),
        slots: endpoint.slots.to_string(),
        per_second: endpoint.per_second.to_string(),
        waits,
        version_name,
        version_value,
        ..Settings::default()
    }
}

/// The change that a form asks for, or what is wrong with the form.
pub(super) fn change(typed: &Settings, interface: Interface) -> Result<EndpointChange, String> {
    let count = |text: &str, what| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{what} must be a whole number.")),
    };
    let waits = match typed.waits.trim() {
        _ if interface.is_asked() => None,
        "" => Some(Vec::new()),
        waits => {
            let waits: Result<Vec<i64>, _> = waits.split(',').map(|wait| wait.trim().parse()).collect();
            Some(waits.map_err(|_| "Write the waits as five whole numbers of seconds, such as 5,40,320,2560,20480.".to_owned())?)
        }
    };
    let version = (typed.version_name.trim(), typed.version_value.trim());
    Ok(EndpointChange {
        url: given(&typed.url),
        authentication: authentication(typed)?,
        client_certificate: client_certificate(typed)?,
        slots: count(&typed.slots, "The calls at once")?,
        per_second: count(&typed.per_second, "The calls a second")?,
        waits,
        version_header: (!version.0.is_empty()).then(|| (version.0.to_owned(), version.1.to_owned())),
        send_waiting: typed.send_waiting.is_some(),
    })
}

fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn authentication(typed: &Settings) -> Result<Option<Authentication>, String> {
    let secret = || Some(typed.secret.clone()).filter(|secret| !secret.expose_secret().is_empty());
    let secret = || secret().ok_or_else(|| "This authentication needs a secret.".to_owned());
    let user = || given(&typed.user).ok_or_else(|| "This authentication needs a user name or client id.".to_owned());
    let oauth = |style, client_secret| {
        Ok::<_, String>(Authentication::OAuth(OAuth {
            token_url: given(&typed.token_url).ok_or("OAuth needs the URL that issues tokens.")?,
            client_id: user()?,
            client_secret,
            scope: given(&typed.scope),
            style,
            extra: extra(typed)?,
        }))
    };
    Ok(Some(match typed.authentication.as_str() {
        "none" => Authentication::None,
        "bearer" => Authentication::Bearer(secret()?),
        "basic" => Authentication::Basic { user: user()?, password: secret()? },
        "api-key" => {
            let header = given(&typed.header).unwrap_or_else(|| "X-Api-Key".to_owned());
            Authentication::ApiKey { header, value: secret()? }
        }
        "oauth-json" => oauth(Style::Json, secret()?)?,
        "oauth-form" => oauth(Style::Form, secret()?)?,
        "oauth-basic" => oauth(Style::Basic, secret()?)?,
        "oauth-tls" => oauth(Style::Certificate, SecretString::default())?,
        _ => return Ok(None),
    }))
}

fn client_certificate(typed: &Settings) -> Result<Option<CertificateChange>, String> {
    match (given(&typed.client_certificate), typed.client_key.expose_secret().trim()) {
        // A key in this field would be on the next page.
        (Some(certificate), _) if certificate.contains("PRIVATE KEY") => {
            Err("The certificate contains a private key as well. Put that into its own field.".to_owned())
        }
        (None, "") => Ok(typed.remove_certificate.as_ref().map(|_| CertificateChange::Removed)),
        (Some(certificate), key) if !key.is_empty() => {
            let key = key.as_bytes().to_vec().into();
            Ok(Some(CertificateChange::Files { certificate: certificate.into_bytes(), key }))
        }
        _ => Err("A client certificate needs its private key, and a key its certificate.".to_owned()),
    }
}

fn extra(typed: &Settings) -> Result<Option<ExtraHeader>, String> {
    match (given(&typed.extra_name), typed.extra_value.expose_secret()) {
        (None, "") => Ok(None),
        (Some(name), value) if !value.is_empty() => Ok(Some(ExtraHeader { name, value: value.into() })),
        _ => Err("A header beside the token needs a name and a value.".to_owned()),
    }
}
