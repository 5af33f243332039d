//! The merchant's possible reactions to a request.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::content::Content;

/// The merchant's reaction to a request: after a delay, it sends a reply or breaks the connection.
///
/// Setting a header or a body turns any answer into a reply, with status 200 unless another is set.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) delay: Duration,
    pub(super) held: bool,
    pub(super) action: Action,
}

/// The final action of an answer, after all delays.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// The path's default: issue a token, list the variants, or 200 with `{}`.
    Usual,
    Reply(Reply),
    /// 401 unless this token is presented.
    Challenge(String),
    /// Resets the connection before reading the body of the request.
    ResetUnread,
    Reset,
    Close,
}

/// An HTTP reply.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    content: Content,
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Answer {
    fn new(action: Action) -> Self {
        Self { delay: Duration::ZERO, held: false, action }
    }

    /// 200 with `{}`.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200).json(&serde_json::json!({}))
    }

    /// A status without a body. An invalid status becomes 500.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(Action::Reply(Reply { status, headers: Vec::new(), content: Content::Whole(Bytes::new()) }))
    }

    /// The path's default: a token at the token endpoint, variants where they are asked for, 200 with `{}` elsewhere.
    #[must_use]
    pub fn usual() -> Self {
        Self::new(Action::Usual)
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
        Self::new(Action::Challenge(token.to_owned()))
    }

    /// Reads the request and resets the connection (RST).
    #[must_use]
    pub fn reset() -> Self {
        Self::new(Action::Reset)
    }

    /// Resets the connection (RST) as soon as the request head has arrived; the request is recorded without its body. An answer
    /// chosen by [`Merchant::answer_by`](super::Merchant::answer_by) comes too late for that and resets after reading.
    #[must_use]
    pub fn reset_unread() -> Self {
        Self::new(Action::ResetUnread)
    }

    /// Reads the request and closes the connection (FIN) without a response.
    #[must_use]
    pub fn close() -> Self {
        Self::new(Action::Close)
    }

    /// No response until [`Merchant::release`](super::Merchant::release); then 200 with `{}`.
    #[must_use]
    pub fn hang() -> Self {
        Self::ok().held()
    }

    /// Delays the answer.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Holds the answer until [`Merchant::release`](super::Merchant::release).
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Adds a header. One that HTTP does not allow is left out.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) else { return self };
        self.reply(|reply| reply.headers.push((name, value)))
    }

    /// Sets the body.
    #[must_use]
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.reply(|reply| reply.content = Content::Whole(body))
    }

    /// Sets a JSON body and its content type.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        let body = Bytes::from(body.to_string());
        self.reply(|reply| {
            reply.headers.retain(|(name, _)| name != CONTENT_TYPE);
            reply.headers.push((CONTENT_TYPE, JSON));
            reply.content = Content::Whole(body);
        })
    }

    /// Sends a body of this many bytes, one per interval. With `None` it never ends.
    #[must_use]
    pub fn drip(self, every: Duration, bytes: Option<u64>) -> Self {
        self.reply(|reply| reply.content = Content::drip(every, bytes))
    }

    /// Sends an endless body as fast as it is read.
    #[must_use]
    pub fn endless(self) -> Self {
        self.reply(|reply| reply.content = Content::Endless)
    }

    /// Announces a body one byte longer than this one, sends this one and closes the connection.
    #[must_use]
    pub fn cut_short(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        self.reply(|reply| reply.content = Content::cut_short(body))
    }

    fn reply(mut self, change: impl FnOnce(&mut Reply)) -> Self {
        match &mut self.action {
            Action::Reply(reply) => change(reply),
            Action::Usual | Action::Challenge(_) | Action::ResetUnread | Action::Reset | Action::Close => {
                let mut reply = Reply { status: StatusCode::OK, headers: Vec::new(), content: Content::Whole(Bytes::new()) };
                change(&mut reply);
                self.action = Action::Reply(reply);
            }
        }
        self
    }
}

impl Reply {
    /// Builds the HTTP response.
    pub(super) fn response(self) -> Response<Content> {
        let mut response = Response::new(self.content);
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
