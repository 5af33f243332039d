//! The answer of a merchant's system as people are shown it: without secrets that the system repeats.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::id::MerchantId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use store::messages::endpoints::Endpoint;

use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::stored::Secrets;

/// The words in place of a secret.
const HIDDEN: &str = "[hidden]";

/// The words before credentials of any kind.
const SCHEMES: [&str; 6] = ["Bearer ", "bearer ", "Basic ", "basic ", "whsec_", "v1,"];

/// The fewest characters at the end of an answer that are taken for the beginning of a secret.
const FEWEST_CUT: usize = 4;

/// The secrets of a merchant's endpoints, in the forms in which a system may repeat them.
#[derive(Default)]
pub struct KnownSecrets {
    /// The longest first, so that a secret within another does not uncover the rest of it.
    forms: Vec<SecretString>,
    /// A secret cannot be opened, so nobody knows if it is in an answer.
    is_unknown: bool,
}

impl KnownSecrets {
    /// Opens the secrets of `endpoints`, and those of removed ones as far as their keys are still there.
    #[must_use]
    pub fn of(delivery: &Delivery, merchant: MerchantId, endpoints: &[Endpoint], removed: &[Endpoint]) -> Self {
        let mut known = Self::default();
        for endpoint in endpoints {
            match Secrets::open(delivery, merchant, endpoint) {
                Ok(secrets) => known.add_all(&secrets),
                Err(_) => known.is_unknown = true,
            }
        }
        removed.iter().filter_map(|endpoint| Secrets::open(delivery, merchant, endpoint).ok()).for_each(|secrets| known.add_all(&secrets));
        known.forms.sort_by_key(|form| std::cmp::Reverse(form.expose_secret().len()));
        known
    }

    fn add_all(&mut self, secrets: &Secrets) {
        match &secrets.authentication {
            Authentication::None => {}
            Authentication::Bearer(token) => self.add(token.expose_secret()),
            Authentication::Basic { user, password } => {
                self.add(password.expose_secret());
                self.add(&STANDARD.encode(format!("{user}:{}", password.expose_secret())));
            }
            Authentication::ApiKey { value, .. } => self.add(value.expose_secret()),
            Authentication::OAuth(oauth) => {
                self.add(oauth.client_secret.expose_secret());
                if let Some(extra) = &oauth.extra {
                    self.add(extra.value.expose_secret());
                }
            }
        }
        for secret in [Some(&secrets.secret), secrets.previous.as_ref()].into_iter().flatten() {
            self.add(&STANDARD.encode(secret.bytes()));
        }
    }

    /// Adds a secret as it is, as JSON and URLs write it, and without the padding of base64.
    fn add(&mut self, secret: &str) {
        let json = serde_json::Value::from(secret).to_string();
        let json = json.trim_matches('"');
        let forms = [
            secret.to_owned(),
            json.to_owned(),
            json.replace('/', "\\/"),
            utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
            secret.trim_end_matches('=').to_owned(),
        ];
        self.forms.extend(forms.into_iter().filter(|form| !form.is_empty()).map(SecretString::from));
    }

    /// The text of an answer without the secrets, and without what looks like credentials.
    #[must_use]
    pub fn mask(&self, answer: &str) -> String {
        if self.is_unknown {
            return "[hidden: a secret of the endpoint cannot be read, so it could be in the answer; set the endpoint again]".to_owned();
        }
        let mut shown = answer.to_owned();
        for form in &self.forms {
            shown = shown.replace(form.expose_secret(), HIDDEN);
        }
        for form in &self.forms {
            hide_cut(&mut shown, form.expose_secret());
        }
        mask_schemes(&shown)
    }
}

/// Hides the beginning of a secret at the end of an answer, of which only so much is kept.
fn hide_cut(shown: &mut String, secret: &str) {
    let starts = (FEWEST_CUT..secret.len()).rev().filter_map(|length| secret.get(..length));
    if let Some(start) = starts.into_iter().find(|start| shown.ends_with(start)) {
        shown.truncate(shown.len() - start.len());
        shown.push_str(HIDDEN);
    }
}

/// The text without what follows the words before credentials.
fn mask_schemes(answer: &str) -> String {
    let mut rest = answer;
    let mut shown = String::with_capacity(answer.len());
    while let Some((at, scheme)) = SCHEMES.iter().filter_map(|scheme| Some((rest.find(scheme)?, *scheme))).min() {
        let (before, after) = rest.split_at(at + scheme.len());
        let secret = after.find(|c: char| !c.is_ascii_alphanumeric() && !"-._~+/=".contains(c)).unwrap_or(after.len());
        shown.push_str(before);
        if secret > 0 {
            shown.push_str(HIDDEN);
        }
        rest = after.get(secret..).unwrap_or_default();
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_credentials_is_hidden() {
        let mask = |answer: &str| KnownSecrets::default().mask(answer);
        assert_eq!(mask(r#"{"authorization":"Bearer abc.def","ok":true}"#), r#"{"authorization":"Bearer [hidden]","ok":true}"#);
        assert_eq!(mask("v1,c2ln= v1,b2xk= Basic dTpw"), "v1,[hidden] v1,[hidden] Basic [hidden]");
        assert_eq!(mask("nothing to hide, Bearer "), "nothing to hide, Bearer ");
        assert_eq!(mask("whsec_ä"), "whsec_ä");
    }

    #[test]
    fn a_known_secret_is_hidden_in_every_form() {
        let mut known = KnownSecrets::default();
        known.add("k/e\"y==");
        for (answer, shown) in [
            ("your key is k/e\"y==.", "your key is [hidden]."),
            (r#"{"key":"k/e\"y=="}"#, r#"{"key":"[hidden]"}"#),
            (r#"{"key":"k\/e\"y=="}"#, r#"{"key":"[hidden]"}"#),
            ("?key=k%2Fe%22y%3D%3D&a", "?key=[hidden]&a"),
            ("k/e\"y without padding", "[hidden] without padding"),
            ("cut off: k/e\"", "cut off: [hidden]"),
            ("too little: k/e", "too little: k/e"),
        ] {
            assert_eq!(known.mask(answer), shown);
        }
    }

    #[test]
    fn an_answer_is_hidden_if_a_secret_is_not_known() {
        let known = KnownSecrets { is_unknown: true, ..KnownSecrets::default() };
        assert!(known.mask("anything").starts_with("[hidden: "));
    }
}
