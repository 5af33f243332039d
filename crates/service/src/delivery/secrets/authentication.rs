//! Authentication at endpoints, and the OAuth tokens they issue.

mod tokens;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{ACCEPT, AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};

pub use self::tokens::{Token, TokenCache};
use crate::delivery::guard::{Guard, NotAllowed};

/// The authentication of our calls to an endpoint. Its JSON holds the secrets in the clear, so it is sealed before it is stored,
/// and never shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Authentication {
    None,
    /// A fixed bearer token.
    #[serde(serialize_with = "exposed")]
    Bearer(SecretString),
    Basic {
        user: String,
        #[serde(serialize_with = "exposed")]
        password: SecretString,
    },
    /// A header that the endpoint defines.
    ApiKey {
        header: String,
        #[serde(serialize_with = "exposed")]
        value: SecretString,
    },
    /// A token that we fetch (OAuth 2.0, client credentials).
    #[serde(rename = "oauth")]
    OAuth(OAuth),
}

/// The settings for fetching a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    pub token_url: String,
    pub client_id: String,
    #[serde(serialize_with = "exposed")]
    pub client_secret: SecretString,
    pub scope: Option<String>,
    pub style: Style,
    /// A header that the endpoint wants beside the token, such as the key of a gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<ExtraHeader>,
}

/// A header with a secret value that goes with every call. It does not go to the token endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraHeader {
    pub name: String,
    #[serde(serialize_with = "exposed")]
    pub value: SecretString,
}

/// The format of a token request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Json,
    /// A form, as in the standard.
    Form,
    /// A form, with id and secret as HTTP Basic (`client_secret_basic`, RFC 6749, 2.3.1).
    Basic,
    /// A form with the id alone: the client certificate authenticates us (`tls_client_auth`, RFC 8705, 2).
    Certificate,
}

/// The reasons an authentication is invalid, for people. Secrets are not quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAuthentication {
    #[error("the authentication must be one of none, bearer, basic, api_key and oauth, with their fields")]
    Unreadable,
    #[error("the authentication cannot be written as JSON")]
    Unwritable,
    #[error("`{0}` cannot be the header of an API key: it is not a valid header name, or it is reserved")]
    Header(String),
    #[error("`{0}` cannot be a header beside the token: it is not a valid header name, or it is reserved")]
    Extra(String),
    #[error("the {0} is empty or contains characters that a header cannot carry")]
    Value(&'static str),
    #[error("the user is empty or contains a colon or a control character")]
    User,
    #[error("token_url: {0}")]
    TokenUrl(NotAllowed),
}

/// Headers that we set ourselves, or that belong to HTTP or to proxies.
const RESERVED: [&str; 17] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-real-ip",
];
/// Prefixes of headers that we set ourselves or that belong to proxies.
const RESERVED_PREFIXES: [&str; 4] = ["webhook-", "x-service-", "proxy-", "x-forwarded-"];

/// True for a header that no setting of an endpoint may replace.
#[must_use]
pub fn is_reserved(name: &HeaderName) -> bool {
    RESERVED.contains(&name.as_str()) || RESERVED_PREFIXES.iter().any(|start| name.as_str().starts_with(start))
}

impl Authentication {
    /// Parses what [`Self::to_json`] wrote.
    pub fn from_json(json: &[u8]) -> Result<Self, NoAuthentication> {
        // The error of serde might quote a secret.
        serde_json::from_slice(json).map_err(|_| NoAuthentication::Unreadable)
    }

    /// Writes the JSON, including the secrets, to be sealed.
    pub fn to_json(&self) -> Result<Vec<u8>, NoAuthentication> {
        serde_json::to_vec(self).map_err(|_| NoAuthentication::Unwritable)
    }

    /// The name of the method, for people.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bearer(_) => "bearer",
            Self::Basic { .. } => "basic",
            Self::ApiKey { .. } => "api key",
            Self::OAuth(_) => "oauth",
        }
    }

    /// True if a client certificate is needed to get a token.
    #[must_use]
    pub fn needs_certificate(&self) -> bool {
        matches!(self, Self::OAuth(OAuth { style: Style::Certificate, .. }))
    }

    /// Checks that calls can be made with it, before it is saved.
    pub fn check(&self, guard: &Guard) -> Result<(), NoAuthentication> {
        match self {
            Self::OAuth(oauth) => oauth.check(guard),
            Self::None | Self::Bearer(_) | Self::Basic { .. } | Self::ApiKey { .. } => self.header().map(|_| ()),
        }
    }

    /// The same with this secret instead, or with this token. A check of an endpoint tries whether it is refused.
    #[must_use]
    pub fn with_secret(&self, secret: SecretString) -> Self {
        match self {
            Self::None => Self::None,
            Self::Bearer(_) | Self::OAuth(_) => Self::Bearer(secret),
            Self::Basic { user, .. } => Self::Basic { user: user.clone(), password: secret },
            Self::ApiKey { header, .. } => Self::ApiKey { header: header.clone(), value: secret },
        }
    }

    /// The header beside the token of OAuth.
    pub fn extra(&self) -> Result<Option<(HeaderName, HeaderValue)>, NoAuthentication> {
        match self {
            Self::OAuth(OAuth { extra: Some(extra), .. }) => extra.header().map(Some),
            Self::OAuth(_) | Self::None | Self::Bearer(_) | Self::Basic { .. } | Self::ApiKey { .. } => Ok(None),
        }
    }

    /// The header for calls. OAuth has none here; it comes from the token ([`Token::header`]).
    pub fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, NoAuthentication> {
        match self {
            Self::None | Self::OAuth(_) => Ok(None),
            Self::Bearer(token) => Ok(Some((AUTHORIZATION, bearer(token)?))),
            Self::Basic { user, password } => {
                if user.is_empty() || user.contains(|c: char| c == ':' || c.is_control()) {
                    return Err(NoAuthentication::User);
                }
                let pair = STANDARD.encode(format!("{user}:{}", password.expose_secret()));
                Ok(Some((AUTHORIZATION, secret_value(&format!("Basic {pair}"), "password")?)))
            }
            Self::ApiKey { header, value } => Ok(Some((header_name(header)?, secret_value(value.expose_secret(), "value")?))),
        }
    }
}

impl OAuth {
    fn check(&self, guard: &Guard) -> Result<(), NoAuthentication> {
        guard.check_url(&self.token_url).map_err(NoAuthentication::TokenUrl)?;
        if self.client_id.is_empty() {
            return Err(NoAuthentication::Value("client_id"));
        }
        self.extra.as_ref().map_or(Ok(()), |extra| extra.header().map(|_| ()))
    }
}

impl ExtraHeader {
    /// The header for calls. The token has `Authorization`.
    fn header(&self) -> Result<(HeaderName, HeaderValue), NoAuthentication> {
        let wrong = || NoAuthentication::Extra(self.name.clone());
        let name = header_name(&self.name).map_err(|_| wrong())?;
        if name == AUTHORIZATION || name == ACCEPT || name == COOKIE || name.as_str().starts_with("content-") {
            return Err(wrong());
        }
        Ok((name, secret_value(self.value.expose_secret(), "value of the header")?))
    }
}

fn bearer(token: &SecretString) -> Result<HeaderValue, NoAuthentication> {
    let token = token.expose_secret();
    if token.is_empty() { Err(NoAuthentication::Value("token")) } else { secret_value(&format!("Bearer {token}"), "token") }
}

/// A header value that is marked as sensitive, so that it is not printed.
fn secret_value(text: &str, what: &'static str) -> Result<HeaderValue, NoAuthentication> {
    let plain = |b: u8| b == b' ' || b.is_ascii_graphic();
    if text.is_empty() || text.trim() != text || !text.bytes().all(plain) {
        return Err(NoAuthentication::Value(what));
    }
    let mut value = HeaderValue::from_str(text).map_err(|_| NoAuthentication::Value(what))?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_name(text: &str) -> Result<HeaderName, NoAuthentication> {
    let wrong = || NoAuthentication::Header(text.to_owned());
    let name = HeaderName::from_bytes(text.as_bytes()).map_err(|_| wrong())?;
    if is_reserved(&name) { Err(wrong()) } else { Ok(name) }
}

fn exposed<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

/// The name of the method as the settings spell it.
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Bearer(_) => "bearer",
            Self::Basic { .. } => "basic",
            Self::ApiKey { .. } => "api_key",
            Self::OAuth(_) => "oauth",
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::node::mode::Mode;

    use super::*;

    fn all() -> [(Authentication, &'static str); 6] {
        let oauth = |scope, style| {
            Authentication::OAuth(OAuth {
                token_url: "https://auth.example.com/token".to_owned(),
                client_id: "us".to_owned(),
                client_secret: "canary".into(),
                scope,
                style,
                extra: None,
            })
        };
        [
            (Authentication::None, r#""none""#),
            (Authentication::Bearer("canary".into()), r#"{"bearer":"canary"}"#),
            (Authentication::Basic { user: "us".to_owned(), password: "canary".into() }, r#"{"basic":{"user":"us","password":"canary"}}"#),
            (
                Authentication::ApiKey { header: "X-Api-Key".to_owned(), value: "canary".into() },
                r#"{"api_key":{"header":"X-Api-Key","value":"canary"}}"#,
            ),
            (
                oauth(None, Style::Form),
                r#"{"oauth":{"token_url":"https://auth.example.com/token","client_id":"us","client_secret":"canary","scope":null,"style":"form"}}"#,
            ),
            (
                oauth(Some("write".to_owned()), Style::Json),
                r#"{"oauth":{"token_url":"https://auth.example.com/token","client_id":"us","client_secret":"canary","scope":"write","style":"json"}}"#,
            ),
        ]
    }

    fn guard() -> Guard {
        Guard::new(Vec::new(), Mode::Production).unwrap()
    }

    #[test]
    fn every_kind_is_written_and_read_and_not_printed() {
        for (authentication, json) in all() {
            assert_eq!(String::from_utf8(authentication.to_json().unwrap()).unwrap(), json);
            let read = Authentication::from_json(json.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(read.to_json().unwrap()).unwrap(), json);
            assert_eq!(read.check(&guard()), Ok(()));
            assert!(!format!("{read:?}{read}{:?}", read.header()).contains("canary"));
        }
        for wrong in [
            "",
            "null",
            r#""bearer""#,
            r#"{"digest":"canary"}"#,
            r#"{"basic":{"user":"us"}}"#,
            r#"{"basic":{"user":"us","password":"canary","x":1}}"#,
        ] {
            let error = Authentication::from_json(wrong.as_bytes()).unwrap_err();
            assert!(!error.to_string().contains("canary"));
        }
    }

    #[test]
    fn every_kind_has_its_header() {
        let headers = all().map(|(authentication, _)| {
            authentication.header().unwrap().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        });
        let [none, bearer, basic, api_key, form, json] = headers;
        assert_eq!((none, form, json), (None, None, None));
        assert_eq!(bearer.unwrap(), "authorization: Bearer canary");
        assert_eq!(basic.unwrap(), "authorization: Basic dXM6Y2FuYXJ5");
        assert_eq!(api_key.unwrap(), "x-api-key: canary");
    }

    #[test]
    fn what_a_header_cannot_carry_is_refused() {
        let api_key = |header: &str, value: &str| Authentication::ApiKey { header: header.to_owned(), value: value.into() };
        for wrong in
            ["", " ", "X Key", "X-Key:", "X-Key\r\nX", "Host", "content-length", "Transfer-Encoding", "webhook-id", "X-Service-Event", "ä"]
        {
            assert_eq!(api_key(wrong, "v").check(&guard()), Err(NoAuthentication::Header(wrong.to_owned())), "{wrong}");
        }
        for wrong in ["", " v", "v\r\nX: y", "v\0", "ä", "v\n"] {
            assert_eq!(api_key("X-Key", wrong).check(&guard()), Err(NoAuthentication::Value("value")), "{wrong}");
            assert_eq!(Authentication::Bearer(wrong.into()).check(&guard()).is_err(), wrong != " v", "{wrong}");
        }
        assert_eq!(api_key("Authorization", "Token v").check(&guard()), Ok(()));
        for wrong in ["", "a:b", "a\n"] {
            let basic = Authentication::Basic { user: wrong.to_owned(), password: "p".into() };
            assert_eq!(basic.check(&guard()), Err(NoAuthentication::User), "{wrong}");
        }
    }

    #[test]
    fn a_header_beside_the_token_is_none_of_ours_and_is_not_printed() {
        let with = |name: &str, value: &str| {
            let [.., (oauth, _)] = all();
            let Authentication::OAuth(oauth) = oauth else { panic!("it is OAuth") };
            Authentication::OAuth(OAuth { extra: Some(ExtraHeader { name: name.to_owned(), value: value.into() }), ..oauth })
        };
        let key = with("X-Gateway-Key", "canary");
        let read = Authentication::from_json(&key.to_json().unwrap()).unwrap();
        let (name, value) = read.extra().unwrap().unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-gateway-key", "canary"));
        assert!(!format!("{read:?}{read}{value:?}").contains("canary"));
        for wrong in [
            "",
            "X Key",
            "Host",
            "Authorization",
            "Proxy-Authorization",
            "Content-Type",
            "content-length",
            "Content-Anything",
            "Transfer-Encoding",
            "Connection",
            "webhook-signature",
            "X-Service-Event",
            "Cookie",
            "Accept",
        ] {
            assert_eq!(with(wrong, "v").check(&guard()), Err(NoAuthentication::Extra(wrong.to_owned())), "{wrong}");
        }
        for wrong in ["", " v", "v\r\nX: y"] {
            assert_eq!(with("X-Key", wrong).check(&guard()), Err(NoAuthentication::Value("value of the header")), "{wrong}");
        }
    }

    #[test]
    fn tokens_are_fetched_only_where_calls_may_go() {
        let [.., (form, _)] = all();
        let Authentication::OAuth(mut oauth) = form else { panic!("it is OAuth") };
        oauth.token_url = "https://127.0.0.1/token".to_owned();
        let refused = Authentication::OAuth(oauth).check(&guard());
        assert!(matches!(refused, Err(NoAuthentication::TokenUrl(NotAllowed::Address(_)))), "{refused:?}");
    }
}
