//! An identity provider, which tells the truth or lies as a test wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJsonWebKeySet, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

/// The name under which the provider knows the console, and its secret.
pub const CLIENT: &str = "backhaul-console";
pub const CLIENT_SECRET: &str = "known to the provider";

/// A running provider.
#[derive(Clone)]
pub struct Provider(Arc<Parts>);

struct Parts {
    issuer: String,
    /// The codes that were given out, each with the challenge, the return address and the claims of the ID token.
    codes: Mutex<BTreeMap<String, (String, String, Value)>>,
    /// ID tokens are signed with a key that is not among the published ones.
    signs_with_another_key: Mutex<bool>,
}

/// A signing key, from a seed.
fn key(seed: u8) -> CoreEdDsaPrivateSigningKey {
    // PKCS #8: the version, the algorithm Ed25519, and the 32 bytes of the seed.
    let head = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    let encoded = STANDARD.encode([head.as_slice(), &[seed; 32]].concat());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{encoded}\n-----END PRIVATE KEY-----\n");
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, Some(JsonWebKeyId::new("test".to_owned()))).unwrap()
}

impl Provider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let provider = Self(Arc::new(Parts { issuer, codes: Mutex::default(), signs_with_another_key: Mutex::new(false) }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(describe))
            .route("/keys", get(async || Json(CoreJsonWebKeySet::new(vec![key(1).as_verification_key()]))))
            .route("/token", post(exchange))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    /// The settings of a console that uses this provider.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BACKHAUL__CONSOLE__URL", "https://console.example.com".to_owned()),
            ("BACKHAUL__CONSOLE__OIDC__ISSUER", self.0.issuer.clone()),
            ("BACKHAUL__CONSOLE__OIDC__CLIENT_ID", CLIENT.to_owned()),
            ("BACKHAUL__CONSOLE__OIDC__CLIENT_SECRET", CLIENT_SECRET.to_owned()),
            ("BACKHAUL__CONSOLE__OIDC__GROUPS__DESK", "support".to_owned()),
            ("BACKHAUL__CONSOLE__OIDC__GROUPS__ADMINS", "admin".to_owned()),
        ]
    }

    pub fn signs_with_another_key(&self) {
        *self.0.signs_with_another_key.lock().unwrap() = true;
    }

    /// Lets somebody in who was sent here, and returns the path and query with which they go back. `change` may alter the claims.
    pub fn lets_in(&self, sent_to: &str, now: i64, change: impl FnOnce(&mut Value)) -> String {
        let (address, query) = sent_to.split_once('?').unwrap();
        assert_eq!(address, format!("{}/authorize", self.0.issuer));
        let asked: BTreeMap<String, String> = serde_urlencoded::from_str(query).unwrap();
        assert_eq!((asked["client_id"].as_str(), asked["response_type"].as_str()), (CLIENT, "code"));
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"));
        let mut claims = json!({
            "iss": self.0.issuer, "aud": CLIENT, "sub": "person-1", "iat": now, "exp": now + 300, "nonce": asked["nonce"],
            "email": "desk.one@ops.example.com", "email_verified": true, "name": "Desk One", "groups": ["everybody", "desk"],
        });
        change(&mut claims);
        let code = format!("code-{}", self.0.codes.lock().unwrap().len());
        let kept = (asked["code_challenge"].clone(), asked["redirect_uri"].clone(), claims);
        self.0.codes.lock().unwrap().insert(code.clone(), kept);
        let (_, path) = asked["redirect_uri"].split_once("://").unwrap().1.split_once('/').unwrap();
        format!("/{path}?{}", serde_urlencoded::to_string([("code", &code), ("state", &asked["state"])]).unwrap())
    }

    fn sign(&self, claims: &Value) -> String {
        let key = key(if *self.0.signs_with_another_key.lock().unwrap() { 2 } else { 1 });
        let head = URL_SAFE_NO_PAD.encode(json!({ "alg": "EdDSA", "kid": "test", "typ": "JWT" }).to_string());
        let body = URL_SAFE_NO_PAD.encode(claims.to_string());
        let text = format!("{head}.{body}");
        let signature = key.sign(&CoreJwsSigningAlgorithm::EdDsa, text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn describe(State(provider): State<Provider>) -> Json<Value> {
    let issuer = &provider.0.issuer;
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    }))
}

async fn exchange(State(provider): State<Provider>, headers: axum::http::HeaderMap, body: String) -> Result<Json<Value>, StatusCode> {
    let form: BTreeMap<String, String> = serde_urlencoded::from_str(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let right = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{}", CLIENT_SECRET.replace(' ', "+"))));
    if headers.get("authorization").is_none_or(|given| given.as_bytes() != right.as_bytes()) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    // Each code works once.
    let kept = provider.0.codes.lock().unwrap().remove(&form["code"]);
    let (challenge, back, claims) = kept.ok_or(StatusCode::BAD_REQUEST)?;
    let proven = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"])) == challenge;
    if !proven || back != form["redirect_uri"] {
        return Err(StatusCode::BAD_REQUEST);
    }
    let token = provider.sign(&claims);
    Ok(Json(json!({ "access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": token })))
}
