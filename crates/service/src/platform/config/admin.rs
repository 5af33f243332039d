//! The settings of the listener for metrics and health.

use domain::node::mode::Mode;
use secrecy::{ExposeSecret as _, SecretString};

use super::address::is_local;
use super::tls::PairFiles;
use super::{Http, NoSettings};

/// The fewest characters of a token, so that nobody guesses it.
const FEWEST: usize = 16;

impl Http {
    /// The token that the operator's machines show for metrics and the details of health; none if they need not.
    pub fn admin_token(&self) -> Result<Option<SecretString>, NoSettings> {
        let token = match (self.admin_token.expose_secret(), self.admin_token_file.as_str()) {
            ("", "") => return Ok(None),
            ("", file) => std::fs::read_to_string(file).map_err(|error| NoSettings::File(file.to_owned(), error))?,
            (token, _) => token.to_owned(),
        };
        let token = token.trim();
        if token.len() < FEWEST {
            return Err(NoSettings::Wrong(format!(
                "http.admin_token has fewer than {FEWEST} characters; make one with `openssl rand -hex 32`"
            )));
        }
        Ok(Some(token.into()))
    }

    /// The certificate of the listener for metrics and health; none if it speaks plain HTTP. If only one file is set, it is returned
    /// too, so that loading fails.
    #[must_use]
    pub fn admin_files(&self) -> Option<PairFiles> {
        let Self { admin_certificate: certificate, admin_private_key: private_key, .. } = self;
        let set = !(certificate.is_empty() && private_key.is_empty());
        set.then(|| PairFiles { certificate: certificate.into(), private_key: private_key.into() })
    }

    /// Checks that in production nobody on the network reads the metrics: the listener is this machine's alone, has a token or a
    /// certificate, or is behind a proxy.
    pub fn check_admin(&self, mode: Mode, token: Option<&SecretString>) -> Result<(), NoSettings> {
        let protected = is_local(&self.admin_listen) || token.is_some() || self.admin_files().is_some() || self.behind_tls_proxy;
        match mode {
            Mode::Production if !protected => Err(NoSettings::Wrong(format!(
                "http.admin_listen is {}, which other machines can reach, and everybody there would read the metrics: set http.admin_token, or http.admin_certificate and http.admin_private_key, or listen on 127.0.0.1",
                self.admin_listen
            ))),
            Mode::Production | Mode::Sandbox => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    fn http(settings: &[(&str, &str)]) -> Http {
        let variables = settings.iter().map(|(name, value)| (format!("BACKHAUL__HTTP__{name}"), (*value).to_owned()));
        Settings::load(None, variables).expect("settings").http
    }

    #[test]
    fn a_token_cannot_be_guessed() {
        assert!(http(&[]).admin_token().expect("none").is_none());
        assert!(http(&[("ADMIN_TOKEN", "short")]).admin_token().is_err());
        assert!(http(&[("ADMIN_TOKEN_FILE", "/nowhere/at/all")]).admin_token().is_err(), "a missing file does not open the listener");
        let token = http(&[("ADMIN_TOKEN", " long-enough-to-be-one ")]).admin_token().expect("a token");
        assert_eq!(token.expect("a token").expose_secret(), "long-enough-to-be-one");
        assert!(!format!("{:?}", http(&[("ADMIN_TOKEN", "a-canary-that-is-long")])).contains("canary"));
    }

    #[test]
    fn in_production_strangers_do_not_read_the_metrics() {
        let check = |mode, settings: &[(&str, &str)]| {
            let http = http(settings);
            let token = http.admin_token().expect("a token or none");
            http.check_admin(mode, token.as_ref()).is_ok()
        };
        let reached = ("ADMIN_LISTEN", "0.0.0.0:9090");
        assert!(check(Mode::Production, &[]) && check(Mode::Production, &[("ADMIN_LISTEN", "[::1]:9090")]));
        assert!(!check(Mode::Production, &[reached]) && !check(Mode::Production, &[("ADMIN_LISTEN", "[::]:9090")]));
        assert!(check(Mode::Sandbox, &[reached]));
        for protection in [("ADMIN_TOKEN", "long-enough-to-be-one"), ("ADMIN_CERTIFICATE", "admin.pem"), ("BEHIND_TLS_PROXY", "true")] {
            assert!(check(Mode::Production, &[reached, protection]), "{protection:?}");
        }
    }
}
