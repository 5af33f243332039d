//! The token exchange: `POST /oauth/token`.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Malformed};

/// A request for a token, as JSON or as a form. Everything is optional here, so that what is missing can be named.
#[derive(Deserialize, ToSchema)]
pub struct TokenRequest {
    /// Always `client_credentials`.
    #[schema(example = "client_credentials", required = true)]
    pub grant_type: Option<String>,
    /// From the operator.
    #[schema(required = true)]
    pub client_id: Option<String>,
    /// From the operator.
    #[schema(value_type = String, format = Password, required = true)]
    pub client_secret: Option<SecretString>,
}

impl TokenRequest {
    /// Reads a JSON body.
    pub fn from_json(body: &[u8]) -> Result<Self, Malformed> {
        Self::without_nul(serde_json::from_str(json::text(body)?)?)
    }

    /// Reads a form.
    pub fn from_form(body: &[u8]) -> Result<Self, Malformed> {
        Self::without_nul(serde_urlencoded::from_bytes(body).map_err(|_| Malformed("the body is no well-formed form".to_owned()))?)
    }

    /// Refuses NUL here as everywhere: the database could not even look for it.
    fn without_nul(self) -> Result<Self, Malformed> {
        let secret = self.client_secret.as_ref().map(ExposeSecret::expose_secret);
        if [self.grant_type.as_deref(), self.client_id.as_deref(), secret].into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(Malformed("the body holds a NUL character".to_owned()));
        }
        Ok(self)
    }
}

/// A token.
#[derive(Serialize, ToSchema)]
pub struct TokenResponse {
    /// To be sent as `Authorization: Bearer …` on every call.
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Seconds until it expires.
    #[schema(example = 90_000)]
    pub expires_in: i64,
    /// What it opens: words with a space between them.
    #[schema(example = "orders warehouse carrier")]
    pub scope: String,
    /// When it was issued, as Unix time.
    pub created_at: i64,
}
