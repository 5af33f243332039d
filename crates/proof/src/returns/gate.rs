//! A gate that holds returns back before a step, so that a process can be replaced while all of them wait.

use anyhow::{Context as _, ensure};
use std::time::Duration;
use tokio::sync::watch;

/// The steps of a life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// The merchant publishes the order.
    Order,
    /// The return is started.
    Start,
    /// The carrier reports.
    Report,
    /// The merchant publishes the refund.
    Refund,
    /// The return expires.
    Wake,
}

/// Lets returns advance up to the step it is open to.
pub(super) struct Gate {
    /// The last step allowed.
    open: watch::Sender<Step>,
    waiting: watch::Sender<usize>,
}

impl Gate {
    pub(super) fn open_to(step: Step) -> Self {
        Self { open: watch::Sender::new(step), waiting: watch::Sender::new(0) }
    }

    /// Opens the gate up to a further step.
    pub(super) fn open(&self, step: Step) {
        self.open.send_replace(step);
    }

    /// Waits until the step is allowed.
    pub(super) async fn pass(&self, step: Step) -> anyhow::Result<()> {
        let mut open = self.open.subscribe();
        if *open.borrow() < step {
            self.waiting.send_modify(|waiting| *waiting += 1);
        }
        open.wait_for(|open| *open >= step).await.context("the gate has been dropped")?;
        Ok(())
    }

    /// Waits until this many returns are waiting at the gate.
    pub(super) async fn holds(&self, lives: usize, within: Duration) -> anyhow::Result<()> {
        let mut waiting = self.waiting.subscribe();
        let all = tokio::time::timeout(within, waiting.wait_for(|waiting| *waiting >= lives)).await;
        ensure!(all.is_ok(), "not all returns reached the gate in time");
        Ok(())
    }
}
