//! An answer that has no end, such as a live feed, read piece by piece.

use std::time::Duration;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::Incoming;

use super::{Answer, CallResult, Client, Request};

/// The body of an answer that has begun. Dropping it closes the connection.
pub struct Stream {
    body: Incoming,
}

impl Client {
    /// Makes a call whose answer has no end. The request's deadline is that of the answer's head. Any answer but 200 is read as that
    /// of an ordinary call, and returned as an error.
    pub async fn open(&self, request: Request) -> Result<Stream, CallResult> {
        let began = self.clock.uptime();
        let deadline = request.deadline;
        let mut answer = Answer { most_read: request.most_read, most_kept: request.most_kept, ..Answer::default() };
        let opening = async {
            let response = self.send(request).await?;
            if response.status() == StatusCode::OK {
                return Ok(Stream { body: response.into_body() });
            }
            Err(self.read(response, &mut answer).await)
        };
        let opened = tokio::time::timeout(deadline, opening).await.unwrap_or(Err(Outcome::TimedOut));
        opened.map_err(|outcome| answer.result(outcome, self.clock.uptime().saturating_sub(began)))
    }
}

impl Stream {
    /// The next piece; `None` if the peer has ended the answer. Fails if nothing arrives `within` this time.
    pub async fn next(&mut self, within: Duration) -> Result<Option<Bytes>, Outcome> {
        loop {
            let frame = tokio::time::timeout(within, self.body.frame()).await.map_err(|_| Outcome::TimedOut)?;
            let broken = |_| Outcome::Unreachable("the connection broke".to_owned());
            match frame.transpose().map_err(broken)? {
                None => return Ok(None),
                Some(frame) => {
                    // Trailers are not data.
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}
