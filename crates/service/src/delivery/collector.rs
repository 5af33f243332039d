//! The operator's collector of traces, which is sent spans over OTLP.

use std::time::Duration;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use wire::node::otlp::{self, Resource, Span};

use super::client::{Client, NoClient, Request};
use super::guard::{NotAllowed, Target};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// The target of exports, with a client that can call nothing else.
pub struct Collector {
    client: Client,
    target: Target,
    deadline: Duration,
}

/// The reasons a configured collector cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoCollector {
    #[error("traces.endpoint cannot be called: {0}")]
    Url(#[from] NotAllowed),
    #[error(transparent)]
    Client(#[from] NoClient),
}

impl Collector {
    /// The collector from the settings, if one is configured. Its URL is the operator's own, so it may be on this machine.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Option<Self>, NoCollector> {
        let Some(url) = settings.traces.endpoint() else { return Ok(None) };
        let target = Target::parse(url)?;
        let client = Client::only_to(&target, settings, clock)?;
        Ok(Some(Self { client, target, deadline: settings.traces.timeout() }))
    }

    /// Sends spans once. It always returns with an outcome, at the deadline at the latest.
    pub async fn send(&self, resource: &Resource<'_>, spans: &[Span]) -> Outcome {
        let body = match otlp::write(resource, spans) {
            Ok(body) => Bytes::from(body),
            Err(_) => return Outcome::Refused("the spans cannot be written as JSON".to_owned()),
        };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let request = self.client.request_to(Method::POST, Ok(self.target.clone()));
        self.client.call(Request { headers, body, deadline: self.deadline, ..request }).await.outcome
    }
}
