//! The server's notices, of which one matters: that a commit was not confirmed.
//!
//! If the wait for a synchronous standby is cancelled, for example with `pg_cancel_backend`, PostgreSQL reports the commit as
//! successful and sends a warning with it. `sqlx` passes notices to `tracing` and to nobody else. So while a statement is
//! polled, a subscriber of our own is put before the process's, whose filters therefore do not matter. It passes notices on.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::LazyLock;

use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// The target under which `sqlx` reports notices.
const TARGET: &str = "sqlx::postgres::notice";

/// The part of the warning that is the same for every reason.
const WARNING: &str = "wait for synchronous replication";

thread_local! {
    static UNCONFIRMED: Cell<bool> = const { Cell::new(false) };
    /// The subscriber that ours was put before.
    static NEXT: RefCell<Dispatch> = RefCell::new(Dispatch::none());
}

/// The subscriber, twice: with a single one, `tracing` decides for good when a notice is first reported, possibly outside of a
/// statement, that nobody wants to hear of them.
static NOTICES: LazyLock<[Dispatch; 2]> = LazyLock::new(|| [Dispatch::new(Notices), Dispatch::new(Notices)]);

/// Polls something, and sets `unconfirmed` if the server reported a commit that is not confirmed.
pub(super) fn listen<T>(unconfirmed: &mut bool, poll: impl FnOnce() -> T) -> T {
    let [notices, _] = &*NOTICES;
    NEXT.set(dispatcher::get_default(Dispatch::clone));
    let polled = dispatcher::with_default(notices, poll);
    if UNCONFIRMED.take() {
        *unconfirmed = true;
    }
    polled
}

struct Notices;

impl Subscriber for Notices {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.target() == TARGET { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET && (*metadata.level() == Level::WARN || NEXT.with_borrow(|next| next.enabled(metadata)))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() == Level::WARN {
            event.record(&mut Warning);
        }
        let next = NEXT.with_borrow(Dispatch::clone);
        if next.enabled(event.metadata()) {
            next.event(event);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Warning;

impl Visit for Warning {
    fn record_str(&mut self, _: &Field, value: &str) {
        if value.contains(WARNING) {
            UNCONFIRMED.set(true);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
