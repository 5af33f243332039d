//! What follows from removing an endpoint or changing its signing secret, in words.

use domain::messages::message::Interface;
use store::merchants::accounts::Merchant;
use store::messages::{endpoints, health};
use wire::time;

use crate::app::App;

/// What removing the endpoint does; none if there is none, which is refused later.
pub(super) async fn removal(app: &App, merchant: &Merchant, interface: Interface) -> anyhow::Result<Option<String>> {
    let Some(endpoint) = endpoints::find_for(app.store(merchant.id), merchant.id, interface).await? else { return Ok(None) };
    let (handle, url) = (&merchant.handle, &endpoint.url);
    let follows = if interface.is_asked() {
        "shoppers are offered no exchanges until another one is set.".to_owned()
    } else {
        let healths = health::endpoints(app.store(merchant.id), merchant.id, app.now()).await?;
        let owed = healths.iter().find(|health| health.endpoint == endpoint.id).map_or(0, |health| health.owed);
        let owed = match owed {
            0 => "no message is owed to it now".to_owned(),
            1 => "1 message that is owed to it goes to the failure queue".to_owned(),
            owed => format!("{owed} messages that are owed to it go to the failure queue"),
        };
        format!("{owed}, and later ones are kept unsent until another one is set.")
    };
    Ok(Some(format!(
        "Removing the endpoint {interface} of {handle} ({url}): {follows} Its secrets are forgotten: a new endpoint gets a new signing \
         secret. It cannot be undone; `backhaul endpoint pause` stops sending for a while."
    )))
}

/// What a new signing secret does; none if there is no endpoint or nothing to sign, which is refused later.
pub(super) async fn rotation(app: &App, merchant: &Merchant, interface: Interface) -> anyhow::Result<Option<String>> {
    let found = endpoints::find_for(app.store(merchant.id), merchant.id, interface).await?;
    let Some(endpoint) = found.filter(|_| !interface.is_asked()) else { return Ok(None) };
    let overlap = match endpoint.previous_secret.as_ref().filter(|(_, until)| *until > app.now()) {
        Some((_, until)) => format!(
            "The secret before the present one, which would sign until {}, stops signing at once; the present one signs for 24 hours more",
            time::write(*until)
        ),
        None => "Messages are signed with the present secret too for 24 hours".to_owned(),
    };
    Ok(Some(format!(
        "A new signing secret for the endpoint {interface} of {} is shown once, to be sent to the merchant over a secure channel. \
         {overlap}. It cannot be undone.",
        merchant.handle
    )))
}
