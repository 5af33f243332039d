//! The photos of goods, fetched from the URLs in merchants' orders while a shopper looks at a page.
//!
//! - [`Photos::turn`] lets one caller at a time fetch a photo, so that the others find what it has stored.
//! - [`Photos::fetch`] downloads a photo and makes it small. Few are fetched at once, fewer for one merchant.
//! - One picture is decoded at a time, which bounds memory and leaves the other cores to everybody else.
//!
//! Nothing here is shared between processes. What was fetched is stored by a flow.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::id::MerchantId;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use quick_cache::sync::Cache;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::client::Request;
use super::handle::Delivery;
use crate::platform::metrics::ResultLabels;
use crate::platform::picture::shrink_photo;

/// The photos that are fetched at once, in all and for one merchant.
const AT_ONCE: usize = 8;
const AT_ONCE_OF_ONE: usize = 2;
/// The time to wait until fewer are fetched.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time to fetch a photo and to make it small.
const DEADLINE: Duration = Duration::from_secs(2);
/// The bytes of an answer that are read: 5 MiB, and one more that tells if it goes on.
const MOST_READ: usize = 5 * 1024 * 1024 + 1;
/// The merchants whose places are remembered, and the photos whose turns are. One that is forgotten too early gets more places than
/// it should, or is fetched twice, which does no harm.
const MOST_MERCHANTS: usize = 10_000;
const MOST_TURNS: usize = 1_000;

/// The types that can be shown. Servers that have a picture in several types choose by this.
const TYPES: HeaderValue = HeaderValue::from_static("image/webp, image/jpeg, image/png");

/// The reasons there is no photo.
#[derive(Debug, thiserror::Error)]
pub enum NoPhoto {
    /// This says nothing about the photo.
    #[error("this node is fetching as many photos as it may")]
    Busy,
    #[error("{0}")]
    Failed(String),
}

/// Fetches the photos of all merchants.
pub struct Photos {
    /// By merchant and URL.
    turns: Cache<(MerchantId, String), Arc<Mutex<()>>>,
    places: Semaphore,
    places_of_one: Cache<MerchantId, Arc<Semaphore>>,
    decoder: Arc<Semaphore>,
}

impl Default for Photos {
    fn default() -> Self {
        Self {
            turns: Cache::new(MOST_TURNS),
            places: Semaphore::new(AT_ONCE),
            places_of_one: Cache::new(MOST_MERCHANTS),
            decoder: Arc::new(Semaphore::new(1)),
        }
    }
}

impl Photos {
    /// Waits until nobody else fetches this photo; the turn lasts until the guard is dropped. `None` if it does not come in the time
    /// that a fetch takes.
    pub async fn turn(&self, merchant: MerchantId, url: &str) -> Option<OwnedMutexGuard<()>> {
        let Ok(turns) = self.turns.get_or_insert_with(&(merchant, url.to_owned()), || Ok::<_, Infallible>(Arc::default()));
        timeout(PATIENCE + DEADLINE, turns.lock_owned()).await.ok()
    }

    /// Fetches a photo and makes it small: a JPEG.
    pub async fn fetch(&self, delivery: &Delivery, merchant: MerchantId, url: &str) -> Result<Vec<u8>, NoPhoto> {
        let fetched = self.try_fetch(delivery, merchant, url).await;
        let result = match &fetched {
            Ok(_) => "fetched",
            Err(NoPhoto::Busy) => "busy",
            Err(NoPhoto::Failed(_)) => "failed",
        };
        delivery.metrics.photos.get_or_create(&ResultLabels { result }).inc();
        fetched
    }

    async fn try_fetch(&self, delivery: &Delivery, merchant: MerchantId, url: &str) -> Result<Vec<u8>, NoPhoto> {
        let of_one = self.places_of(merchant);
        // The merchant's comes first, so that a merchant whose places are taken waits for those alone. No semaphore is ever closed.
        let places = async { (of_one.acquire().await, self.places.acquire().await) };
        let _places = timeout(PATIENCE, places).await.map_err(|_| NoPhoto::Busy)?;
        let deadline = Instant::now() + DEADLINE;
        let file = download(delivery, url).await?;
        let decoder = timeout_at(deadline, Arc::clone(&self.decoder).acquire_owned()).await.map_err(|_| NoPhoto::Busy)?;
        // A picture cannot be left half decoded, so the task keeps the decoder even if nobody waits for it any more.
        #[expect(clippy::disallowed_methods, reason = "decoding takes a core for up to half a second")]
        let shrinking = tokio::task::spawn_blocking(move || {
            let _decoder = decoder;
            shrink_photo(&file)
        });
        match timeout_at(deadline, shrinking).await {
            Ok(Ok(Ok(picture))) => Ok(picture),
            Ok(Ok(Err(error))) => Err(failed(&format!("the file is no picture that can be shown: {error}"))),
            Ok(Err(_)) => Err(failed("decoding the picture panicked")),
            Err(_) => Err(failed("decoding the picture took too long")),
        }
    }

    fn places_of(&self, merchant: MerchantId) -> Arc<Semaphore> {
        let Ok(places) = self.places_of_one.get_or_insert_with(&merchant, || Ok::<_, Infallible>(Arc::new(Semaphore::new(AT_ONCE_OF_ONE))));
        places
    }
}

/// Downloads a file through the guard. Redirects are not followed.
async fn download(delivery: &Delivery, url: &str) -> Result<Bytes, NoPhoto> {
    let headers = HeaderMap::from_iter([(ACCEPT, TYPES)]);
    let request = delivery.client.request(Method::GET, url);
    let request = Request { headers, deadline: DEADLINE, most_read: MOST_READ, most_kept: MOST_READ, ..request };
    let result = delivery.client.call(request).await;
    match result.outcome {
        Outcome::Answered { status: 200, .. } if result.truncated => Err(failed("the file has more than 5 MiB")),
        Outcome::Answered { status: 200, .. } => Ok(result.answer),
        Outcome::Answered { status, .. } => Err(failed(&format!("the server answered {status}"))),
        Outcome::TimedOut => Err(failed("the server did not send the file in time")),
        Outcome::Unreachable(why) | Outcome::Refused(why) => Err(NoPhoto::Failed(why)),
    }
}

fn failed(why: &str) -> NoPhoto {
    NoPhoto::Failed(why.to_owned())
}
