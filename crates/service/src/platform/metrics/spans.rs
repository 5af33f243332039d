//! The counts of the spans that are exported.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The reason spans were dropped.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DropLabels {
    reason: &'static str,
}

/// The queue of spans was full.
const FULL: &str = "full";
/// The collector did not take them.
const NOT_TAKEN: &str = "not_taken";

/// The spans that were exported, and those that were dropped. Clones share the same counters.
#[derive(Clone, Default)]
pub struct Spans {
    exported: Counter,
    dropped: Family<DropLabels, Counter>,
}

/// Spans on their way to the collector. They count as dropped if nobody says that they were exported.
#[must_use]
pub struct OnTheirWay<'a> {
    spans: &'a Spans,
    count: u64,
    exported: bool,
}

impl Spans {
    pub(super) fn register(&self, registry: &mut Registry) {
        // They are shown from the start, so that an alarm sees the first one.
        for reason in [FULL, NOT_TAKEN] {
            drop(self.dropped.get_or_create(&DropLabels { reason }));
        }
        registry.register("trace_spans_exported", "Spans that the collector took", self.exported.clone());
        registry.register("trace_spans_dropped", "Spans that were dropped, by reason", self.dropped.clone());
    }

    /// Counts spans for which the queue had no room.
    pub fn drop_full(&self, count: u64) {
        self.dropped.get_or_create(&DropLabels { reason: FULL }).inc_by(count);
    }

    /// Counts spans as dropped, unless they are said to be exported before this ends.
    pub fn drop_unless_exported(&self, count: usize) -> OnTheirWay<'_> {
        OnTheirWay { spans: self, count: u64::try_from(count).unwrap_or(u64::MAX), exported: false }
    }

    /// The number of spans that were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        [FULL, NOT_TAKEN].iter().map(|reason| self.dropped.get_or_create(&DropLabels { reason }).get()).sum()
    }
}

impl OnTheirWay<'_> {
    /// Counts the spans as exported.
    pub fn were_exported(mut self) {
        self.exported = true;
    }
}

impl Drop for OnTheirWay<'_> {
    fn drop(&mut self) {
        if self.exported {
            self.spans.exported.inc_by(self.count);
        } else {
            self.spans.dropped.get_or_create(&DropLabels { reason: NOT_TAKEN }).inc_by(self.count);
        }
    }
}
