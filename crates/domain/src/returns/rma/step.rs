//! The outcome of applying an event.

use super::word::Event;

/// The outcome of applying an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<To = Event> {
    /// Something changed: the new state, or the event to send.
    Moved(To),
    /// A repeat, or out of date: no error, and no message.
    Unchanged,
    /// The label is not there yet: store the event, and replay it once the label is issued.
    TooEarly,
}
