//! The mailbox's possible reactions to a mail.

/// The mailbox's reaction to a mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Accepts it: 250.
    #[default]
    Accept,
    /// Reads it and refuses it for now: 451.
    TryLater,
    /// Refuses its recipients for good: 550. The client then does not send the mail.
    RefuseRecipient,
    /// Reads it and closes the connection without an answer.
    Disconnect,
    /// Reads it and does not answer for as long as the client stays connected.
    Hang,
}
