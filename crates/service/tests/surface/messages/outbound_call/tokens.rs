//! Tokens of endpoints, fetched from a real token endpoint.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use backhaul::delivery::client::Client;
use backhaul::delivery::secrets::authentication::{OAuth, Style, Token, TokenCache};
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use domain::messages::delivery::Outcome;
use futures::future::join_all;
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;

use super::peers::{Peer, read_request};

const ENDPOINT: Uuid = Uuid::from_u128(1);

/// A token endpoint that numbers its tokens, and a cache that calls it.
struct World {
    peer: Peer,
    asked: Arc<Mutex<Vec<String>>>,
    client: Client,
    clock: Clock,
    cache: TokenCache,
}

impl World {
    /// The token endpoint answers with `status`, and with `more` after the token.
    async fn new(status: u16, more: &'static str) -> Self {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        let peer = Peer::at("127.0.0.1:0", move |mut stream| {
            let log = Arc::clone(&log);
            async move {
                let Some(request) = read_request(&mut stream).await else { return };
                let number = {
                    let mut log = log.lock().unwrap();
                    log.push(request.split_once("\r\n\r\n").unwrap().1.to_owned());
                    log.len()
                };
                let body = format!("{{\"access_token\":\"token-{number}\",\"token_type\":\"Bearer\"{more}}}");
                let answer = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await;
        let settings = [("BACKHAUL__MODE", "sandbox".to_owned()), ("BACKHAUL__OUTBOUND__ALLOWED", format!("[\"{}\"]", peer.address))];
        let settings = Settings::load(None, settings.into_iter().map(|(name, value)| (name.to_owned(), value))).unwrap();
        let clock = Clock::fixed("2026-03-01T12:00:00Z".parse().unwrap());
        let client = Client::new(&settings, clock.clone()).unwrap();
        Self { peer, asked, client, clock, cache: TokenCache::default() }
    }

    fn oauth(&self, client_secret: &str) -> OAuth {
        OAuth {
            token_url: self.peer.url("/token"),
            client_id: "us".to_owned(),
            client_secret: client_secret.into(),
            scope: None,
            style: Style::Form,
            extra: None,
        }
    }

    async fn token(&self) -> Result<Token, Outcome> {
        self.cache.token(&self.client, ENDPOINT, &self.oauth("secret"), None).await
    }

    async fn header(&self) -> String {
        header(&self.token().await.unwrap())
    }

    fn fetches(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn header(token: &Token) -> String {
    token.header().1.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_token_is_fetched_once_for_all_who_wait() {
    let world = World::new(200, r#","expires_in":3600"#).await;
    let tokens = join_all((0..50).map(|_| world.header())).await;
    assert!(tokens.iter().all(|token| token == "Bearer token-1"));
    assert_eq!(*world.asked.lock().unwrap(), ["grant_type=client_credentials&client_id=us&client_secret=secret"]);
}

#[tokio::test]
async fn a_failed_fetch_is_shared_and_the_next_caller_tries_again() {
    let world = World::new(500, "").await;
    let failure = Outcome::Refused("the token endpoint answered 500".to_owned());
    let outcomes = join_all((0..50).map(|_| world.token())).await;
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().err() == Some(&failure)));
    assert_eq!(world.fetches(), 1);
    assert_eq!(world.token().await.err(), Some(failure));
    assert_eq!(world.fetches(), 2);
}

#[tokio::test]
async fn a_token_is_used_until_shortly_before_its_end() {
    let world = World::new(200, r#","expires_in":3600"#).await;
    assert_eq!(world.header().await, "Bearer token-1");
    world.clock.advance(Duration::from_secs(3_539));
    assert_eq!(world.header().await, "Bearer token-1");
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.header().await, "Bearer token-2");
}

#[tokio::test]
async fn a_token_without_an_end_is_used_for_a_while() {
    let world = World::new(200, "").await;
    assert_eq!(world.header().await, "Bearer token-1");
    world.clock.advance(Duration::from_secs(269));
    assert_eq!(world.header().await, "Bearer token-1");
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.header().await, "Bearer token-2");
}

#[tokio::test]
async fn a_refused_token_is_dropped_only_if_it_is_the_one_that_is_kept() {
    let world = World::new(200, r#","expires_in":3600"#).await;
    let [first, same] = [world.token().await.unwrap(), world.token().await.unwrap()];
    world.cache.reject(&first).await;
    assert_eq!(world.header().await, "Bearer token-2");
    // The other call used the first token too, and reports it as refused only now.
    world.cache.reject(&same).await;
    assert_eq!(world.header().await, "Bearer token-2");
    assert_eq!(world.fetches(), 2);
}

#[tokio::test]
async fn other_settings_and_other_endpoints_have_other_tokens() {
    let world = World::new(200, r#","expires_in":3600"#).await;
    assert_eq!(world.header().await, "Bearer token-1");
    let changed = world.cache.token(&world.client, ENDPOINT, &world.oauth("changed"), None).await.unwrap();
    assert_eq!(header(&changed), "Bearer token-2");
    let other = world.cache.token(&world.client, Uuid::from_u128(2), &world.oauth("changed"), None).await.unwrap();
    assert_eq!(header(&other), "Bearer token-3");
}

#[tokio::test]
async fn tokens_are_not_fetched_from_inside() {
    let world = World::new(200, "").await;
    let strict = Client::new(&Settings::load(None, std::iter::empty()).unwrap(), Clock::system()).unwrap();
    let outcome = world.cache.token(&strict, ENDPOINT, &world.oauth("secret"), None).await.err();
    assert_eq!(outcome, Some(Outcome::Refused("the token endpoint: the URL must start with https://; plain http is called only at places that the setting outbound.allowed names".to_owned())));
    assert_eq!(world.peer.connections(), 0);
}

#[tokio::test]
async fn an_answer_without_a_token_is_a_failure() {
    let world = World::new(200, r#","access_token":"""#).await;
    let outcome = world.token().await.err();
    assert_eq!(outcome, Some(Outcome::Refused("the token endpoint answered without an access token".to_owned())));
}
