//! The exporter of traces: sends the node's spans to the operator's collector, in batches.
//!
//! It never holds anybody up. Spans wait in a bounded queue; what does not fit, and what the collector does not take, is dropped and
//! counted. A batch is sent once: a trace with a gap is a small loss, and a queue that grows behind a collector in trouble is not.

use std::time::Duration;

use domain::messages::delivery::Outcome;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use wire::node::otlp::Resource;

use super::collector::Collector;
use super::handle::Delivery;
use crate::node::traces::BATCH;
use crate::platform::task::Task;

/// The longest time for which a span waits for others.
const GATHERED_FOR: Duration = Duration::from_secs(1);

/// A running exporter.
pub struct TraceExporter {
    leave: watch::Sender<bool>,
    task: Task<()>,
}

impl TraceExporter {
    /// Begins to record spans and to export them. Does nothing without a collector.
    #[must_use]
    pub fn start(delivery: &Delivery) -> Option<Self> {
        delivery.collector.as_ref()?;
        delivery.traces.start();
        let (leave, leaving) = watch::channel(false);
        Some(Self { leave, task: Task::spawn(run(delivery.clone(), leaving)) })
    }

    /// Exports what is waiting, and ends. That takes no longer than two exports may take.
    pub async fn leave(self) {
        let _ = self.leave.send(true);
        let _ = self.task.ended().await;
    }
}

/// Exports until it is told to leave.
async fn run(delivery: Delivery, mut leaving: watch::Receiver<bool>) {
    let Some(collector) = &delivery.collector else { return };
    let mut exports = Exports { delivery: &delivery, collector, failing: false };
    loop {
        let leaves = tokio::select! {
            biased;
            _ = leaving.wait_for(|leaving| *leaving) => true,
            () = delivery.traces.gathered() => false,
            () = sleep(GATHERED_FOR) => false,
        };
        if leaves {
            let all = async { while exports.export().await > 0 {} };
            let _ = timeout(delivery.settings.traces.timeout(), all).await;
            exports.drop_the_rest();
            return;
        }
        while exports.export().await == BATCH && !*leaving.borrow() {}
    }
}

struct Exports<'a> {
    delivery: &'a Delivery,
    collector: &'a Collector,
    /// True if the last export failed.
    failing: bool,
}

impl Exports<'_> {
    /// Exports one batch. Returns its size.
    async fn export(&mut self) -> usize {
        let spans = self.delivery.traces.take_batch();
        if spans.is_empty() {
            return 0;
        }
        let (counts, count) = (&self.delivery.metrics.spans, spans.len());
        // If the exporter has to leave in the middle of this, the batch is lost.
        let lost = counts.drop_unless_exported(count);
        let mode = self.delivery.settings.mode.as_str();
        let resource = Resource { version: env!("CARGO_PKG_VERSION"), node: self.delivery.id, mode };
        let outcome = self.collector.send(&resource, &spans).await;
        if outcome.is_success() {
            lost.were_exported();
        }
        self.note(&outcome);
        count
    }

    /// Logs when a collector begins to fail, and when it takes spans again.
    fn note(&mut self, outcome: &Outcome) {
        let failing = !outcome.is_success();
        if failing && !self.failing {
            let why = match outcome {
                Outcome::Unreachable(why) | Outcome::Refused(why) => why.clone(),
                Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
            };
            tracing::warn!(why, "exporting traces failed, spans are dropped until the collector takes them again");
        } else if self.failing && !failing {
            tracing::info!("the collector takes traces again");
        }
        self.failing = failing;
    }

    /// Counts what is left when the time is over.
    fn drop_the_rest(&self) {
        loop {
            match self.delivery.traces.take_batch().len() {
                0 => return,
                count => drop(self.delivery.metrics.spans.drop_unless_exported(count)),
            }
        }
    }
}
