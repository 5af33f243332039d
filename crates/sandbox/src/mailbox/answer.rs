//! What the mailbox does with a mail.

/// What the mailbox does with a mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// It takes it: 250.
    #[default]
    Accept,
    /// It reads it, and refuses it for now: 451.
    TryLater,
    /// It refuses its recipients for good: 550. The mail itself is not sent then.
    RefuseRecipient,
    /// It reads it, and closes the connection without an answer.
    Disconnect,
    /// It reads it, and does not answer for as long as the client stays.
    Hang,
}
