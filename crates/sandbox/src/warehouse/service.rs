//! A client for the service's API, with a token and a deadline.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// The deadline of one call, from connecting to the end of the response.
const DEADLINE: Duration = Duration::from_secs(20);
/// The most bytes read of a response.
const MOST_ANSWER: usize = 4 * 1024 * 1024;
/// The most pages of a list read in one round; the rest waits for the next.
const MOST_PAGES: usize = 20;

/// The service's URL and the credential to call it with.
pub(super) struct Service {
    uri: Uri,
    client_id: String,
    client_secret: String,
    token: Mutex<Option<String>>,
    /// The address to name in `X-Forwarded-For`.
    from: Option<IpAddr>,
}

/// The error for a URL that cannot be the service's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the service's URL must have `http://` and a host")]
pub struct NoService;

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// There was no response, or an unreadable one.
    #[error("the service cannot be reached")]
    Unreachable,
    #[error("{path} was answered with {status}: {message}")]
    Refused { path: String, status: u16, message: String },
}

impl Service {
    pub(super) fn new(base: &str, client_id: &str, client_secret: &str) -> Result<Self, NoService> {
        let uri: Uri = base.parse().map_err(|_| NoService)?;
        let is_http = uri.scheme_str() == Some("http") && uri.host().is_some();
        let (client_id, client_secret) = (client_id.to_owned(), client_secret.to_owned());
        let service = Self { uri, client_id, client_secret, token: Mutex::new(None), from: None };
        is_http.then_some(service).ok_or(NoService)
    }

    /// The same service, called through a proxy that names `address` as the caller.
    pub(super) fn called_from(self, address: IpAddr) -> Self {
        Self { from: Some(address), ..self }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Trouble> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Calls with a token, and once more with a new one if the old one is rejected.
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Trouble> {
        for last in [false, true] {
            let token = self.token().await?;
            let (status, answer) = self.request(method.clone(), path, body, Some(&token)).await?;
            if status == StatusCode::UNAUTHORIZED && !last {
                *self.token.lock().await = None;
                continue;
            }
            return if status.is_success() { Ok(answer) } else { Err(refused(path, status, &answer)) };
        }
        Err(Trouble::Unreachable)
    }

    async fn token(&self) -> Result<String, Trouble> {
        let mut kept = self.token.lock().await;
        if let Some(token) = &*kept {
            return Ok(token.clone());
        }
        let path = "/oauth/token";
        let grant = json!({ "grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.client_secret });
        let (status, answer) = self.request(Method::POST, path, Some(&grant), None).await?;
        let token = answer.get("access_token").and_then(Value::as_str).ok_or_else(|| refused(path, status, &answer))?;
        Ok(kept.insert(token.to_owned()).clone())
    }

    async fn request(&self, method: Method, path: &str, body: Option<&Value>, token: Option<&str>) -> Result<(StatusCode, Value), Trouble> {
        let answered = tokio::time::timeout(DEADLINE, self.send(method, path, body, token)).await;
        answered.ok().flatten().ok_or(Trouble::Unreachable)
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>, token: Option<&str>) -> Option<(StatusCode, Value)> {
        let authority = self.uri.authority()?;
        // A URL has an IPv6 address in brackets, which the resolver does not understand.
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await.ok()?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
        let mut request = Request::builder().method(method).uri(path).header(HOST, authority.as_str());
        request = request.header(CONTENT_TYPE, "application/json").header(USER_AGENT, "SimWarehouse/1.0");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(from) = self.from {
            request = request.header("X-Forwarded-For", from.to_string());
        }
        let request = request.body(Full::new(body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string())))).ok()?;
        let answer = async {
            let answer = sender.send_request(request).await.ok()?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), MOST_ANSWER).collect().await.ok()?.to_bytes();
            Some((status, serde_json::from_slice(&body).unwrap_or_default()))
        };
        tokio::pin!(connection);
        tokio::pin!(answer);
        tokio::select! {
            biased;
            answer = &mut answer => answer,
            // If the connection ends with the response, the rest of it is buffered already.
            _ = &mut connection => answer.await,
        }
    }
}

/// Reads the paginated list at `path` and returns the names of the entries that `wanted` selects.
pub(super) async fn names(
    service: &Service,
    path: &str,
    filter: &str,
    name: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Vec<String>, Trouble> {
    let mut names = Vec::new();
    let mut cursor = String::new();
    for _ in 0..MOST_PAGES {
        let page = service.get(&format!("{path}?limit=100{filter}{cursor}")).await?;
        let listed = page.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        names.extend(listed.iter().filter(|one| wanted(one)).filter_map(|one| one.get(name)?.as_str()).map(ToOwned::to_owned));
        let Some(next) = page.get("next").and_then(Value::as_str) else { break };
        cursor = format!("&cursor={next}");
    }
    Ok(names)
}

fn refused(path: &str, status: StatusCode, answer: &Value) -> Trouble {
    let message = answer.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    Trouble::Refused { path: path.to_owned(), status: status.as_u16(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_http_and_has_a_host() {
        assert!(Service::new("http://127.0.0.1:8080", "", "").is_ok());
        for base in ["", "/v1", "https://example.com", "example.com"] {
            assert!(Service::new(base, "", "").is_err(), "{base}");
        }
    }

    #[tokio::test]
    async fn a_service_that_does_not_listen_is_unreachable() {
        // The port of a closed listener.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let service = Service::new(&format!("http://{gone}"), "", "").unwrap();
        assert_eq!(service.get("/v1/drop_ship_orders").await, Err(Trouble::Unreachable));
    }
}
