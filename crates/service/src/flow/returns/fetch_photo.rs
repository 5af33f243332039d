//! Fetches the photo of an order line: the stored copy, or else from the URL that the merchant's order names.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use domain::id::MerchantId;
use sha2::{Digest as _, Sha256};
use store::Failed;
use store::orders::snapshots;
use store::returns::photos;
use wire::orders::order::read_stored;

use crate::app::App;
use crate::delivery::photos::NoPhoto;

/// A small copy of a photo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    pub jpeg: Vec<u8>,
}

impl Photo {
    /// A strong entity tag, with its quotes.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&self.jpeg)))
    }
}

/// The photo of a line of the merchant's order. `None` if the order, the line or its photo does not exist, if the photo could not be
/// had within the last hour, or if too many are being fetched. Only a URL that stands in the order is ever called.
pub async fn fetch_photo(app: &App, merchant: MerchantId, order: &str, line: &str) -> Result<Option<Photo>, Failed> {
    let Some(url) = image_url(app, merchant, order, line).await? else { return Ok(None) };
    if let Some(stored) = photos::find(app.store(merchant), merchant, &url, app.now()).await? {
        return Ok(shown(stored));
    }
    let Some(_turn) = app.photos.turn(merchant, &url).await else { return Ok(None) };
    // Whoever had the turn before has stored it.
    if let Some(stored) = photos::find(app.store(merchant), merchant, &url, app.now()).await? {
        return Ok(shown(stored));
    }
    let picture = match app.photos.fetch(app, merchant, &url).await {
        Ok(picture) => picture,
        Err(NoPhoto::Busy) => return Ok(None),
        Err(NoPhoto::Failed(why)) => {
            tracing::debug!(%merchant, why, "fetching a photo failed, will retry when it is asked for in an hour");
            Vec::new()
        }
    };
    let mut tx = app.begin(merchant).await?;
    photos::save(&mut tx, &url, &picture, app.now()).await?;
    app.commit(tx).await?;
    Ok(shown(picture))
}

fn shown(picture: Vec<u8>) -> Option<Photo> {
    (!picture.is_empty()).then_some(Photo { jpeg: picture })
}

async fn image_url(app: &App, merchant: MerchantId, order: &str, line: &str) -> Result<Option<String>, Failed> {
    // No stored identifier has a NUL, and PostgreSQL refuses even to compare with one.
    if order.contains('\0') {
        return Ok(None);
    }
    let Some(stored) = snapshots::find(app.store(merchant), merchant, order).await? else { return Ok(None) };
    let sale = read_stored(&stored.snapshot).ok_or(Failed::Internal("a stored order cannot be read"))?.sale();
    Ok(sale.lines.into_iter().find(|sold| sold.identifier == line).and_then(|sold| sold.image_url))
}
