//! What holds lives up before a step, so that a process can be changed while all of them wait there.

use anyhow::{Context as _, ensure};
use std::time::Duration;
use tokio::sync::watch;

/// The steps of a life.
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
    /// Nobody does anything, and the return ends by itself.
    Wake,
}

/// Lets lives go as far as it is open.
pub(super) struct Gate {
    /// The last step that may be taken.
    open: watch::Sender<Step>,
    waiting: watch::Sender<usize>,
}

impl Gate {
    pub(super) fn open_to(step: Step) -> Self {
        Self { open: watch::Sender::new(step), waiting: watch::Sender::new(0) }
    }

    /// Lets lives go on.
    pub(super) fn open(&self, step: Step) {
        self.open.send_replace(step);
    }

    /// Waits until the step may be taken.
    pub(super) async fn pass(&self, step: Step) -> anyhow::Result<()> {
        let mut open = self.open.subscribe();
        if *open.borrow() < step {
            self.waiting.send_modify(|waiting| *waiting += 1);
        }
        open.wait_for(|open| *open >= step).await.context("the gate is gone")?;
        Ok(())
    }

    /// Waits until so many lives wait.
    pub(super) async fn holds(&self, lives: usize, within: Duration) -> anyhow::Result<()> {
        let mut waiting = self.waiting.subscribe();
        let all = tokio::time::timeout(within, waiting.wait_for(|waiting| *waiting >= lives)).await;
        ensure!(all.is_ok(), "the lives do not come that far");
        Ok(())
    }
}
