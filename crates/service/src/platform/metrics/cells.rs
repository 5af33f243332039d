//! Metrics that each cell has for itself. Those of the first cell have no label, as if there were no others, so that alarms and
//! dashboards stay what they are; `sum by (cell)` tells the cells apart.

use std::fmt;
use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::{EncodeGaugeValue, EncodeLabel as _, EncodeLabelSet, EncodeMetric, LabelSetEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{Atomic, Gauge};

/// The label of a cell besides the first one.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CellLabels {
    /// The cell's name.
    cell: String,
}

/// A gauge of each cell. Clones share it.
#[derive(Debug)]
pub struct CellGauge<N = i64, A = AtomicI64> {
    first: Gauge<N, A>,
    others: Family<CellLabels, Gauge<N, A>>,
}

impl<N, A> Clone for CellGauge<N, A> {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), others: self.others.clone() }
    }
}

impl<N, A: Default> Default for CellGauge<N, A> {
    fn default() -> Self {
        Self { first: Gauge::default(), others: Family::default() }
    }
}

impl<N, A: Default> CellGauge<N, A> {
    /// The gauge of the cell with this label; `None` for the first cell. It is shown from now on.
    #[must_use]
    pub fn of(&self, cell: Option<&str>) -> Gauge<N, A> {
        match cell {
            None => self.first.clone(),
            Some(cell) => self.others.get_or_create_owned(&CellLabels { cell: cell.to_owned() }),
        }
    }
}

impl<N: EncodeGaugeValue, A: Atomic<N> + Default> EncodeMetric for CellGauge<N, A> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_gauge(&self.first.get())?;
        self.others.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}

/// The labels of a cell's failure queue.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct QueueLabels {
    /// The name of a cell besides the first one.
    pub cell: Option<String>,
    pub interface: &'static str,
}

impl EncodeLabelSet for QueueLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        if let Some(cell) = &self.cell {
            ("cell", cell.as_str()).encode(encoder.encode_label())?;
        }
        ("interface", self.interface).encode(encoder.encode_label())
    }
}

/// The labels of a call to a merchant's system.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct AttemptLabels {
    /// The name of a cell besides the first one.
    pub cell: Option<String>,
    /// The interface, `endpoint_test`, or the kind of internal work.
    pub interface: &'static str,
    /// The HTTP status, `other` if it is none of the five classes, or the kind of error if there was none.
    pub outcome: String,
}

impl EncodeLabelSet for AttemptLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        if let Some(cell) = &self.cell {
            ("cell", cell.as_str()).encode(encoder.encode_label())?;
        }
        ("interface", self.interface).encode(encoder.encode_label())?;
        ("outcome", self.outcome.as_str()).encode(encoder.encode_label())
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn the_gauge_of_the_first_cell_has_no_label() {
        let (mut registry, gauge, queue) = (Registry::default(), CellGauge::<i64>::default(), Family::<QueueLabels, Gauge>::default());
        registry.register("late", "Late", gauge.clone());
        registry.register("queue", "Queue", queue.clone());
        gauge.of(None).set(3);
        let shown = |registry: &Registry| {
            let mut page = String::new();
            encode(&mut page, registry).expect("a page");
            page.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(shown(&registry), ["late 3"]);
        gauge.of(Some("b")).set(4);
        for cell in [None, Some("b".to_owned())] {
            queue.get_or_create(&QueueLabels { cell, interface: "rma" }).set(1);
        }
        let mut lines = shown(&registry);
        lines.sort();
        assert_eq!(lines, ["late 3", r#"late{cell="b"} 4"#, r#"queue{cell="b",interface="rma"} 1"#, r#"queue{interface="rma"} 1"#]);
    }
}
