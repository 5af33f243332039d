//! The rules for what an endpoint's settings may be, and for what has to be given again.

use domain::messages::delivery::Schedule;
use domain::messages::message::Interface;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use store::messages::endpoints::Endpoint;
use url::Url;

use super::change::{CertificateChange, ConfigureEndpointError, EndpointChange};
use crate::app::App;
use crate::delivery::secrets::authentication::{Authentication, is_reserved};
use crate::delivery::secrets::client_pair::ClientPair;
use crate::delivery::secrets::stored::Secrets;
use crate::delivery::variants::template;

/// Applies a change to an endpoint and its secrets, or says why it cannot be made.
pub(super) fn apply(
    app: &App,
    interface: Interface,
    endpoint: &mut Endpoint,
    secrets: &mut Secrets,
    change: EndpointChange,
) -> Result<(), ConfigureEndpointError> {
    let EndpointChange { url, authentication, client_certificate, slots, per_second, waits, version_header, send_waiting: _ } = change;
    if let Some(url) = url.as_deref()
        && origin(url) != origin(&endpoint.url)
    {
        let elsewhere = origin(url).unwrap_or_default();
        if authentication.is_none() && !matches!(secrets.authentication, Authentication::None) {
            return Err(ConfigureEndpointError::CredentialsNeeded(elsewhere));
        }
        if client_certificate.is_none() && secrets.client.is_some() {
            return Err(ConfigureEndpointError::CertificateNeeded(elsewhere));
        }
    }
    // A test holds for the address, the authentication and the client certificate that were tested.
    if url.as_ref().is_some_and(|url| *url != endpoint.url) || authentication.is_some() || client_certificate.is_some() {
        endpoint.tested_at = None;
    }
    if let Some(url) = url {
        app.client.guard().check_url(&url)?;
        if interface.is_asked() {
            template::check(app.client.guard(), &url)?;
        }
        endpoint.url = url;
    }
    if let Some(authentication) = authentication {
        authentication.check(app.client.guard())?;
        secrets.authentication = authentication;
    }
    match client_certificate {
        None => {}
        Some(CertificateChange::Removed) => secrets.client = None,
        Some(CertificateChange::Files { certificate, key }) => {
            secrets.client = Some(ClientPair::from_pem(&certificate, key.expose_secret(), app.clock.wall())?);
        }
    }
    if secrets.client.is_some() && !endpoint.url.is_empty() && !endpoint.url.starts_with("https:") {
        return Err(ConfigureEndpointError::CertificateWithoutTls);
    }
    if secrets.client.is_none() && secrets.authentication.needs_certificate() {
        return Err(ConfigureEndpointError::NoCertificate);
    }
    endpoint.slots = slots.unwrap_or(endpoint.slots);
    endpoint.per_second = per_second.unwrap_or(endpoint.per_second);
    if !(1..=1_000).contains(&endpoint.slots) || !(1..=100_000).contains(&endpoint.per_second) {
        return Err(ConfigureEndpointError::Limits);
    }
    if let Some(waits) = waits {
        if interface.is_asked() {
            return Err(ConfigureEndpointError::NoRetries(interface));
        }
        endpoint.waits = match waits.as_slice() {
            [] => None,
            waits => Schedule::of_seconds(waits).map(|_| Some(waits.to_vec()))?,
        };
    }
    if let Some((name, value)) = version_header {
        let fit = name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(&value).is_ok();
        endpoint.version_header = Some(fit.then_some((name, value)).ok_or(ConfigureEndpointError::VersionHeader)?);
    }
    if let Some((name, _)) = &endpoint.version_header
        && name.parse().is_ok_and(|parsed: HeaderName| is_reserved(&parsed) || is_of_authentication(&parsed, &secrets.authentication))
    {
        return Err(ConfigureEndpointError::ReservedHeader(name.clone()));
    }
    endpoint.changed_at = app.now();
    Ok(())
}

/// The scheme, host and port of a URL: whoever answers there is given the credentials.
fn origin(url: &str) -> Option<String> {
    Url::parse(url).ok().map(|url| url.origin().ascii_serialization())
}

/// True if the authentication is in this header.
fn is_of_authentication(name: &HeaderName, authentication: &Authentication) -> bool {
    match authentication {
        Authentication::ApiKey { header, .. } => *name == AUTHORIZATION || name.as_str().eq_ignore_ascii_case(header),
        Authentication::None | Authentication::Bearer(_) | Authentication::Basic { .. } | Authentication::OAuth(_) => {
            *name == AUTHORIZATION
        }
    }
}
