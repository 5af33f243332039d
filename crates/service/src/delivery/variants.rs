//! The variants that merchants offer for an exchange, queried while a shopper waits.
//!
//! - [`Variants::ask`] is the entry point. Answers are cached for a minute, and concurrent callers with the same question share one
//!   query.
//! - `query` makes the calls of one query, within the time that a shopper waits.
//! - `limiter` limits the concurrent calls and the rate of an endpoint, and makes none while its `circuit_breaker` is open.
//! - [`template`] builds the URL.
//!
//! Nothing here is shared between processes: each has its own cache, limiters and circuit breakers.

mod circuit_breaker;
mod limiter;
mod query;
pub mod template;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Interface;
use domain::returns::exchange::variant::Variant;
use quick_cache::Weighter;
use store::Failed;
use store::messages::endpoints::{self, Endpoint};
use store::messages::reports;
use tokio::sync::watch;
use uuid::Uuid;

use self::limiter::Limiter;
pub(super) use self::query::MOST_READ;
use self::query::{Answer, Query, query};
pub use self::query::{Call, Failure, Trial, trial};
use crate::delivery::handle::Delivery;
use crate::platform::clock::Clock;

/// The time for which an answer is cached.
const CACHED_FOR: Duration = Duration::from_mins(1);
/// The memory for cached answers. Beyond it, the least used are dropped.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// The expected number of cached answers.
const EXPECTED_ANSWERS: usize = 10_000;
/// The number of endpoints whose limiters are kept.
const MOST_LIMITERS: usize = 100_000;

/// The reasons variants cannot be queried.
#[derive(Debug, thiserror::Error)]
pub enum VariantsError {
    /// The merchant has no endpoint for variants, or has paused it.
    #[error("the merchant has no endpoint for variants")]
    NoEndpoint,
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// The key of a query. It contains the revision, so changed settings make a new query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    endpoint: EndpointId,
    revision: i64,
    identifier: Arc<str>,
}

#[derive(Clone)]
struct Cached {
    variants: Arc<[Variant]>,
    /// On the clock's uptime.
    valid_until: Duration,
}

/// Queries the variants of all merchants, with a cache.
pub struct Variants {
    cache: quick_cache::sync::Cache<Key, Cached, Bytes>,
    in_flight: Mutex<HashMap<Key, watch::Receiver<Option<Answer>>>>,
    limiters: quick_cache::sync::Cache<Uuid, Arc<Limiter>>,
    /// The number of queries that have not ended, including the counting of their calls.
    running: watch::Sender<usize>,
    timeout: Duration,
}

impl Variants {
    /// Callers wait at most for `timeout`.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        Self {
            cache: quick_cache::sync::Cache::with_weighter(EXPECTED_ANSWERS, MOST_BYTES, Bytes),
            in_flight: Mutex::default(),
            limiters: quick_cache::sync::Cache::new(MOST_LIMITERS),
            running: watch::Sender::default(),
            timeout,
        }
    }

    /// The variants that the merchant offers for `identifier`, at most a minute old. A running query continues even if nobody waits
    /// for it any more.
    pub async fn ask(
        self: &Arc<Self>,
        delivery: &Delivery,
        merchant: MerchantId,
        identifier: &str,
    ) -> Result<Arc<[Variant]>, VariantsError> {
        let endpoint = endpoints::find_for(delivery.store(merchant), merchant, Interface::ExchangeVariants).await?;
        let endpoint = endpoint.filter(|endpoint| endpoint.paused_at.is_none()).ok_or(VariantsError::NoEndpoint)?;
        let key = Key { endpoint: endpoint.id, revision: endpoint.revision, identifier: identifier.into() };
        let mut answer = {
            let mut in_flight = self.in_flight();
            // A query caches its answer before it is removed here, so under this lock it is found in one of the two places.
            if let Some(variants) = self.cached(delivery, &key) {
                return Ok(variants);
            }
            in_flight.entry(key).or_insert_with_key(|key| self.start(delivery, merchant, endpoint, key.clone())).clone()
        };
        match answer.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone()) {
            Some(answer) => Ok(answer?),
            None => Err(Failure::Failed("the query for variants ended unexpectedly".to_owned()).into()),
        }
    }

    /// Waits until all queries have ended and their calls are counted.
    pub async fn wait_until_idle(&self) {
        // The sender lives as long as `self`.
        let _ = self.running.subscribe().wait_for(|count| *count == 0).await;
    }

    /// The approximate memory of the cached answers.
    #[must_use]
    pub fn bytes_cached(&self) -> u64 {
        self.cache.weight()
    }

    fn cached(&self, delivery: &Delivery, key: &Key) -> Option<Arc<[Variant]>> {
        self.cache.get(key).filter(|cached| delivery.clock.uptime() < cached.valid_until).map(|cached| cached.variants)
    }

    /// Starts a query in its own task.
    fn start(self: &Arc<Self>, delivery: &Delivery, merchant: MerchantId, endpoint: Endpoint, key: Key) -> watch::Receiver<Option<Answer>> {
        let limiter = self.limiter(&endpoint);
        let (sender, answer) = watch::channel(None);
        self.running.send_modify(|count| *count += 1);
        let request = InFlightRequest { variants: Arc::clone(self), clock: delivery.clock.clone(), key: key.clone(), sender };
        let (running, delivery) = (Running(Arc::clone(self)), delivery.clone());
        tokio::spawn(async move {
            let timeout = running.0.timeout;
            let asked = Query { merchant, endpoint: &endpoint, identifier: &key.identifier, timeout };
            let (answer, calls) = query(&delivery, &asked, &limiter).await;
            request.complete(answer);
            // The shopper has the answer and does not wait for this.
            if let Err(failed) = count_calls(&delivery, merchant, endpoint.id, &calls).await {
                tracing::warn!(%failed, %merchant, endpoint = %endpoint.id, "counting the calls for variants failed, the reports lack them");
            }
        });
        answer
    }

    /// The limiter of an endpoint, or a new one if its settings have changed.
    fn limiter(&self, endpoint: &Endpoint) -> Arc<Limiter> {
        if let Some(limiter) = self.limiters.get(&endpoint.id.0).filter(|limiter| limiter.is_current(endpoint)) {
            return limiter;
        }
        let limiter = Arc::new(Limiter::new(endpoint));
        self.limiters.insert(endpoint.id.0, Arc::clone(&limiter));
        limiter
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<Option<Answer>>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the calls to the reports, beside those that deliver messages.
async fn count_calls(delivery: &Delivery, merchant: MerchantId, endpoint: EndpointId, calls: &[Call]) -> Result<(), Failed> {
    if calls.is_empty() {
        return Ok(());
    }
    let mut tx = delivery.begin(merchant).await?;
    for call in calls {
        reports::count_call(&mut tx, endpoint, Interface::ExchangeVariants, &call.outcome, call.began_at).await?;
    }
    delivery.commit(tx).await
}

/// A query in flight. Dropping it removes it from the map, also after a panic.
struct InFlightRequest {
    variants: Arc<Variants>,
    clock: Clock,
    key: Key,
    sender: watch::Sender<Option<Answer>>,
}

impl InFlightRequest {
    /// Answers all who wait. Only successful answers are cached.
    fn complete(self, answer: Answer) {
        if let Ok(variants) = &answer {
            let cached = Cached { variants: Arc::clone(variants), valid_until: self.clock.uptime() + CACHED_FOR };
            self.variants.cache.insert(self.key.clone(), cached);
        }
        self.sender.send_replace(Some(answer));
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.variants.in_flight().remove(&self.key);
    }
}

/// Counts a query as running until it is dropped.
struct Running(Arc<Variants>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.send_modify(|count| *count -= 1);
    }
}

/// The approximate memory of a cached answer.
#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Cached> for Bytes {
    fn weight(&self, key: &Key, cached: &Cached) -> u64 {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of_variant = |variant: &Variant| {
            let attributes =
                variant.attributes.iter().map(|attribute| size_of_val(attribute) + attribute.name.len() + attribute.value.len());
            let texts = variant.sku.len() + text(&variant.title) + text(&variant.image_url) + text(&variant.product_url);
            size_of::<Variant>() + texts + attributes.sum::<usize>()
        };
        let variants: usize = cached.variants.iter().map(of_variant).sum();
        (size_of::<Key>() + size_of::<Cached>() + key.identifier.len() + variants) as u64
    }
}
