//! The calls that merchants' systems received about their returns, and each return's progress according to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use sandbox::merchant::{Merchant, Received};
use serde_json::Value;
use tokio::sync::watch;
use uuid::Uuid;

use crate::messages::history::Digest;
use crate::messages::witness::answer_by_chance;

/// A call received.
#[derive(Clone, Debug)]
pub(super) struct Receipt {
    /// Its place in the order of arrival.
    pub(super) number: u64,
    pub(super) at: Instant,
    pub(super) shop: usize,
    pub(super) id: Uuid,
    /// `X-Service-Sequence`.
    pub(super) sequence: i64,
    pub(super) digest: Digest,
    /// Set if it was answered with success.
    pub(super) accepted: bool,
    /// From the body, like the next two.
    pub(super) rma: String,
    pub(super) status: String,
    pub(super) skus: Vec<String>,
}

/// A return's progress, as its merchant knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// The return may not even exist.
    #[default]
    Unknown,
    /// The merchant knows of the return.
    Told,
    /// A unit is in transit.
    Scanned,
    /// The return is refunded or cancelled.
    Ended,
}

/// All calls received, and the progress of all returns.
#[derive(Default)]
pub(super) struct Record {
    receipts: Mutex<Vec<Receipt>>,
    progress: Mutex<HashMap<(usize, String), watch::Sender<Progress>>>,
}

impl Record {
    /// Records the calls to the merchant `shop`, whose systems are at `path`, and makes `refused` of 100 fail.
    pub(super) fn watch(self: &Arc<Self>, systems: &Merchant, path: &str, shop: usize, refused: u8) {
        let record = Arc::clone(self);
        systems.answer_by(path, move |received| {
            let (accepted, answer) = answer_by_chance(received, refused);
            record.keep(received, shop, accepted);
            answer
        });
    }

    fn keep(&self, received: &Received, shop: usize, accepted: bool) {
        let body = received.json();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let items = body.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let receipt = Receipt {
            number: received.number(),
            at: received.arrived(),
            shop,
            id: received.message_id().and_then(|id| id.parse().ok()).unwrap_or_default(),
            sequence: received.sequence().and_then(|sequence| i64::try_from(sequence).ok()).unwrap_or_default(),
            digest: received.digest(),
            accepted,
            rma: text(body.get("rma_identifier")),
            status: text(body.get("status")),
            skus: items.iter().map(|item| text(item.get("sku"))).collect(),
        };
        let scanned = items.iter().any(|item| text(item.get("package_tracking_status")) == "TRANSIT");
        let progress = match (receipt.status.as_str(), scanned) {
            ("REFUNDED" | "CANCELED", _) => Progress::Ended,
            (_, true) => Progress::Scanned,
            (_, false) => Progress::Told,
        };
        if accepted {
            self.follow(shop, &receipt.rma, |of| of.send_if_modified(|known| std::mem::replace(known, progress.max(*known)) < progress));
        }
        self.receipts.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }

    fn follow<T>(&self, shop: usize, rma: &str, with: impl FnOnce(&watch::Sender<Progress>) -> T) -> T {
        let mut progress: MutexGuard<'_, HashMap<_, _>> = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        with(progress.entry((shop, rma.to_owned())).or_default())
    }

    /// Waits until the merchant `shop` knows that its return `rma` has reached this progress.
    pub(super) async fn reached(&self, shop: usize, rma: &str, progress: Progress) -> anyhow::Result<()> {
        let mut known = self.follow(shop, rma, watch::Sender::subscribe);
        known.wait_for(|known| *known >= progress).await.context("the record has been closed")?;
        Ok(())
    }

    /// Returns whether the merchant `shop` knows of its return `rma`.
    pub(super) fn is_told(&self, shop: usize, rma: &str) -> bool {
        self.follow(shop, rma, |known| *known.borrow() >= Progress::Told)
    }

    /// The number of returns that have ended, as their merchants know it.
    pub(super) fn ended(&self) -> usize {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.values().filter(|known| *known.borrow() == Progress::Ended).count()
    }

    /// The number of the last call received.
    pub(super) fn latest(&self) -> u64 {
        let receipts = self.receipts.lock().unwrap_or_else(PoisonError::into_inner);
        receipts.iter().map(|receipt| receipt.number).max().unwrap_or_default()
    }

    /// Returns whether one of these merchants has accepted a call since then.
    pub(super) fn has_accepted(&self, is_one: impl Fn(usize) -> bool, since: Instant) -> bool {
        let receipts = self.receipts.lock().unwrap_or_else(PoisonError::into_inner);
        receipts.iter().any(|receipt| receipt.accepted && receipt.at > since && is_one(receipt.shop))
    }

    /// The longest time between `from` and `until` in which none of these merchants accepted a call.
    pub(super) fn longest_silence(&self, is_one: impl Fn(usize) -> bool, from: Instant, until: Instant) -> Duration {
        let receipts = self.receipts.lock().unwrap_or_else(PoisonError::into_inner);
        let within = receipts.iter().filter(|receipt| receipt.accepted && receipt.at > from && receipt.at < until && is_one(receipt.shop));
        let mut ends: Vec<Instant> = within.map(|receipt| receipt.at).chain([until]).collect();
        ends.sort_unstable();
        let begins = [from].into_iter().chain(ends.iter().copied());
        begins.zip(&ends).map(|(begin, end)| end.saturating_duration_since(begin)).max().unwrap_or_default()
    }

    /// All calls received so far.
    pub(super) fn receipts(&self) -> Vec<Receipt> {
        self.receipts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
