//! The settings for the shoppers' portal.

use domain::node::mode::Mode;
use serde::Deserialize;

use super::address::{listen, origin};
use super::tls::{PairFiles, Tls};
use crate::platform::texts::Languages;

/// The portal's listener, address and certificates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Portal {
    #[serde(deserialize_with = "listen")]
    listen: Option<String>,
    #[serde(deserialize_with = "origin")]
    url: Option<String>,
    certificates: Vec<PairFiles>,
    pseudo_language: bool,
}

impl Portal {
    /// The address of the portal's own listener; none if the public listener serves the portal too.
    #[must_use]
    pub fn listen(&self) -> Option<&str> {
        self.listen.as_deref()
    }

    /// The public URL of the portal without a path, such as `https://returns.example.com`.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The portal's own certificates.
    #[must_use]
    pub fn certificates(&self) -> &[PairFiles] {
        &self.certificates
    }

    /// The certificates of the public listener, its own first; empty without TLS.
    #[must_use]
    pub fn public_certificates(&self, tls: &Tls) -> Vec<PairFiles> {
        let shared = if self.listen().is_none() { self.certificates() } else { &[] };
        tls.files().into_iter().chain(shared.iter().cloned()).collect()
    }

    /// The certificates of the portal's own listener: the public listener's if the portal has none; empty without TLS.
    #[must_use]
    pub fn own_certificates(&self, tls: &Tls) -> Vec<PairFiles> {
        match self.certificates() {
            [] => tls.files().into_iter().collect(),
            certificates => certificates.to_vec(),
        }
    }

    /// The languages that shoppers can choose from.
    #[must_use]
    pub fn languages(&self) -> Languages {
        Languages { pseudo: self.pseudo_language }
    }

    /// Checks these settings against the others.
    pub(super) fn check(&self, mode: Mode, tls: &Tls) -> Result<(), String> {
        if !self.certificates.is_empty() && self.listen().is_none() && tls.files().is_none() {
            return Err("portal.certificates is set, but the public listener, which serves the portal, has no certificate of its own: \
                set tls.certificate and tls.private_key, or give the portal a listener of its own with portal.listen"
                .to_owned());
        }
        match (mode, self.url()) {
            (Mode::Production, Some(url)) if url.starts_with("http:") => {
                Err(format!("portal.url is {url}, but in production shoppers are served over https only: write https"))
            }
            (Mode::Production | Mode::Sandbox, _) => Ok(()),
        }
    }

    /// Has the public listener serve the portal too, at this URL and without further certificates.
    pub fn share_listener(&mut self, url: String) {
        self.url = Some(url);
        self.listen = None;
        self.certificates.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = r#"[{ certificate = "shop.pem", private_key = "shop-key.pem" }]"#;

    fn portal(listen: &str, url: &str, certificates: &str) -> Result<Portal, String> {
        let text = format!("listen = {listen:?}\nurl = {url:?}\ncertificates = {certificates}\npseudo_language = false");
        toml::from_str(&text).map_err(|error| error.to_string())
    }

    fn tls(name: &str) -> Tls {
        let files = if name.is_empty() { [String::new(), String::new()] } else { [format!("{name}.pem"), format!("{name}-key.pem")] };
        let [certificate, key] = files;
        let text = format!(
            "certificate = {certificate:?}\nprivate_key = {key:?}\nallow_1_3 = false\nclient_certificates = false\nreload_seconds = 5"
        );
        toml::from_str(&text).expect("settings of TLS")
    }

    #[test]
    fn the_url_of_the_portal_has_no_path() {
        for (text, read) in [
            ("", None),
            ("https://Returns.Example.com/", Some("https://returns.example.com")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
        ] {
            assert_eq!(portal("", text, "[]").expect("a URL").url(), read);
        }
        for wrong in ["returns.example.com", "https://example.com/returns", "https://example.com/?a", "ftp://example.com", "https://a@b.c"]
        {
            let error = portal("", wrong, "[]").expect_err("no such URL");
            assert!(error.contains(&format!("portal.url or console.url is `{wrong}`, which is not a URL without a path")), "{error}");
        }
    }

    #[test]
    fn shoppers_are_served_over_https_in_production() {
        let plain = portal("", "http://returns.example.com", "[]").expect("a URL");
        assert_eq!(plain.check(Mode::Sandbox, &tls("")), Ok(()));
        assert!(plain.check(Mode::Production, &tls("")).is_err_and(|error| error.contains("over https only")));
        assert_eq!(portal("", "https://returns.example.com", "[]").expect("a URL").check(Mode::Production, &tls("")), Ok(()));
    }

    #[test]
    fn the_portal_shares_a_listener_or_has_its_own() {
        let names = |pairs: Vec<PairFiles>| pairs.iter().map(|pair| pair.certificate.display().to_string()).collect::<Vec<_>>();
        for (listen, certificates, of_api, public, own) in [
            ("", PAIR, "api", &["api.pem", "shop.pem"][..], &["shop.pem"][..]),
            ("", "[]", "api", &["api.pem"], &["api.pem"]),
            ("127.0.0.1:8443", PAIR, "api", &["api.pem"], &["shop.pem"]),
            ("127.0.0.1:8443", "[]", "api", &["api.pem"], &["api.pem"]),
            ("127.0.0.1:8443", PAIR, "", &[], &["shop.pem"]),
            ("", "[]", "", &[], &[]),
        ] {
            let (portal, tls) = (portal(listen, "", certificates).expect("settings"), tls(of_api));
            assert_eq!(portal.check(Mode::Production, &tls), Ok(()));
            assert_eq!(
                (names(portal.public_certificates(&tls)), names(portal.own_certificates(&tls))),
                (public.iter().map(ToString::to_string).collect(), own.iter().map(ToString::to_string).collect())
            );
        }
        let wrong = portal("", "", PAIR).expect("settings").check(Mode::Sandbox, &tls(""));
        let error = wrong.expect_err("the API would be served with a shop's certificate");
        assert!(error.contains("set tls.certificate and tls.private_key, or give the portal a listener of its own"), "{error}");
        let error = portal("", "", r#"[{ certificate = "shop.pem" }]"#).expect_err("no key");
        assert!(error.contains("private_key"), "{error}");
    }
}
