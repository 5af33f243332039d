//! The token endpoint, and the paths that require its tokens.

use std::time::Duration;

use sandbox::merchant::{Answer, Merchant, TOKEN_PATH};
use serde_json::{Value, json};

use crate::caller::Caller;

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const FORM: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded; charset=utf-8")];
const GOOD: &str = r#"{"grant_type": "client_credentials", "client_id": "backhaul", "client_secret": "s p&ce"}"#;

async fn merchant() -> (Merchant, Caller) {
    let merchant = Merchant::start().await.unwrap();
    merchant.expect_client("backhaul", "s p&ce");
    let caller = Caller::of(&merchant).await;
    (merchant, caller)
}

/// Requests a token. Returns the status and the body of the response.
async fn ask(caller: &mut Caller, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
    let answer = caller.post(TOKEN_PATH, headers, body).await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap())
}

/// The status of a call with this token.
async fn call(caller: &mut Caller, token: &str) -> u16 {
    caller.post("/rma", &[("authorization", &format!("Bearer {token}"))], "{}").await.status().as_u16()
}

#[tokio::test]
async fn tokens_are_issued_for_json_and_for_forms() {
    let (merchant, mut caller) = merchant().await;
    assert_eq!(merchant.tokens().url(), merchant.url("/oauth/token"));
    assert_eq!(merchant.tokens().newest(), None);
    let first = json!({"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600});
    assert_eq!(ask(&mut caller, &JSON, GOOD).await, (200, first));
    merchant.tokens().expires_in(Duration::from_secs(5));
    let second = json!({"access_token": "token-2", "token_type": "Bearer", "expires_in": 5});
    let form = "grant_type=client_credentials&client_id=backhaul&client_secret=s+p%26ce";
    assert_eq!(ask(&mut caller, &FORM, form).await, (200, second));
    merchant.tokens().expires_in(None);
    let third = json!({"access_token": "token-3", "token_type": "Bearer"});
    assert_eq!(ask(&mut caller, &[], GOOD).await, (200, third));
    assert_eq!(merchant.tokens().newest().as_deref(), Some("token-3"));
    assert_eq!((merchant.token_fetches(), merchant.count()), (3, 0));
}

#[tokio::test]
async fn a_wrong_request_gets_no_token() {
    let (merchant, mut caller) = merchant().await;
    let other = |from, to| GOOD.replace(from, to);
    assert_eq!(ask(&mut caller, &JSON, &other("s p&ce", "guess")).await, (401, json!({"error": "invalid_client"})));
    assert_eq!(ask(&mut caller, &JSON, &other("backhaul", "somebody")).await, (401, json!({"error": "invalid_client"})));
    assert_eq!(ask(&mut caller, &JSON, &other("client_secret", "secret")).await, (401, json!({"error": "invalid_client"})));
    assert_eq!(ask(&mut caller, &JSON, &other("client_cred", "cred")).await, (400, json!({"error": "unsupported_grant_type"})));
    assert_eq!(ask(&mut caller, &JSON, "[]").await, (400, json!({"error": "invalid_request"})));
    assert_eq!(ask(&mut caller, &FORM, "").await, (400, json!({"error": "unsupported_grant_type"})));
    assert_eq!((merchant.token_fetches(), merchant.tokens().newest()), (6, None));
}

#[tokio::test]
async fn everybody_gets_a_token_when_nobody_is_expected() {
    let merchant = Merchant::start().await.unwrap();
    assert_eq!(ask(&mut Caller::of(&merchant).await, &JSON, GOOD).await.0, 200);
}

#[tokio::test]
async fn the_token_endpoint_fails_and_is_slow_as_it_is_told() {
    let (merchant, mut caller) = merchant().await;
    // An answer for all paths does not apply to it.
    merchant.answer("/", Answer::status(500));
    let late = Duration::from_millis(20);
    merchant.tokens().answer_next([Answer::status(503), Answer::usual().delay(late)]);
    assert_eq!(caller.post(TOKEN_PATH, &JSON, GOOD).await.status(), 503);
    let begun = tokio::time::Instant::now();
    assert_eq!(ask(&mut caller, &JSON, GOOD).await.1["access_token"], "token-1");
    assert!(begun.elapsed() >= late);
    assert_eq!(ask(&mut caller, &JSON, GOOD).await.1["access_token"], "token-2");
    merchant.tokens().answer(Answer::status(502));
    assert_eq!(caller.post(TOKEN_PATH, &JSON, GOOD).await.status(), 502);
    assert_eq!(merchant.token_fetches(), 4);
}

#[tokio::test]
async fn only_the_newest_token_opens_a_path_that_asks_for_one() {
    let (merchant, mut caller) = merchant().await;
    merchant.requires_token("/rma");
    merchant.answer_next("/rma", [Answer::status(202)]);
    assert_eq!(caller.status("/rma").await, 401);
    assert_eq!(call(&mut caller, "token-1").await, 401);
    ask(&mut caller, &JSON, GOOD).await;
    assert_eq!(call(&mut caller, "token-1").await, 202, "a refused request uses up no queued answer");
    assert_eq!(call(&mut caller, "token-1").await, 200);
    assert_eq!(caller.status("/asn").await, 200);

    merchant.revoke_tokens();
    assert_eq!((call(&mut caller, "token-1").await, merchant.tokens().newest()), (401, None));
    ask(&mut caller, &JSON, GOOD).await;
    assert_eq!((call(&mut caller, "token-1").await, call(&mut caller, "token-2").await), (401, 200));
    ask(&mut caller, &JSON, GOOD).await;
    assert_eq!((call(&mut caller, "token-2").await, call(&mut caller, "token-3").await), (401, 200));
    assert_eq!((merchant.token_fetches(), merchant.count()), (3, 10));
}

#[tokio::test]
async fn a_token_is_asked_for_without_a_token() {
    let (merchant, mut caller) = merchant().await;
    merchant.requires_token("/");
    assert_eq!(ask(&mut caller, &JSON, GOOD).await.0, 200);
    assert_eq!(call(&mut caller, "token-1").await, 200);
}
