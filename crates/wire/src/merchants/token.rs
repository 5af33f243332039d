//! The token exchange: `POST /oauth/token`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Malformed};

/// A request for a token, as JSON or as a form. Every field is optional, so that the error can name the missing ones. The client's
/// id and secret are in the body or in the header `Authorization`, as HTTP Basic.
#[derive(Deserialize, ToSchema)]
pub struct TokenRequest {
    /// Always `client_credentials`.
    #[schema(example = "client_credentials", required = true)]
    pub grant_type: Option<String>,
    /// Issued by the operator; left out with HTTP Basic.
    pub client_id: Option<String>,
    /// Issued by the operator; left out with HTTP Basic.
    #[schema(value_type = Option<String>, format = Password)]
    pub client_secret: Option<SecretString>,
    /// The scopes that the token should have, separated by spaces: some of those of the credential. All of them if left out.
    #[schema(example = "orders")]
    pub scope: Option<String>,
}

impl TokenRequest {
    /// Reads a JSON body.
    pub fn from_json(body: &[u8]) -> Result<Self, Malformed> {
        Self::without_nul(serde_json::from_str(json::text(body)?)?)
    }

    /// Reads a form.
    pub fn from_form(body: &[u8]) -> Result<Self, Malformed> {
        Self::without_nul(serde_urlencoded::from_bytes(body).map_err(|_| Malformed("the body is not a well-formed form".to_owned()))?)
    }

    /// Takes the client's id and secret from HTTP Basic; the body must not have a secret, nor another id.
    pub fn authenticated_by(self, basic: BasicCredential) -> Result<Self, TwoCredentials> {
        if self.client_secret.is_some() || self.client_id.is_some_and(|id| id != basic.client_id) {
            return Err(TwoCredentials);
        }
        Ok(Self { client_id: Some(basic.client_id), client_secret: Some(basic.client_secret), ..self })
    }

    /// Refuses NUL characters, which the database cannot even search for.
    fn without_nul(self) -> Result<Self, Malformed> {
        let secret = self.client_secret.as_ref().map(ExposeSecret::expose_secret);
        if [self.grant_type.as_deref(), self.client_id.as_deref(), secret, self.scope.as_deref()]
            .into_iter()
            .flatten()
            .any(|text| text.contains('\0'))
        {
            return Err(Malformed("the body contains a NUL character".to_owned()));
        }
        Ok(self)
    }
}

/// A request that authenticates its client in the header and in the body.
pub struct TwoCredentials;

/// A client's id and secret from `Authorization: Basic …`.
pub struct BasicCredential {
    client_id: String,
    client_secret: SecretString,
}

impl BasicCredential {
    /// Reads the part after `Basic`. As RFC 6749 (2.3.1) says, id and secret are each encoded like a form's values.
    #[must_use]
    pub fn read(encoded: &str) -> Option<Self> {
        let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
        let (id, secret) = decoded.split_once(':')?;
        let (client_id, client_secret) = (form_value(id)?, form_value(secret)?);
        Some(Self { client_id, client_secret: client_secret.into() })
    }
}

/// Decodes a value of a form; `None` with a NUL character, which the database cannot even search for.
fn form_value(encoded: &str) -> Option<String> {
    // A form separates its fields with &, which an encoded value does not contain.
    let pair = format!("value={}", encoded.replace('&', "%26"));
    let [(_, value)] = <[(String, String); 1]>::try_from(serde_urlencoded::from_str::<Vec<_>>(&pair).ok()?).ok()?;
    (!value.contains('\0')).then_some(value)
}

/// A request to replace the secret of a credential, as JSON or as a form. The client's id and secret are in the body or in the header
/// `Authorization`, as HTTP Basic.
#[derive(Deserialize, ToSchema)]
pub struct RotationRequest {
    /// The credential; left out with HTTP Basic.
    pub client_id: Option<String>,
    /// Its secret; left out with HTTP Basic.
    #[schema(value_type = Option<String>, format = Password)]
    pub client_secret: Option<SecretString>,
    /// Seconds for which the old secret goes on working: at most 2,592,000 (30 days), and 172,800 (48 hours) if left out.
    #[schema(example = 172_800, minimum = 0, maximum = 2_592_000)]
    pub overlap_seconds: Option<u32>,
}

impl RotationRequest {
    /// Reads a JSON body. An empty one asks for the usual overlap.
    pub fn from_json(body: &[u8]) -> Result<Self, Malformed> {
        if body.is_empty() {
            return Ok(Self { client_id: None, client_secret: None, overlap_seconds: None });
        }
        Ok(serde_json::from_str(json::text(body)?)?)
    }

    /// Reads a form.
    pub fn from_form(body: &[u8]) -> Result<Self, Malformed> {
        serde_urlencoded::from_bytes(body).map_err(|_| Malformed("the body is not a well-formed form".to_owned()))
    }

    /// The part of it that authenticates the client.
    pub fn client(self) -> Result<TokenRequest, Malformed> {
        TokenRequest { grant_type: None, client_id: self.client_id, client_secret: self.client_secret, scope: None }.without_nul()
    }
}

/// A new secret of a credential.
#[derive(Serialize, ToSchema)]
pub struct RotationResponse {
    pub client_id: String,
    /// The new secret. It is not stored and cannot be shown again.
    #[schema(format = Password)]
    pub client_secret: String,
    /// The time until which the old secret works.
    #[schema(example = "2026-03-03T12:00:00Z")]
    pub old_secret_expires_at: String,
}

/// A token.
#[derive(Serialize, ToSchema)]
pub struct TokenResponse {
    /// Send it as `Authorization: Bearer …` with every call.
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Seconds until it expires.
    #[schema(example = 90_000)]
    pub expires_in: i64,
    /// Scopes of the token, separated by spaces.
    #[schema(example = "orders warehouse carrier")]
    pub scope: String,
    /// Time of issue, as Unix time.
    pub created_at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(credential: &str) -> Option<(String, String)> {
        let credential = BasicCredential::read(&STANDARD.encode(credential))?;
        Some((credential.client_id, credential.client_secret.expose_secret().to_owned()))
    }

    #[test]
    fn id_and_secret_are_decoded_and_may_hold_any_character() {
        let expected = |id: &str, secret: &str| Some((id.to_owned(), secret.to_owned()));
        assert_eq!(read("id:secret"), expected("id", "secret"));
        assert_eq!(read("a%3Ab:c%25+d%2B%26=&"), expected("a:b", "c% d+&=&"));
        assert_eq!(read("id:a:b"), expected("id", "a:b"));
        assert_eq!(read(":"), expected("", ""));
        assert_eq!(read("id"), None);
        assert_eq!(read("id:%00"), None);
        assert!(BasicCredential::read("not base64!").is_none());
    }
}
