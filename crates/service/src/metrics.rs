//! What is counted. The names are Prometheus' kind, with base units and few labels.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Of a request: the route's pattern, never the path, which may hold personal data.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct RequestLabels {
    /// The route's pattern.
    pub route: String,
    /// The method.
    pub method: String,
    /// The answer's status.
    pub status: u16,
}

/// Of an order: what became of it.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ResultLabels {
    /// `created`, `updated`, `unchanged` or `stale`; of a refused message, `malformed` or `faulty`.
    pub result: &'static str,
}

/// Of a latency: the route's pattern.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct RouteLabels {
    /// The route's pattern.
    pub route: String,
}

/// Of a call to a merchant's system.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct AttemptLabels {
    /// The interface, `endpoint_test`, or what is done of our own.
    pub interface: &'static str,
    /// The status, or what came instead of one.
    pub outcome: String,
}

/// Of a call's duration: the interface.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct InterfaceLabels {
    /// The interface, `endpoint_test`, or what is done of our own.
    pub interface: &'static str,
}

/// Why a request or a connection was refused or dropped.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ReasonLabels {
    /// The limit's word; of a connection `full` or `address`, and when it was dropped `head`, `idle` or `write`.
    pub reason: &'static str,
}

/// The connections of a listener. A clone counts in the same place.
#[derive(Clone, Default)]
pub struct Connections {
    /// Those that are open.
    pub open: Gauge,
    /// Those that were one too many.
    pub refused: Family<ReasonLabels, Counter>,
    /// Those whose client was late.
    pub dropped: Family<ReasonLabels, Counter>,
    /// Those that never came to speak TLS.
    pub handshake_failures: Counter,
}

impl Connections {
    fn register(&self, registry: &mut Registry) {
        registry.register("http_connections_open", "Open connections of the public listener", self.open.clone());
        registry.register("http_connections_refused", "Connections beyond a limit, closed at once", self.refused.clone());
        registry.register("http_connections_dropped", "Connections whose client missed a deadline", self.dropped.clone());
        registry.register("tls_handshake_failures", "Handshakes that failed or took too long", self.handshake_failures.clone());
    }
}

/// What waits to be delivered, as of a few seconds ago. Each process tells of the buckets that it owns.
#[derive(Clone, Default)]
pub struct DeliveryGauges {
    /// Deliveries that have been due for more than a minute, up to 10,000.
    pub past_due: Gauge,
    /// For how many seconds the oldest has been due.
    pub oldest_due_seconds: Gauge,
    /// Open entries of the failure queue, up to 10,000.
    pub failure_queue: Gauge,
    /// Work of our own that was given up, up to 10,000.
    pub internal_failures: Gauge,
    /// Buckets of this process.
    pub buckets: Gauge,
    /// Buckets of no process.
    pub unowned: Gauge,
    /// Days ahead for which messages and attempts can be written.
    pub partitions_ahead_days: Gauge,
    /// Days that are kept beyond their time, because messages of them are still owed.
    pub partitions_kept_late: Gauge,
}

impl DeliveryGauges {
    fn register(&self, registry: &mut Registry) {
        registry.register("delivery_past_due", "Deliveries due for more than a minute, up to 10,000", self.past_due.clone());
        registry.register("delivery_oldest_due_seconds", "For how long the oldest has been due", self.oldest_due_seconds.clone());
        registry.register("failure_queue", "Open entries of the failure queue, up to 10,000", self.failure_queue.clone());
        registry.register("internal_failures", "Work of our own that was given up, up to 10,000", self.internal_failures.clone());
        registry.register("delivery_buckets", "Buckets of this process", self.buckets.clone());
        registry.register("delivery_buckets_unowned", "Buckets of no process", self.unowned.clone());
        registry.register("delivery_partitions_ahead_days", "Days that are made ahead", self.partitions_ahead_days.clone());
        registry.register("delivery_partitions_kept_late", "Days kept beyond their time", self.partitions_kept_late.clone());
    }
}

/// Everything that is counted, in a registry of its own.
pub struct Metrics {
    registry: Registry,
    /// Requests answered.
    pub requests: Family<RequestLabels, Counter>,
    /// How long they took.
    pub request_seconds: Family<RouteLabels, Histogram>,
    /// Requests refused for being one too many.
    pub rate_limited: Family<ReasonLabels, Counter>,
    /// Orders received.
    pub orders: Family<ResultLabels, Counter>,
    /// Order messages refused.
    pub refusals: Family<ResultLabels, Counter>,
    /// Orders that share an upsert.
    pub batches: Histogram,
    /// Refunds recorded: each once, however often it is sent.
    pub refunds: Counter,
    /// Tokens issued.
    pub tokens: Counter,
    /// Calls to merchants' systems.
    pub attempts: Family<AttemptLabels, Counter>,
    /// How long they took.
    pub attempt_seconds: Family<InterfaceLabels, Histogram>,
    /// Messages that are settled together.
    pub settled_together: Histogram,
    /// Lanes that stood still without a head; there must be none.
    pub lanes_rescued: Counter,
    /// Reactions that could not be done; their messages are sent again.
    pub reactions_failed: Counter,
    /// Delivery engines that broke off and were started again.
    pub engines_broken: Counter,
    /// Live feeds that are open.
    pub followers: Gauge,
    /// What waits to be delivered.
    pub delivery: DeliveryGauges,
    /// 1 while everything is in order, by the last look.
    pub ready: Gauge,
    /// Connections of the public listener.
    pub listener: Connections,
    connections: Gauge,
    idle_connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("backhaul");
        let seconds = || Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]);
        let metrics = Self {
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            rate_limited: Family::default(),
            orders: Family::default(),
            refusals: Family::default(),
            batches: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0]),
            refunds: Counter::default(),
            tokens: Counter::default(),
            attempts: Family::default(),
            attempt_seconds: Family::new_with_constructor(seconds),
            settled_together: Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
            lanes_rescued: Counter::default(),
            reactions_failed: Counter::default(),
            engines_broken: Counter::default(),
            followers: Gauge::default(),
            delivery: DeliveryGauges::default(),
            ready: Gauge::default(),
            listener: Connections::default(),
            connections: Gauge::default(),
            idle_connections: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("http_requests", "Requests answered", metrics.requests.clone());
        registry.register_with_unit("http_request", "Time to answer a request", Unit::Seconds, metrics.request_seconds.clone());
        registry.register("rate_limited", "Requests refused for being one too many", metrics.rate_limited.clone());
        registry.register("orders", "Orders received, by what became of them", metrics.orders.clone());
        registry.register("order_messages_refused", "Order messages refused", metrics.refusals.clone());
        registry.register("intake_batch_orders", "Orders that share an upsert", metrics.batches.clone());
        registry.register("refunds_recorded", "Refunds recorded", metrics.refunds.clone());
        registry.register("tokens_issued", "Access tokens issued", metrics.tokens.clone());
        registry.register("delivery_attempts", "Calls to merchants' systems, by what came of them", metrics.attempts.clone());
        registry.register_with_unit("delivery", "Time of a call to a merchant's system", Unit::Seconds, metrics.attempt_seconds.clone());
        registry.register("delivery_batch_messages", "Messages that are settled together", metrics.settled_together.clone());
        registry.register("delivery_lanes_rescued", "Lanes that stood still without a head", metrics.lanes_rescued.clone());
        registry.register("delivery_reactions_failed", "Reactions that could not be done", metrics.reactions_failed.clone());
        registry.register("delivery_engines_broken", "Delivery engines that broke off", metrics.engines_broken.clone());
        registry.register("event_followers", "Live feeds that are open", metrics.followers.clone());
        metrics.delivery.register(&mut registry);
        registry.register("ready", "1 while everything is in order", metrics.ready.clone());
        metrics.listener.register(&mut registry);
        registry.register("database_connections", "Open database connections", metrics.connections.clone());
        registry.register("database_connections_idle", "Open database connections that are idle", metrics.idle_connections.clone());
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts a call to a merchant's system.
    pub fn attempted(&self, interface: &'static str, outcome: String, took: Duration) {
        self.attempts.get_or_create(&AttemptLabels { interface, outcome }).inc();
        self.attempt_seconds.get_or_create(&InterfaceLabels { interface }).observe(took.as_secs_f64());
    }

    /// The page that Prometheus reads, with the state of the connection pool as of now.
    pub fn page(&self, (connections, idle): (u32, usize)) -> Result<String, std::fmt::Error> {
        self.connections.set(i64::from(connections));
        self.idle_connections.set(i64::try_from(idle).unwrap_or(i64::MAX));
        let mut page = String::new();
        prometheus_client::encoding::text::encode(&mut page, &self.registry)?;
        Ok(page)
    }
}
