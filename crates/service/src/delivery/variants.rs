//! The variants that merchants offer for an exchange, asked for while a shopper waits.
//!
//! - [`Variants::ask`] is what others call. An answer is kept for a minute, and however many ask for the same at once, the
//!   merchant is asked once.
//! - `flight` makes the calls of one question, within the time that a shopper waits.
//! - `gate` holds calls of an endpoint back: so many at once and a second, and none while its `breaker` is open.
//! - [`template`] makes the URL.
//!
//! Nothing here is shared between processes: each has its own answers, gates and breakers.

mod breaker;
mod flight;
mod gate;
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

pub use self::flight::{Call, Failure, Trial, trial};
use self::flight::{Question, ask};
use self::gate::Gate;
use crate::delivery::handle::Delivery;
use crate::platform::clock::Clock;

/// How long an answer is good for.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// How much of all answers is kept, and about how many that is; of more, those that were not asked for go first.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
const ABOUT_SO_MANY: usize = 10_000;
/// How many endpoints' gates are kept.
const MOST_GATES: usize = 100_000;

/// Why there are no variants.
#[derive(Debug, thiserror::Error)]
pub enum VariantsError {
    /// The merchant has no endpoint for them, or has paused it.
    #[error("the merchant has no endpoint for variants")]
    NoEndpoint,
    /// The merchant was asked, or was not because nothing would have come of it.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// What became of a question; all who asked it hear the same.
type Answer = Result<Arc<[Variant]>, Failure>;

/// A question: to which endpoint, with which settings, for what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    endpoint: EndpointId,
    revision: i64,
    identifier: Arc<str>,
}

#[derive(Clone)]
struct Kept {
    variants: Arc<[Variant]>,
    /// On the clock's uptime.
    good_until: Duration,
}

/// The variants of all merchants.
pub struct Variants {
    kept: quick_cache::sync::Cache<Key, Kept, Bytes>,
    flights: Mutex<HashMap<Key, watch::Receiver<Option<Answer>>>>,
    gates: quick_cache::sync::Cache<Uuid, Arc<Gate>>,
    /// How many questions are not done with.
    under_way: watch::Sender<usize>,
    patience: Duration,
}

impl Variants {
    /// Whoever asks waits for so long and no longer.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self {
            kept: quick_cache::sync::Cache::with_weighter(ABOUT_SO_MANY, MOST_BYTES, Bytes),
            flights: Mutex::default(),
            gates: quick_cache::sync::Cache::new(MOST_GATES),
            under_way: watch::Sender::default(),
            patience,
        }
    }

    /// The variants that the merchant has for `identifier`, as of a minute ago at most. A question that is under way ends on its
    /// own, whoever stops waiting for it.
    pub async fn ask(
        self: &Arc<Self>,
        delivery: &Delivery,
        merchant: MerchantId,
        identifier: &str,
    ) -> Result<Arc<[Variant]>, VariantsError> {
        let endpoint = endpoints::find_for(delivery.store(merchant), merchant, Interface::ExchangeVariants).await?;
        let endpoint = endpoint.filter(|endpoint| endpoint.paused_at.is_none()).ok_or(VariantsError::NoEndpoint)?;
        let key = Key { endpoint: endpoint.id, revision: endpoint.revision, identifier: identifier.into() };
        let mut flight = {
            let mut flights = self.flights();
            // An answer is kept before its flight is over, so that under this lock it is found in one of the two places.
            if let Some(variants) = self.kept(delivery, &key) {
                return Ok(variants);
            }
            flights.entry(key).or_insert_with_key(|key| self.depart(delivery, merchant, endpoint, key.clone())).clone()
        };
        match flight.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone()) {
            Some(answer) => Ok(answer?),
            None => Err(Failure::Erred("the question broke off".to_owned()).into()),
        }
    }

    /// Waits until nothing is under way, and all that was is counted.
    pub async fn rest(&self) {
        // The sender lives as long as this.
        let _ = self.under_way.subscribe().wait_for(|count| *count == 0).await;
    }

    /// How much memory the answers take that are kept.
    #[must_use]
    pub fn bytes_kept(&self) -> u64 {
        self.kept.weight()
    }

    fn kept(&self, delivery: &Delivery, key: &Key) -> Option<Arc<[Variant]>> {
        self.kept.get(key).filter(|kept| delivery.clock.uptime() < kept.good_until).map(|kept| kept.variants)
    }

    /// Asks in a task of its own.
    fn depart(
        self: &Arc<Self>,
        delivery: &Delivery,
        merchant: MerchantId,
        endpoint: Endpoint,
        key: Key,
    ) -> watch::Receiver<Option<Answer>> {
        let gate = self.gate(&endpoint);
        let (tell, answer) = watch::channel(None);
        self.under_way.send_modify(|count| *count += 1);
        let flight = Flight { variants: Arc::clone(self), clock: delivery.clock.clone(), key: key.clone(), tell };
        let (under_way, delivery) = (UnderWay(Arc::clone(self)), delivery.clone());
        tokio::spawn(async move {
            let patience = under_way.0.patience;
            let question = Question { merchant, endpoint: &endpoint, identifier: &key.identifier, patience };
            let (answer, calls) = ask(&delivery, &question, &gate).await;
            flight.land(answer);
            // Nobody waits for this any more.
            if let Err(failed) = count_calls(&delivery, merchant, endpoint.id, &calls).await {
                tracing::warn!(%failed, "calls for variants are missing in the reports");
            }
        });
        answer
    }

    /// The gate of an endpoint; a new one when its settings have changed.
    fn gate(&self, endpoint: &Endpoint) -> Arc<Gate> {
        if let Some(gate) = self.gates.get(&endpoint.id.0).filter(|gate| gate.is_for(endpoint)) {
            return gate;
        }
        let gate = Arc::new(Gate::new(endpoint));
        self.gates.insert(endpoint.id.0, Arc::clone(&gate));
        gate
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<Option<Answer>>>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the calls in the reports, beside those that deliver messages.
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

/// A question under way. It is forgotten when it ends, also when it breaks off.
struct Flight {
    variants: Arc<Variants>,
    clock: Clock,
    key: Key,
    tell: watch::Sender<Option<Answer>>,
}

impl Flight {
    /// Tells all who wait. Only what is good is kept.
    fn land(self, answer: Answer) {
        if let Ok(variants) = &answer {
            let kept = Kept { variants: Arc::clone(variants), good_until: self.clock.uptime() + KEPT_FOR };
            self.variants.kept.insert(self.key.clone(), kept);
        }
        self.tell.send_replace(Some(answer));
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.variants.flights().remove(&self.key);
    }
}

/// Counts a question as under way until it is done with.
struct UnderWay(Arc<Variants>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count -= 1);
    }
}

/// What an answer takes of the memory, about.
#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Kept> for Bytes {
    fn weight(&self, key: &Key, kept: &Kept) -> u64 {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of_variant = |variant: &Variant| {
            let attributes =
                variant.attributes.iter().map(|attribute| size_of_val(attribute) + attribute.name.len() + attribute.value.len());
            let texts = variant.sku.len() + text(&variant.title) + text(&variant.image_url) + text(&variant.product_url);
            size_of::<Variant>() + texts + attributes.sum::<usize>()
        };
        let variants: usize = kept.variants.iter().map(of_variant).sum();
        (size_of::<Key>() + size_of::<Kept>() + key.identifier.len() + variants) as u64
    }
}
