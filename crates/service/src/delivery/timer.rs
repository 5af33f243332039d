//! Work that comes due with time rather than with a message. The process that holds the first bucket does it, so that one process does.

use std::future::Future;
use std::pin::Pin;

/// One run of a timer: answers whether there may be more to do at once.
pub type Run<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Work that comes due with time. It is handed to the deliverer by whoever starts it.
pub trait Timer: Send + Sync {
    /// Does what is due. A failure is its own to log; the next run tries again.
    fn run(&self) -> Run<'_>;
}
