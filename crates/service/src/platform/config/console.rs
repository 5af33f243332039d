//! The settings of the operator's console.

mod oidc;

use std::net::{IpAddr, SocketAddr};

use chrono::TimeDelta;
use domain::node::mode::Mode;
use serde::Deserialize;

use self::oidc::Oidc;
use super::allowed::is_localhost;
use super::portal::origin;
use super::tls::Tls;

/// The console's listener, address, connections and sessions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    listen: String,
    #[serde(deserialize_with = "origin")]
    url: Option<String>,
    /// The most connections to the database that the console's pages take.
    pub connections: u32,
    idle_minutes: u32,
    session_hours: u32,
    /// Single sign-on.
    pub oidc: Oidc,
}

impl Console {
    /// The address of the console's listener; none if this process serves no console.
    #[must_use]
    pub fn listen(&self) -> Option<&str> {
        Some(self.listen.as_str()).filter(|listen| !listen.is_empty())
    }

    /// The URL under which people reach the console, without a path, if it differs from the listener's address.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The time without a request after which a session ends, and the time after which it ends in any case.
    #[must_use]
    pub fn session_limits(&self) -> (TimeDelta, TimeDelta) {
        (TimeDelta::minutes(self.idle_minutes.into()), TimeDelta::hours(self.session_hours.into()))
    }

    /// Only this machine reaches the console.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let host = self.listen.rsplit_once(':').map_or(self.listen.as_str(), |(host, _)| host);
        let address = self.listen.parse::<SocketAddr>().map(|address| address.ip()).or_else(|_| host.parse::<IpAddr>());
        address.map_or_else(|_| is_localhost(host), |address| address.is_loopback())
    }

    /// Serves the console here, under this URL.
    pub fn serve_at(&mut self, listen: String, url: Option<String>) {
        (self.listen, self.url) = (listen, url);
    }

    /// Checks these settings against the others.
    pub(super) fn check(&self, mode: Mode, behind_tls_proxy: bool, tls: &Tls) -> Result<(), String> {
        if self.listen().is_none() {
            return Ok(());
        }
        if self.connections == 0 {
            return Err("console.connections is 0, but the console's pages need at least one connection".to_owned());
        }
        self.oidc.check()?;
        match mode {
            Mode::Production if !self.is_local() && tls.files().is_none() && !behind_tls_proxy => Err(format!(
                "console.listen is {}, which other machines can reach, but passwords travel over TLS only: set tls.certificate and tls.private_key, or, if a proxy in front of this process terminates TLS, http.behind_tls_proxy = true",
                self.listen
            )),
            Mode::Production | Mode::Sandbox => Ok(()),
        }
    }
}
