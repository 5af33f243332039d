//! The metrics for Prometheus. Names follow its conventions: base units, few labels.

mod cells;
mod pages;
mod process;
mod spans;

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

pub use self::cells::{AttemptLabels, CellGauge, QueueLabels};
pub use self::pages::{Pages, PortalStep, SecurityEvents, Surface};
use self::process::ProcessGauges;
pub use self::spans::Spans;

/// The labels of a request.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct RequestLabels {
    /// The route's pattern, never the path, which may contain personal data.
    pub route: String,
    /// One of the methods that we know, or `other`: a caller may send any word as its method.
    pub method: &'static str,
    pub status: u16,
}

/// The label of an order, of a refused order message, or of a photo.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ResultLabels {
    /// `created`, `updated`, `unchanged` or `stale`; for a refused message, `malformed` or `faulty`; for a photo,
    /// `fetched`, `failed` or `busy`.
    pub result: &'static str,
}

/// The label of a request's duration.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct RouteLabels {
    /// The route's pattern.
    pub route: String,
}

/// The label of a call's duration.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct InterfaceLabels {
    /// The interface, `endpoint_test`, or the kind of internal work.
    pub interface: &'static str,
}

/// The label of a certificate.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct CertificateLabels {
    /// The file of the certificate, as the settings name it.
    pub file: String,
}

/// The reason a request or a connection was refused or dropped.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ReasonLabels {
    /// The limit's name for a request; `full` or `address` for a refused connection; `head`, `idle` or `write` for a dropped one.
    pub reason: &'static str,
}

/// The connections of a listener. Clones share the same counters.
#[derive(Clone, Default)]
pub struct Connections {
    pub open: Gauge,
    /// Closed at once because a limit was reached.
    pub refused: Family<ReasonLabels, Counter>,
    /// Closed because the client missed a timeout.
    pub dropped: Family<ReasonLabels, Counter>,
    pub handshake_failures: Counter,
}

impl Connections {
    fn register(&self, registry: &mut Registry) {
        // They are shown from the start, so that an alarm sees the first one.
        for reason in ["full", "address"] {
            drop(self.refused.get_or_create(&ReasonLabels { reason }));
        }
        for reason in ["head", "idle", "write", "gave_way"] {
            drop(self.dropped.get_or_create(&ReasonLabels { reason }));
        }
        registry.register("http_connections_open", "Open connections", self.open.clone());
        registry.register("http_connections_refused", "Connections closed at once because a limit was reached", self.refused.clone());
        registry.register("http_connections_dropped", "Connections closed because the client missed a timeout", self.dropped.clone());
        registry.register("tls_handshake_failures", "TLS handshakes that failed or timed out", self.handshake_failures.clone());
    }
}

/// The state of deliveries by cell, updated every few seconds. Each process reports on the buckets that it owns.
#[derive(Clone, Default)]
pub struct DeliveryGauges {
    /// Deliveries that have been due for more than a minute, up to 10,000.
    pub past_due: CellGauge,
    /// The time since the oldest pending delivery fell due.
    pub oldest_due_seconds: CellGauge,
    /// Open entries in the failure queue by interface, up to 10,000 in all.
    pub failure_queue: Family<QueueLabels, Gauge>,
    /// Internal work that was given up, up to 10,000.
    pub internal_failures: CellGauge,
    /// Buckets owned by this process.
    pub buckets: CellGauge,
    /// Buckets that no process owns.
    pub unowned: CellGauge,
    /// Days ahead for which partitions of messages and attempts exist.
    pub partitions_ahead_days: CellGauge,
    /// Partitions kept beyond their retention, because they contain messages that are still owed.
    pub partitions_kept_late: CellGauge,
}

impl DeliveryGauges {
    /// Shows the gauges of a cell besides the first one from the start.
    pub fn expect(&self, cell: &str) {
        let Self { past_due, oldest_due_seconds, internal_failures, buckets, unowned, partitions_ahead_days, partitions_kept_late, .. } =
            self;
        for gauge in [past_due, oldest_due_seconds, internal_failures, buckets, unowned, partitions_ahead_days, partitions_kept_late] {
            drop(gauge.of(Some(cell)));
        }
    }

    fn register(&self, registry: &mut Registry) {
        registry.register("delivery_past_due", "Deliveries due for more than a minute, up to 10,000", self.past_due.clone());
        registry.register(
            "delivery_oldest_due_seconds",
            "Time since the oldest pending delivery fell due",
            self.oldest_due_seconds.clone(),
        );
        registry.register(
            "failure_queue",
            "Open entries in the failure queue by interface, up to 10,000 in all",
            self.failure_queue.clone(),
        );
        registry.register("internal_failures", "Internal work that was given up, up to 10,000", self.internal_failures.clone());
        registry.register("delivery_buckets", "Buckets owned by this process", self.buckets.clone());
        registry.register("delivery_buckets_unowned", "Buckets that no process owns", self.unowned.clone());
        registry.register("delivery_partitions_ahead_days", "Days ahead for which partitions exist", self.partitions_ahead_days.clone());
        registry.register(
            "delivery_partitions_kept_late",
            "Partitions kept beyond their retention because messages are still owed",
            self.partitions_kept_late.clone(),
        );
    }
}

/// All metrics, with their own registry.
pub struct Metrics {
    registry: Registry,
    pub requests: Family<RequestLabels, Counter>,
    pub request_seconds: Family<RouteLabels, Histogram>,
    /// Requests that are being worked on, those whose callers have left included.
    pub requests_in_flight: Gauge,
    /// Requests whose callers left before they were answered.
    pub requests_abandoned: Counter,
    /// Requests refused by a rate limit.
    pub rate_limited: Family<ReasonLabels, Counter>,
    /// The memory of request bodies.
    pub body_bytes: Gauge,
    pub orders: Family<ResultLabels, Counter>,
    pub refusals: Family<ResultLabels, Counter>,
    /// The number of orders written by one upsert.
    pub batches: Histogram,
    /// Refunds recorded; a refund that is sent repeatedly counts once.
    pub refunds: Counter,
    pub tokens: Counter,
    /// Calls to merchants' systems.
    pub attempts: Family<AttemptLabels, Counter>,
    pub attempt_seconds: Family<InterfaceLabels, Histogram>,
    /// Entries in merchants' lists of variants that could not be read.
    pub variants_skipped: Counter,
    /// Photos of goods that were to be fetched.
    pub photos: Family<ResultLabels, Counter>,
    /// The number of messages settled in one batch.
    pub settled_together: Histogram,
    /// Messages that were called as they were handed over, without being read from the database.
    pub handed_over: Counter,
    /// Lanes that were stuck without a head; must stay 0.
    pub lanes_rescued: Counter,
    /// Attempts to create or drop partitions that failed.
    pub partitions_failed: Counter,
    /// Failed reactions to delivered messages; the messages are sent again.
    pub reactions_failed: Counter,
    /// Failed attempts to settle a single message, for example because somebody has locked its rows.
    pub settlings_failed: Counter,
    /// Delivery engines that failed and were restarted.
    pub engines_broken: Counter,
    /// Messages dropped after 30 days because their interface never had an endpoint.
    pub unsent_dropped: Counter,
    /// Open live feeds.
    pub followers: Gauge,
    pub delivery: DeliveryGauges,
    /// The pages of the portal and the console.
    pub pages: Pages,
    pub security_events: SecurityEvents,
    /// The spans of traces.
    pub spans: Spans,
    /// 1 if the last health check passed, otherwise 0.
    pub ready: Gauge,
    /// The end of each certificate of the settings, in seconds since 1970.
    pub certificate_ends: Family<CertificateLabels, Gauge>,
    /// The database's clock minus this process's.
    pub clock_skew_seconds: CellGauge<f64, AtomicU64>,
    /// The connections of the public listener.
    pub listener: Connections,
    /// The connections of the portal's own listener.
    pub portal_listener: Connections,
    /// The connections of the console's listener.
    pub console_listener: Connections,
    /// The connections of the listener for metrics and health.
    pub admin_listener: Connections,
    connections: Gauge,
    idle_connections: Gauge,
    process: ProcessGauges,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("backhaul");
        let seconds = || Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]);
        let metrics = Self {
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            requests_in_flight: Gauge::default(),
            requests_abandoned: Counter::default(),
            rate_limited: Family::default(),
            body_bytes: Gauge::default(),
            orders: Family::default(),
            refusals: Family::default(),
            batches: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0]),
            refunds: Counter::default(),
            tokens: Counter::default(),
            attempts: Family::default(),
            attempt_seconds: Family::new_with_constructor(seconds),
            variants_skipped: Counter::default(),
            photos: Family::default(),
            settled_together: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
            handed_over: Counter::default(),
            lanes_rescued: Counter::default(),
            partitions_failed: Counter::default(),
            reactions_failed: Counter::default(),
            settlings_failed: Counter::default(),
            engines_broken: Counter::default(),
            unsent_dropped: Counter::default(),
            followers: Gauge::default(),
            delivery: DeliveryGauges::default(),
            pages: Pages::default(),
            security_events: SecurityEvents::default(),
            spans: Spans::default(),
            ready: Gauge::default(),
            certificate_ends: Family::default(),
            clock_skew_seconds: CellGauge::default(),
            listener: Connections::default(),
            portal_listener: Connections::default(),
            console_listener: Connections::default(),
            admin_listener: Connections::default(),
            connections: Gauge::default(),
            idle_connections: Gauge::default(),
            process: ProcessGauges::default(),
            registry: Registry::default(),
        };
        registry.register("http_requests", "Requests answered", metrics.requests.clone());
        registry.register_with_unit("http_request", "Time to answer a request", Unit::Seconds, metrics.request_seconds.clone());
        registry.register("http_requests_in_flight", "Requests that are being worked on", metrics.requests_in_flight.clone());
        registry.register(
            "http_requests_abandoned",
            "Requests whose callers left before they were answered",
            metrics.requests_abandoned.clone(),
        );
        registry.register("rate_limited", "Requests refused by a rate limit", metrics.rate_limited.clone());
        registry.register("http_body_bytes", "Memory of request bodies", metrics.body_bytes.clone());
        registry.register("orders", "Orders received, by result", metrics.orders.clone());
        registry.register("order_messages_refused", "Order messages refused, by reason", metrics.refusals.clone());
        registry.register("intake_batch_orders", "Orders written by one upsert", metrics.batches.clone());
        registry.register("refunds_recorded", "Refunds recorded", metrics.refunds.clone());
        registry.register("tokens_issued", "Access tokens issued", metrics.tokens.clone());
        registry.register("delivery_attempts", "Calls to merchants' systems, by outcome", metrics.attempts.clone());
        registry.register_with_unit(
            "delivery",
            "Duration of a call to a merchant's system",
            Unit::Seconds,
            metrics.attempt_seconds.clone(),
        );
        registry.register(
            "variants_skipped",
            "Entries in merchants' lists of variants that could not be read",
            metrics.variants_skipped.clone(),
        );
        // All results are there from the start, at 0.
        for result in ["fetched", "failed", "busy"] {
            let _ = metrics.photos.get_or_create(&ResultLabels { result });
        }
        registry.register("photos", "Photos of goods that were to be fetched, by result", metrics.photos.clone());
        registry.register("delivery_batch_messages", "Messages settled in one batch", metrics.settled_together.clone());
        registry.register("delivery_handed_over", "Messages that were called without being read", metrics.handed_over.clone());
        registry.register("delivery_lanes_rescued", "Lanes that were stuck without a head and were rescued", metrics.lanes_rescued.clone());
        registry.register(
            "delivery_partitions_failed",
            "Attempts to create or drop partitions that failed",
            metrics.partitions_failed.clone(),
        );
        registry.register("delivery_reactions_failed", "Reactions to delivered messages that failed", metrics.reactions_failed.clone());
        registry.register("delivery_settlings_failed", "Failed attempts to settle a single message", metrics.settlings_failed.clone());
        registry.register("delivery_engines_broken", "Delivery engines that failed and were restarted", metrics.engines_broken.clone());
        registry.register("messages_dropped_unsent", "Messages dropped without having been sent", metrics.unsent_dropped.clone());
        registry.register("event_followers", "Open live feeds", metrics.followers.clone());
        metrics.register_parts(&mut registry);
        registry.register("ready", "1 if this process is ready, otherwise 0", metrics.ready.clone());
        registry.register("build", "The version of this program", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        metrics.process.register(&mut registry);
        registry.register(
            "tls_certificate_expires_at_seconds",
            "End of a certificate of the settings, in seconds since 1970",
            metrics.certificate_ends.clone(),
        );
        registry.register("clock_skew_seconds", "The database's clock minus this process's", metrics.clock_skew_seconds.clone());
        registry.register("database_connections", "Open database connections", metrics.connections.clone());
        registry.register("database_connections_idle", "Open database connections that are idle", metrics.idle_connections.clone());
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Registers the metrics that have a type of their own.
    fn register_parts(&self, registry: &mut Registry) {
        self.delivery.register(registry);
        self.pages.register(registry);
        self.security_events.register(registry);
        self.spans.register(registry);
        self.listener.register(registry);
        self.portal_listener.register(registry.sub_registry_with_prefix("portal"));
        self.console_listener.register(registry.sub_registry_with_prefix("console"));
        self.admin_listener.register(registry.sub_registry_with_prefix("admin"));
    }

    /// Counts a call to a merchant's system of the cell with this label. It may answer with any number as its status.
    pub fn attempted(&self, cell: Option<&str>, interface: &'static str, outcome: String, took: Duration) {
        let unknown = outcome.parse().is_ok_and(|status: u16| !(100..600).contains(&status));
        let outcome = if unknown { "other".to_owned() } else { outcome };
        self.attempts.get_or_create(&AttemptLabels { cell: cell.map(str::to_owned), interface, outcome }).inc();
        self.attempt_seconds.get_or_create(&InterfaceLabels { interface }).observe(took.as_secs_f64());
    }

    /// Renders the page for Prometheus, with the current state of the connection pool.
    pub fn page(&self, (connections, idle): (u32, usize)) -> Result<String, std::fmt::Error> {
        self.connections.set(i64::from(connections));
        self.idle_connections.set(i64::try_from(idle).unwrap_or(i64::MAX));
        self.process.update();
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &self.registry)?;
        Ok(page)
    }
}
