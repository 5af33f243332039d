//! Requests to the service, repeated until they are answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::orders::load::Connection;
use crate::stage::Stage;

const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// A merchant's system that calls the service.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) stage: Arc<Stage>,
    pub(super) address: SocketAddr,
    pub(super) shop: usize,
}

impl Caller {
    /// Repeats a request until it is answered. Returns the status and the body.
    pub(super) async fn send(&self, request: &str, key: &str, body: &Value) -> (u16, Vec<u8>) {
        let (token, body) = (self.stage.tokens.get(self.shop).map_or("", String::as_str), body.to_string());
        let request = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        loop {
            if let Some(mut connection) = Connection::open(self.address).await
                && let Some(status) = connection.exchange(request.as_bytes()).await
                && !matches!(status, 429 | 502 | 503)
            {
                return (status, connection.body().to_vec());
            }
            tokio::time::sleep(REPEAT_AFTER).await;
        }
    }

    /// Publishes one order. Returns the status.
    pub(super) async fn publish(&self, order: &Value) -> u16 {
        self.send("POST /returns_portal_orders", "-", &json!({"returns_portal_order": {"orders": [order]}})).await.0
    }
}
