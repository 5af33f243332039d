//! Traces: the spans of this node's work, from their beginning to the queue from which they are exported.
//!
//! A trace begins with a request, or with the `traceparent` that came with it. The request's work runs [`within`] its span, so a
//! transaction that it opens knows its place in the trace and stores it with the messages that it owes. Whoever delivers a message
//! continues from there. A transaction outside of any request, such as that of a timer, begins a trace of its own.
//!
//! Nothing here waits or fails. While traces are off, nothing is drawn, stored or kept.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::node::trace::{SpanIds, TraceContext};
use tokio::sync::Notify;
use wire::node::otlp::{Attribute, Kind, Span};

use crate::platform::clock::Clock;
use crate::platform::config;
use crate::platform::entropy::Entropy;
use crate::platform::metrics::Spans;

/// The most spans that wait to be exported. Any more are dropped and counted.
const MOST_WAITING: usize = 4_096;
/// The most spans of one export.
pub const BATCH: usize = 512;

tokio::task_local! {
    /// The span of the work that is being done; `None` inside if that work is not traced. Not set outside of requests and reactions.
    static CURRENT: Option<TraceContext>;
}

/// Does a piece of work as a part of the span `context`. `None` means that the work is not traced.
pub async fn within<F: Future>(context: Option<TraceContext>, work: F) -> F::Output {
    CURRENT.scope(context, work).await
}

/// The node's spans.
pub struct Traces {
    ratio: f64,
    on: AtomicBool,
    waiting: Mutex<Vec<Span>>,
    gathered: Notify,
    clock: Clock,
    entropy: Entropy,
    counts: Spans,
}

/// A span that has begun. If it is dropped without [`Traces::end`], it was none.
pub struct Begun {
    ids: SpanIds,
    kind: Kind,
    at: DateTime<Utc>,
    uptime: Duration,
}

impl Begun {
    /// The place of this span, for its parts and for peers.
    #[must_use]
    pub fn context(&self) -> TraceContext {
        self.ids.context
    }
}

impl Traces {
    /// Traces that are off until they are [started](Self::start).
    #[must_use]
    pub fn new(settings: &config::Traces, clock: Clock, entropy: Entropy, counts: Spans) -> Self {
        let (on, waiting) = (AtomicBool::new(false), Mutex::default());
        Self { ratio: settings.ratio, on, waiting, gathered: Notify::new(), clock, entropy, counts }
    }

    /// Begins to record, for whoever exports the spans.
    pub fn start(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// Begins the span of a request that came with this `traceparent`. If that is not valid, a trace begins.
    #[must_use]
    pub fn begin_request(&self, traceparent: Option<&str>) -> Option<Begun> {
        if !self.is_on() {
            return None;
        }
        let ids = self.ids(traceparent.and_then(TraceContext::parse))?;
        Some(self.begin_with(ids, Kind::Server))
    }

    /// The ids of the span in which a transaction that opens now writes its messages.
    #[must_use]
    pub fn ids_to_write(&self) -> Option<SpanIds> {
        if !self.is_on() {
            return None;
        }
        match CURRENT.try_with(|current| *current) {
            Ok(Some(context)) => self.ids(Some(context)),
            Ok(None) => None,
            Err(_) => self.ids(None),
        }
    }

    /// Begins the span that writes messages.
    #[must_use]
    pub fn begin_write(&self, ids: SpanIds) -> Begun {
        self.begin_with(ids, Kind::Producer)
    }

    /// Begins the span of a call that delivers a message, which carries `context`.
    #[must_use]
    pub fn begin_call(&self, context: Option<TraceContext>) -> Option<Begun> {
        let context = context.filter(|_| self.is_on())?;
        Some(self.begin_with(self.ids(Some(context))?, Kind::Client))
    }

    /// Ends a span. It waits to be exported, unless its trace is not recorded.
    #[expect(clippy::needless_pass_by_value, reason = "a span ends once")]
    pub fn end(&self, begun: Begun, name: String, attributes: Vec<Attribute>, failed: bool) {
        let Begun { ids, kind, at, uptime } = begun;
        if !ids.context.sampled {
            return;
        }
        let took = TimeDelta::from_std(self.clock.uptime().saturating_sub(uptime)).unwrap_or_default();
        let mut waiting = self.lock();
        if waiting.len() >= MOST_WAITING {
            self.counts.drop_full(1);
            return;
        }
        waiting.push(Span { ids, name, kind, began: at, ended: at + took, attributes, failed });
        if waiting.len() == BATCH {
            self.gathered.notify_one();
        }
    }

    /// Takes the oldest spans, as many as one export has.
    #[must_use]
    pub fn take_batch(&self) -> Vec<Span> {
        let mut waiting = self.lock();
        let most = waiting.len().min(BATCH);
        waiting.drain(..most).collect()
    }

    /// Waits until there are enough spans for an export.
    pub async fn gathered(&self) {
        self.gathered.notified().await;
    }

    fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Span>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ids of a new span that is a part of `parent`, or the first of a trace. Of traces that begin here, a part is recorded; the
    /// others are none. A trace that somebody else began and does not record is passed on as it is.
    fn ids(&self, parent: Option<TraceContext>) -> Option<SpanIds> {
        match parent {
            Some(context) if !context.sampled => Some(SpanIds { context, parent: None }),
            Some(context) => Some(SpanIds { context: context.at(self.new_span()), parent: Some(context.span) }),
            None => (self.entropy.part() < self.ratio).then(|| {
                let trace = u128::from_be_bytes(self.entropy.bytes()).max(1);
                SpanIds { context: TraceContext { trace, span: self.new_span(), sampled: true }, parent: None }
            }),
        }
    }

    fn new_span(&self) -> u64 {
        u64::from_be_bytes(self.entropy.bytes()).max(1)
    }

    /// Collectors compare with other machines, so the time is the real one, even if a sandbox's clock was moved.
    fn begin_with(&self, ids: SpanIds, kind: Kind) -> Begun {
        Begun { ids, kind, at: self.clock.wall(), uptime: self.clock.uptime() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traces(ratio: &str) -> Traces {
        let settings = toml::from_str(&format!("endpoint = \"\"\nratio = {ratio}\ntimeout_ms = 1000")).expect("settings");
        let clock = Clock::fixed("2026-03-01T12:00:00Z".parse().expect("a time"));
        let traces = Traces::new(&settings, clock, Entropy::seeded(1), Spans::default());
        traces.start();
        traces
    }

    #[test]
    fn a_part_of_the_traces_is_recorded_and_what_others_have_decided_is_respected() {
        let (none, all, half) = (traces("0.0"), traces("1"), traces("0.5"));
        assert!(none.begin_request(None).is_none() && none.begin_request(Some("nonsense")).is_none());
        assert!(all.begin_request(None).is_some_and(|begun| begun.context().sampled));
        let begun = (0..1_000).filter(|_| half.begin_request(None).is_some()).count();
        assert!((400..600).contains(&begun), "{begun}");

        let recorded = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = none.begin_request(Some(recorded)).expect("its caller records it").context();
        assert!(context.sampled && context.trace == 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736 && context.span != 0x00f0_67aa_0ba9_02b7);
        let unrecorded = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let passed_on = all.begin_request(Some(unrecorded)).expect("it is passed on");
        assert_eq!(passed_on.context().to_string(), unrecorded);
        all.end(passed_on, "unrecorded".to_owned(), Vec::new(), false);
        assert!(all.take_batch().is_empty());
    }

    #[tokio::test]
    async fn a_transaction_belongs_to_the_work_that_opens_it() {
        let traces = traces("1");
        let request = traces.begin_request(None).expect("all are recorded").context();
        let ids = within(Some(request), async { traces.ids_to_write() }).await.expect("a part of the request");
        assert_eq!((ids.context.trace, ids.parent), (request.trace, Some(request.span)));
        assert_eq!(within(None, async { traces.ids_to_write() }).await, None, "the request is not traced");
        let own = traces.ids_to_write().expect("a trace of its own");
        assert!(own.context.trace != request.trace && own.parent.is_none());
    }

    #[test]
    fn spans_that_nobody_takes_are_dropped_and_counted() {
        let traces = traces("1");
        for _ in 0..MOST_WAITING + 3 {
            let begun = traces.begin_request(None).expect("all are recorded");
            traces.end(begun, "GET /".to_owned(), Vec::new(), false);
        }
        assert_eq!(traces.counts.dropped(), 3);
        let batches = std::iter::from_fn(|| Some(traces.take_batch().len()).filter(|taken| *taken > 0));
        assert_eq!(batches.collect::<Vec<_>>(), vec![BATCH; MOST_WAITING / BATCH]);
    }
}
