//! What the merchant does with a request.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::content::Content;

/// What the merchant does with a request: after a delay, it sends a reply or breaks the connection.
///
/// A header, a body or a way to send it turns whatever it was into a reply, with 200 unless it has a status.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) delay: Duration,
    pub(super) held: bool,
    pub(super) deed: Deed,
}

/// What is done in the end.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// What the path does by itself: issue a token, tell the variants that there are, or 200 with `{}`.
    Usual,
    /// A reply.
    Reply(Reply),
    /// 401 for whoever does not present this token.
    Challenge(String),
    /// The connection is reset before the body of the request is read.
    ResetUnread,
    /// The connection is reset.
    Reset,
    /// The connection is closed.
    Close,
}

/// A reply of HTTP.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    content: Content,
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Answer {
    fn new(deed: Deed) -> Self {
        Self { delay: Duration::ZERO, held: false, deed }
    }

    /// 200 with `{}`.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200).json(&serde_json::json!({}))
    }

    /// A status without a body. What is no status is 500.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(Deed::Reply(Reply { status, headers: Vec::new(), content: Content::Whole(Bytes::new()) }))
    }

    /// What the path does by itself: a token at the token endpoint, 200 with `{}` elsewhere.
    #[must_use]
    pub fn usual() -> Self {
        Self::new(Deed::Usual)
    }

    /// 302 to another URL.
    #[must_use]
    pub fn redirect(url: &str) -> Self {
        Self::status(302).header(LOCATION.as_str(), url)
    }

    /// 401 with a challenge.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::status(401).header(WWW_AUTHENTICATE.as_str(), "Bearer").json(&serde_json::json!({"message": "unauthorized"}))
    }

    /// 401 until this bearer token is presented, and then 200 with `{}`.
    #[must_use]
    pub fn unauthorized_until(token: &str) -> Self {
        Self::new(Deed::Challenge(token.to_owned()))
    }

    /// The request is read, and the connection reset (RST).
    #[must_use]
    pub fn reset() -> Self {
        Self::new(Deed::Reset)
    }

    /// The connection is reset (RST) once the head of the request names the path, and the request recorded without body. An
    /// answer that depends on the request comes too late for that: it resets after reading.
    #[must_use]
    pub fn reset_unread() -> Self {
        Self::new(Deed::ResetUnread)
    }

    /// The request is read, and the connection closed (FIN) without an answer.
    #[must_use]
    pub fn close() -> Self {
        Self::new(Deed::Close)
    }

    /// No answer until the merchant releases what hangs; then 200 with `{}`.
    #[must_use]
    pub fn hang() -> Self {
        Self::ok().held()
    }

    /// The same, this much later.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same, not before the merchant releases what is held.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// A header more. One that HTTP does not allow is left out.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) else { return self };
        self.reply(|reply| reply.headers.push((name, value)))
    }

    /// This body.
    #[must_use]
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.reply(|reply| reply.content = Content::Whole(body))
    }

    /// This body, as JSON.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        let body = Bytes::from(body.to_string());
        self.reply(|reply| {
            reply.headers.retain(|(name, _)| name != CONTENT_TYPE);
            reply.headers.push((CONTENT_TYPE, JSON));
            reply.content = Content::Whole(body);
        })
    }

    /// A body of this many bytes, one each interval; without a number, it never ends.
    #[must_use]
    pub fn drip(self, every: Duration, bytes: Option<u64>) -> Self {
        self.reply(|reply| reply.content = Content::drip(every, bytes))
    }

    /// A body that never ends, as fast as it is read.
    #[must_use]
    pub fn endless(self) -> Self {
        self.reply(|reply| reply.content = Content::Endless)
    }

    /// A body that is promised to be longer than this by a byte; then the connection is closed.
    #[must_use]
    pub fn cut_short(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.reply(|reply| reply.content = Content::cut_short(body))
    }

    fn reply(mut self, change: impl FnOnce(&mut Reply)) -> Self {
        match &mut self.deed {
            Deed::Reply(reply) => change(reply),
            Deed::Usual | Deed::Challenge(_) | Deed::ResetUnread | Deed::Reset | Deed::Close => {
                let mut reply = Reply { status: StatusCode::OK, headers: Vec::new(), content: Content::Whole(Bytes::new()) };
                change(&mut reply);
                self.deed = Deed::Reply(reply);
            }
        }
        self
    }
}

impl Reply {
    /// The reply as it is sent.
    pub(super) fn response(self) -> Response<Content> {
        let mut response = Response::new(self.content);
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
