//! The counts of the pages that people see, of what shoppers do there, and of security events.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// The places where people see pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The shoppers' portal.
    Portal,
    /// The operator's console.
    Console,
}

/// A step that a shopper takes in the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortalStep {
    /// An order was found by its number and its key.
    OrderFound,
    /// There is no such order, or the key is not its own.
    OrderMissed,
    /// There were too many attempts to find an order.
    OrderRefused,
    /// A link by mail was asked for.
    LinkAsked,
    /// A mailed link was opened.
    LinkOpened,
    /// A return was confirmed.
    ReturnConfirmed,
    /// A return was confirmed that is not possible any more.
    ReturnRefused,
    /// A withdrawal from a contract was confirmed.
    WithdrawalConfirmed,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PageLabels {
    surface: &'static str,
    /// The class of the status, such as `2xx`.
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct SurfaceLabels {
    surface: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StepLabels {
    step: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct EventLabels {
    event: &'static str,
}

/// The pages of the portal and the console. Clones share the same counters.
#[derive(Clone)]
pub struct Pages {
    answered: Family<PageLabels, Counter>,
    seconds: Family<SurfaceLabels, Histogram>,
    steps: Family<StepLabels, Counter>,
}

/// The security events by name, those that the log leaves out included. Clones share the same counters.
#[derive(Clone, Debug, Default)]
pub struct SecurityEvents(Family<EventLabels, Counter>);

impl Surface {
    const ALL: [Self; 2] = [Self::Portal, Self::Console];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::Console => "console",
        }
    }
}

impl PortalStep {
    const ALL: [Self; 8] = [
        Self::OrderFound,
        Self::OrderMissed,
        Self::OrderRefused,
        Self::LinkAsked,
        Self::LinkOpened,
        Self::ReturnConfirmed,
        Self::ReturnRefused,
        Self::WithdrawalConfirmed,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::OrderFound => "order_found",
            Self::OrderMissed => "order_missed",
            Self::OrderRefused => "order_refused",
            Self::LinkAsked => "link_asked",
            Self::LinkOpened => "link_opened",
            Self::ReturnConfirmed => "return_confirmed",
            Self::ReturnRefused => "return_refused",
            Self::WithdrawalConfirmed => "withdrawal_confirmed",
        }
    }
}

impl Default for Pages {
    fn default() -> Self {
        let seconds = || Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0]);
        Self { answered: Family::default(), seconds: Family::new_with_constructor(seconds), steps: Family::default() }
    }
}

impl Pages {
    pub(super) fn register(&self, registry: &mut Registry) {
        // They are shown from the start, so that an alarm sees the first one.
        for surface in Surface::ALL.map(Surface::as_str) {
            for status in ["2xx", "3xx", "4xx", "5xx"] {
                drop(self.answered.get_or_create(&PageLabels { surface, status }));
            }
            drop(self.seconds.get_or_create(&SurfaceLabels { surface }));
        }
        for step in PortalStep::ALL.map(PortalStep::as_str) {
            drop(self.steps.get_or_create(&StepLabels { step }));
        }
        registry.register("pages", "Pages of the portal and the console, by class of status", self.answered.clone());
        registry.register_with_unit("page", "Time to answer with a page", Unit::Seconds, self.seconds.clone());
        registry.register("portal_steps", "Steps of shoppers in the portal", self.steps.clone());
    }

    /// Counts a page.
    pub fn answered(&self, surface: Surface, status: u16, took: Duration) {
        let surface = surface.as_str();
        let status = match status {
            ..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            500.. => "5xx",
        };
        self.answered.get_or_create(&PageLabels { surface, status }).inc();
        self.seconds.get_or_create(&SurfaceLabels { surface }).observe(took.as_secs_f64());
    }

    /// Counts a step of a shopper.
    pub fn stepped(&self, step: PortalStep) {
        self.steps.get_or_create(&StepLabels { step: step.as_str() }).inc();
    }
}

impl SecurityEvents {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("security_events", "Security events, by name", self.0.clone());
    }

    /// Shows these events from the start, so that an alarm sees the first one.
    pub fn expect(&self, events: &[&'static str]) {
        for event in events {
            drop(self.0.get_or_create(&EventLabels { event }));
        }
    }

    /// Counts an event.
    pub fn happened(&self, event: &'static str) {
        self.0.get_or_create(&EventLabels { event }).inc();
    }
}
