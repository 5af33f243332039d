//! The mailbox's settings and received mails, shared by all sessions.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::answer::Answer;
use super::received::Received;

/// The use of TLS.
#[derive(Clone)]
pub(super) enum Security {
    Plain,
    /// When the client asks for it (STARTTLS).
    Offered(TlsAcceptor),
    /// From the first byte on.
    Always(TlsAcceptor),
}

/// The mailbox's settings and the mails it received.
#[derive(Default)]
pub(super) struct State {
    settings: Mutex<Settings>,
    received: Mutex<Vec<Received>>,
    /// Signals every mail received.
    pub(super) changes: watch::Sender<()>,
}

#[derive(Default)]
pub(super) struct Settings {
    pub(super) queued: VecDeque<Answer>,
    pub(super) standing: Answer,
    pub(super) login: Option<(String, String)>,
}

impl State {
    pub(super) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses the answer for the next mail, and removes it if it was queued.
    pub(super) fn choose(&self) -> Answer {
        let mut settings = self.settings();
        settings.queued.pop_front().unwrap_or(settings.standing)
    }

    /// Returns whether this login is right. Any login is right if none is required.
    pub(super) fn knows(&self, user: &str, password: &str) -> bool {
        self.settings().login.as_ref().is_none_or(|login| (login.0.as_str(), login.1.as_str()) == (user, password))
    }

    pub(super) fn asks_for_login(&self) -> bool {
        self.settings().login.is_some()
    }

    /// Adds a mail and wakes those who wait for it.
    pub(super) fn keep(&self, received: Received) {
        self.received().push(received);
        self.changes.send_replace(());
    }
}
