//! The timer: work of the flows that is due at a certain time rather than with a message.

use std::future::Future;
use std::pin::Pin;

/// One run of a timer. Resolves to true if there may be more to do at once.
pub type Run<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Work that is due at a certain time. Only the process that holds the first bucket runs it.
pub trait Timer: Send + Sync {
    /// Does everything that is due. It logs its own failures, and the next run tries again.
    fn run(&self) -> Run<'_>;
}
