//! The operator checks whether a merchant's endpoints are fit to go live. The check is audited before it begins.

use std::time::Duration;

use domain::id::MerchantId;
use domain::messages::endpoint_check::State;
use domain::messages::message::Interface;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::endpoints::{self, Endpoint};

use crate::app::App;
use crate::delivery::endpoint_check::{Checked, check};

/// The time for all checks: less than a proxy in front of the console waits.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(45);

/// The reasons nothing can be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckEndpointsError {
    #[error("the merchant has no endpoint; add one with `backhaul endpoint set --merchant HANDLE`")]
    NoEndpoint,
    #[error("the merchant has no endpoint for {0}; add one with `backhaul endpoint set --merchant HANDLE {0}`")]
    NoSuchEndpoint(Interface),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Checks the merchant's endpoints side by side, or only that of `wanted`, and calls `done` with each as it ends. Variants are queried
/// for `variant`. An endpoint without a failed check counts as tested.
pub async fn check_endpoints(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    wanted: Option<Interface>,
    variant: &str,
    done: impl Fn(&Checked),
) -> Result<Vec<Checked>, CheckEndpointsError> {
    let (began_at, began) = (app.now(), app.clock.uptime());
    let endpoints = endpoints_to_check(app, merchant, wanted).await?;
    let names: Vec<&str> = endpoints.iter().map(|(interface, _)| interface.as_str()).collect();
    let mut tx = app.begin(merchant).await?;
    let (action, detail) = ("endpoint.checked", names.join(", "));
    audit::record(&mut tx, Entry { id: app.mint(), actor, action, detail: &detail, done_at: began_at }).await?;
    app.commit(tx).await?;

    let ends = began + CHECK_TIMEOUT;
    let checks = endpoints.iter().map(|(interface, endpoint)| check(app, merchant, *interface, endpoint, variant, ends));
    let mut checks: FuturesUnordered<_> = checks.collect();
    let mut all = Vec::with_capacity(endpoints.len());
    while let Some(checked) = checks.next().await {
        done(&checked);
        all.push(checked);
    }
    all.sort_by_key(|checked| Interface::ALL.iter().position(|interface| *interface == checked.interface));

    let sound = all.iter().filter(|checked| checked.count(State::Failed) + checked.count(State::NotChecked) == 0);
    let sound: Vec<_> = sound.map(|checked| checked.endpoint).collect();
    if !sound.is_empty() {
        let mut tx = app.begin(merchant).await?;
        for endpoint in sound {
            endpoints::note_tested(&mut tx, endpoint, began_at, app.now()).await?;
        }
        app.commit(tx).await?;
    }
    Ok(all)
}

async fn endpoints_to_check(
    app: &App,
    merchant: MerchantId,
    wanted: Option<Interface>,
) -> Result<Vec<(Interface, Endpoint)>, CheckEndpointsError> {
    let listed = endpoints::list(app.store(merchant), merchant).await?;
    let listed = listed.into_iter().filter_map(|endpoint| Some((endpoint.interface.parse().ok()?, endpoint)));
    let endpoints: Vec<_> = listed.filter(|(interface, _)| wanted.is_none_or(|wanted| wanted == *interface)).collect();
    match (endpoints.is_empty(), wanted) {
        (false, _) => Ok(endpoints),
        (true, Some(interface)) => Err(CheckEndpointsError::NoSuchEndpoint(interface)),
        (true, None) => Err(CheckEndpointsError::NoEndpoint),
    }
}
