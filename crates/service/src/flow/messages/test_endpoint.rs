//! A successful test of an endpoint is noted with it: a trial message that arrived, or a query that was answered.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Interface;
use store::Tx;
use store::messages::endpoints;
use store::messages::log::written_at;

use super::configure_endpoint::{ConfigureEndpointError, endpoint_to_ask};
use crate::app::App;
use crate::delivery::reaction::{Ending, Followed, How, Reacting, Reaction};
use crate::delivery::variants::{self, Trial};

/// Notes with the endpoint that a test message has arrived.
pub struct TestAnswered;

impl Reaction for TestAnswered {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            if let (How::Delivered(..), Some(endpoint)) = (&ending.how, endpoints::of_delivery(tx, ending.message).await?) {
                endpoints::note_tested(tx, endpoint, written_at(ending.message), ending.at).await?;
            }
            Ok(Followed::Settled)
        })
    }
}

/// Queries the endpoint the way a shopper's request does. The test is audited, and noted if the answer can be used.
pub async fn ask_endpoint(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
    identifier: &str,
) -> Result<Result<Trial, variants::Failure>, ConfigureEndpointError> {
    let asked_at = app.now();
    let endpoint = endpoint_to_ask(app, actor, merchant, interface).await?;
    let trial = variants::trial(app, merchant, &endpoint, identifier).await;
    if trial.as_ref().is_ok_and(|trial| trial.outcome.is_success() && trial.listed.is_some()) {
        note_tested(app, merchant, endpoint.id, asked_at).await?;
    }
    Ok(trial)
}

async fn note_tested(app: &App, merchant: MerchantId, endpoint: EndpointId, asked_at: DateTime<Utc>) -> Result<(), ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    endpoints::note_tested(&mut tx, endpoint, asked_at, app.now()).await?;
    Ok(app.commit(tx).await?)
}
