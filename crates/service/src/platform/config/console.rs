//! The settings of the operator's console.

mod oidc;

use chrono::TimeDelta;
use domain::node::mode::Mode;
use serde::Deserialize;

use self::oidc::Oidc;
use super::address::{is_local, listen, origin};
use super::tls::Tls;

/// The console's listener, address, connections and sessions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    #[serde(deserialize_with = "listen")]
    listen: Option<String>,
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
        self.listen.as_deref()
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
        self.listen().is_none_or(is_local)
    }

    /// Serves the console here, under this URL.
    pub fn serve_at(&mut self, listen: String, url: Option<String>) {
        (self.listen, self.url) = (Some(listen), url);
    }

    /// Checks these settings against the others.
    pub(super) fn check(&self, mode: Mode, behind_tls_proxy: bool, tls: &Tls) -> Result<(), String> {
        let Some(listen) = self.listen() else { return Ok(()) };
        if self.connections == 0 {
            return Err("console.connections is 0, but the console's pages need at least one connection".to_owned());
        }
        self.oidc.check()?;
        if self.oidc.issuer().is_some() && self.url.is_none() {
            return Err("console.oidc.issuer is set, but console.url is not, so the identity provider would not know where to send people back to: \
                set console.url to the address of the console that people open, such as https://console.example.com"
                .to_owned());
        }
        match mode {
            Mode::Production if !self.is_local() && tls.files().is_none() && !behind_tls_proxy => Err(format!(
                "console.listen is {listen}, which other machines can reach, but passwords travel over TLS only: set tls.certificate and tls.private_key, or, if a proxy in front of this process terminates TLS, http.behind_tls_proxy = true"
            )),
            Mode::Production | Mode::Sandbox => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, issuer: &str) -> Result<(), String> {
        let console: Console = toml::from_str(&format!(
            "listen = \"127.0.0.1:9092\"\nurl = {url:?}\nconnections = 4\nidle_minutes = 60\nsession_hours = 12\n\
            [oidc]\nissuer = {issuer:?}\nclient_id = \"console\"\nclient_secret = \"\"\nclient_secret_file = \"\"\n\
            groups_claim = \"groups\"\ngroups = {{ desk = \"support\" }}"
        ))
        .map_err(|error| error.to_string())?;
        let tls =
            toml::from_str("certificate = \"\"\nprivate_key = \"\"\nallow_1_3 = false\nclient_certificates = false\nreload_seconds = 5")
                .expect("settings of TLS");
        console.check(Mode::Production, false, &tls)
    }

    #[test]
    fn single_sign_on_needs_the_address_to_which_people_come_back() {
        let issuer = "https://login.example.com";
        assert_eq!(check("https://console.example.com", issuer), Ok(()));
        assert_eq!(check("", ""), Ok(()));
        let error = check("", issuer).expect_err("the provider would not know where to send people");
        assert!(error.contains("console.oidc.issuer is set, but console.url is not") && error.contains("set console.url to"), "{error}");
    }
}
