//! Endpoints as everybody sees them: the API, the command line and the console. The state of an endpoint comes from here alone.

use domain::id::MerchantId;
use domain::messages::delivery::Schedule;
use hyper::StatusCode;
use rustls::pki_types::CertificateDer;
use store::Failed;
use store::messages::endpoints::{self as kept, Endpoint, EndpointClient};
use store::messages::health::{self, Health};
use wire::messages::message::{EndpointCertificate, EndpointOut, EndpointState, LastAnswer};
use wire::time;

use crate::delivery::Delivery;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::stored::Secrets;
use crate::platform::client_certificate::{ClientCertificate, subject_of};

/// The state of an endpoint.
pub(crate) const fn state(endpoint: &Endpoint, health: Option<&Health>) -> EndpointState {
    match health {
        _ if endpoint.paused_at.is_some() => EndpointState::Paused,
        Some(Health { failing: true, .. }) => EndpointState::Failing,
        Some(Health { last_call: Some(_), .. }) => EndpointState::Healthy,
        Some(Health { last_call: None, .. }) | None => EndpointState::Untried,
    }
}

/// A state in a word, as in JSON.
pub(crate) const fn word(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Untried => "untried",
        EndpointState::Healthy => "healthy",
        EndpointState::Failing => "failing",
        EndpointState::Paused => "paused",
    }
}

/// An answer in words: a status with its name, or what happened instead and why.
pub(crate) fn answer_in_words(outcome: &str, reason: Option<&str>) -> String {
    let status = outcome.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    let told = match status.and_then(|status| status.canonical_reason()) {
        Some(name) => format!("{outcome} {name}"),
        None => outcome.to_owned(),
    };
    match reason {
        Some(reason) => format!("{told}: {reason}"),
        None => told,
    }
}

/// The schedule of an endpoint's retries.
pub(crate) fn schedule(endpoint: &Endpoint) -> Schedule {
    endpoint.waits.as_deref().and_then(|waits| Schedule::of_stored(waits).ok()).unwrap_or_default()
}

/// The client certificate that an endpoint is presented.
pub(crate) fn certificate(client: &EndpointClient) -> Option<EndpointCertificate> {
    let first = CertificateDer::from(client.chain.first()?.as_slice());
    let ClientCertificate { fingerprint, expires_at } = ClientCertificate::read(&first)?;
    let (subject, sha256) = (subject_of(&first)?, fingerprint.to_string());
    Some(EndpointCertificate { subject, sha256, expires_at: time::write(expires_at) })
}

/// The endpoints of a merchant with their health, by interface.
pub(crate) async fn list(delivery: &Delivery, merchant: MerchantId) -> Result<Vec<EndpointOut>, Failed> {
    let health = health::endpoints(delivery.store(merchant), merchant, delivery.now()).await?;
    let kept = kept::list(delivery.store(merchant), merchant).await?;
    let shown = kept.into_iter().map(|endpoint| {
        let health = health.iter().find(|health| health.endpoint == endpoint.id);
        show(delivery, merchant, endpoint, health)
    });
    Ok(shown.collect())
}

fn show(delivery: &Delivery, merchant: MerchantId, endpoint: Endpoint, health: Option<&Health>) -> EndpointOut {
    let (authentication, token_url) = match Secrets::open(delivery, merchant, &endpoint).map(|secrets| secrets.authentication) {
        Ok(Authentication::OAuth(oauth)) => ("oauth", Some(oauth.token_url)),
        Ok(authentication) => (authentication.word(), None),
        Err(_) => ("unreadable", None),
    };
    let is_asked = endpoint.interface.parse().is_ok_and(domain::messages::message::Interface::is_asked);
    let waits = if is_asked { Vec::new() } else { schedule(&endpoint).waits().iter().map(chrono::TimeDelta::num_seconds).collect() };
    EndpointOut {
        state: state(&endpoint, health),
        last_answer: health.and_then(|health| health.last_call.as_ref()).map(|call| LastAnswer {
            at: time::write(call.at),
            outcome: call.outcome.clone(),
            reason: call.reason.clone(),
        }),
        last_success_at: health.and_then(|health| health.last_success_at).map(time::write),
        failing_since: health.and_then(|health| health.failing_since).map(time::write),
        next_attempt_at: health.and_then(|health| health.next_attempt_at).map(time::write),
        last_success_hour: health.and_then(|health| health.last_success).map(time::write),
        last_failure_hour: health.and_then(|health| health.last_failure).map(time::write),
        owed: health.map_or(0, |health| health.owed),
        past_due: health.map_or(0, |health| health.past_due),
        failed: health.map_or(0, |health| health.failed),
        client_certificate: endpoint.client.as_ref().and_then(certificate),
        authentication: authentication.to_owned(),
        token_url,
        slots: endpoint.slots,
        per_second: endpoint.per_second,
        waits,
        changed_at: time::write(endpoint.changed_at),
        interface: endpoint.interface,
        url: endpoint.url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_words() {
        assert_eq!(answer_in_words("503", None), "503 Service Unavailable");
        assert_eq!(answer_in_words("599", None), "599");
        assert_eq!(answer_in_words("unreachable", Some("the connection was refused")), "unreachable: the connection was refused");
        assert_eq!(answer_in_words("200", Some("the answer is no order")), "200 OK: the answer is no order");
    }
}
