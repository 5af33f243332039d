//! Somebody looks at a shopper's name and address. The audit records who did, and commits before anything is shown.

use domain::id::MerchantId;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::orders::snapshots;
use wire::orders::order::{OrderIn, read_stored};
use wire::shape::Text;

use crate::app::App;

/// A shopper as the order names them; what the merchant did not send is empty. It has no `Debug` because it is personal.
#[derive(Default)]
pub struct Shopper {
    pub name: String,
    pub email: String,
    pub phone: String,
    /// The lines of the address that the order went to.
    pub address: Vec<String>,
}

/// The shopper of an order. `None` if the merchant has no such order, or it cannot be read.
pub async fn view_shopper(app: &App, actor: &str, merchant: MerchantId, order: &str) -> Result<Option<Shopper>, Failed> {
    let mut tx = app.begin(merchant).await?;
    let Some(snapshot) = snapshots::snapshot(&mut tx, order).await? else { return Ok(None) };
    let Some(shopper) = read_stored(&snapshot).map(|order| shopper(&order)) else { return Ok(None) };
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "shopper.viewed", detail: order, done_at: app.now() }).await?;
    app.commit(tx).await?;
    Ok(Some(shopper))
}

fn shopper(order: &OrderIn<'_>) -> Shopper {
    let text = |text: &Option<Text<'_>>| text.as_ref().map(|Text(text)| text.trim().to_owned()).unwrap_or_default();
    let joined = |words: [String; 2]| words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let address = order.shipping_address.as_ref().or(order.billing_address.as_ref());
    let address = address.map(|to| {
        let place = joined([text(&to.city), joined([text(&to.state), text(&to.zip_code)])]);
        [text(&to.name), text(&to.street1), place, text(&to.country_code)].into_iter().filter(|line| !line.is_empty()).collect()
    });
    Shopper {
        name: joined([text(&order.customer.first_name), text(&order.customer.last_name)]),
        email: text(&order.customer.email),
        phone: text(&order.customer.phone),
        address: address.unwrap_or_default(),
    }
}
