//! The token exchange: `POST /oauth/token`.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Malformed};

/// A request for a token, as JSON or as a form. Every field is optional, so that the error can name the missing ones.
#[derive(Deserialize, ToSchema)]
pub struct TokenRequest {
    /// Always `client_credentials`.
    #[schema(example = "client_credentials", required = true)]
    pub grant_type: Option<String>,
    /// Issued by the operator.
    #[schema(required = true)]
    pub client_id: Option<String>,
    /// Issued by the operator.
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
        Self::without_nul(serde_urlencoded::from_bytes(body).map_err(|_| Malformed("the body is not a well-formed form".to_owned()))?)
    }

    /// Refuses NUL characters, which the database cannot even search for.
    fn without_nul(self) -> Result<Self, Malformed> {
        let secret = self.client_secret.as_ref().map(ExposeSecret::expose_secret);
        if [self.grant_type.as_deref(), self.client_id.as_deref(), secret].into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(Malformed("the body contains a NUL character".to_owned()));
        }
        Ok(self)
    }
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
