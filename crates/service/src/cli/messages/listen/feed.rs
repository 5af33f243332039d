//! The live feed of a merchant's messages, read as a client of the public API.

use std::str::FromStr;
use std::time::Duration;

use domain::messages::delivery::Outcome;
use domain::messages::message::Interface;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;
use uuid::Uuid;
use wire::messages::event::{self, EventIn};

use super::frames::{Frame, Frames};
use crate::delivery::client::stream::Stream;
use crate::delivery::client::{CallResult, Client};
use crate::delivery::secrets::authentication::{OAuth, Style, TokenCache};

/// The longest silence of the feed. When it has nothing to tell, it says so every 15 seconds.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The place at which a listener begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Now,
    Beginning,
    /// After the event with this cursor.
    After(String),
}

/// The text is not a [`Start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the place must be `now`, `beginning`, or a cursor of the feed")]
pub(super) struct NoStart;

impl FromStr for Start {
    type Err = NoStart;

    fn from_str(text: &str) -> Result<Self, NoStart> {
        match text {
            "now" => Ok(Self::Now),
            "beginning" => Ok(Self::Beginning),
            cursor => event::read_cursor(cursor).map(|_| Self::After(cursor.to_owned())).ok_or(NoStart),
        }
    }
}

/// A step in the feed.
pub(super) struct Item {
    pub(super) message: Option<EventIn>,
    /// The place after the message.
    pub(super) cursor: Option<String>,
}

/// A reason that the feed cannot be read at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The service has ended the stream. It can be opened again at once.
    Ended,
    /// The service cannot be reached, or refuses.
    Failed(String),
}

impl Trouble {
    pub(super) fn is_end(&self) -> bool {
        *self == Self::Ended
    }

    /// The reason in words.
    pub(super) fn explained(&self) -> String {
        match self {
            Self::Ended => "the service ended the stream".to_owned(),
            Self::Failed(why) => why.clone(),
        }
    }
}

/// The detail of an error that the API answers with.
#[derive(Deserialize)]
struct Problem {
    #[serde(alias = "detail")]
    message: String,
}

/// The feed, from a place on.
pub(super) struct Feed {
    client: Client,
    /// Without a slash at its end.
    api: String,
    oauth: OAuth,
    tokens: TokenCache,
    interface: Option<Interface>,
    /// The place to open the stream at.
    at: Start,
    open: Option<(Stream, Frames)>,
}

impl Feed {
    pub(super) fn new(
        client: Client,
        api: &Url,
        client_id: String,
        client_secret: SecretString,
        interface: Option<Interface>,
        at: Start,
    ) -> Self {
        let api = api.as_str().trim_end_matches('/').to_owned();
        let token_url = format!("{api}/oauth/token");
        let oauth = OAuth { token_url, client_id, client_secret, scope: None, style: Style::Form, extra: None };
        Self { client, api, oauth, tokens: TokenCache::default(), interface, at, open: None }
    }

    /// The next step, which is waited for. After trouble, the stream is opened again where it was left.
    pub(super) async fn next(&mut self) -> Result<Item, Trouble> {
        let frame = self.frame().await;
        if frame.is_err() {
            self.open = None;
        }
        let Frame { id, data } = frame?;
        if let Some(cursor) = &id {
            self.at = Start::After(cursor.clone());
        }
        let message = data.map(|data| event::read(&data).ok_or_else(|| self.explain_unread(&data))).transpose()?;
        Ok(Item { message, cursor: id })
    }

    async fn frame(&mut self) -> Result<Frame, Trouble> {
        if self.open.is_none() {
            self.open = Some((self.connect().await?, Frames::default()));
        }
        let Some((stream, frames)) = &mut self.open else { return Err(Trouble::Ended) };
        loop {
            if let Some(frame) = frames.next() {
                return Ok(frame);
            }
            match stream.next(LONGEST_SILENCE).await {
                Ok(Some(piece)) => {
                    frames.add(&piece).map_err(|_| Trouble::Failed(format!("{} sends an event without an end", self.api)))?;
                }
                Ok(None) => return Err(Trouble::Ended),
                Err(_) => return Err(Trouble::Failed(format!("the connection to {} was lost", self.api))),
            }
        }
    }

    /// Opens the stream, with a new token if the one at hand is refused.
    async fn connect(&self) -> Result<Stream, Trouble> {
        match self.try_connect().await? {
            Ok(stream) => Ok(stream),
            Err(CallResult { outcome: Outcome::Answered { status: 401, .. }, .. }) => {
                self.try_connect().await?.map_err(|refused| self.explain(&refused))
            }
            Err(refused) => Err(self.explain(&refused)),
        }
    }

    async fn try_connect(&self) -> Result<Result<Stream, CallResult>, Trouble> {
        let token =
            self.tokens.token(&self.client, Uuid::nil(), &self.oauth, None).await.map_err(|outcome| self.explain_token(&outcome))?;
        let interface = self.interface.map(|interface| format!("interface={interface}"));
        let place = match &self.at {
            Start::Now => Some("from=now".to_owned()),
            Start::Beginning => Some("from=beginning".to_owned()),
            Start::After(_) => None,
        };
        let query: Vec<String> = interface.into_iter().chain(place).collect();
        let mut request = self.client.request(Method::GET, &format!("{}/v1/events/stream?{}", self.api, query.join("&")));
        request.headers.extend([token.header()]);
        request.headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Start::After(cursor) = &self.at
            && let Ok(cursor) = HeaderValue::from_str(cursor)
        {
            request.headers.insert(LAST_EVENT_ID, cursor);
        }
        let opened = self.client.open(request).await;
        if let Err(CallResult { outcome: Outcome::Answered { status: 401, .. }, .. }) = &opened {
            self.tokens.reject(&token).await;
        }
        Ok(opened)
    }

    fn explain_token(&self, outcome: &Outcome) -> Trouble {
        let (api, id) = (&self.api, &self.oauth.client_id);
        Trouble::Failed(match outcome {
            Outcome::Refused(why) => format!(
                "{api} gives no token to {id}: {why}; check the credential and its secret (`backhaul credential list`), and that this is the address of the API"
            ),
            Outcome::Unreachable(why) => format!("{api} cannot be reached: {why}; check the address, and that the service runs"),
            Outcome::TimedOut => format!("{api} does not answer; check that the service runs"),
            Outcome::Answered { status, .. } => format!("{api} answered {status}"),
        })
    }

    /// The last event of a feed that cannot be read on is the reason.
    fn explain_unread(&self, data: &str) -> Trouble {
        let api = &self.api;
        Trouble::Failed(match serde_json::from_str::<Problem>(data) {
            Ok(problem) => format!("{api} ends the feed: {}", problem.message),
            Err(_) => format!("{api} sent something that is no event; is it the address of a service?"),
        })
    }

    fn explain(&self, refused: &CallResult) -> Trouble {
        let api = &self.api;
        Trouble::Failed(match &refused.outcome {
            Outcome::Answered { status, .. } => {
                let said = serde_json::from_slice::<Problem>(&refused.answer).map(|problem| format!(": {}", problem.message));
                format!("{api} answered {status}{}", said.unwrap_or_default())
            }
            Outcome::TimedOut => format!("{api} does not answer; check that the service runs"),
            Outcome::Unreachable(why) | Outcome::Refused(why) => {
                format!("{api} cannot be reached: {why}; check the address, and that the service runs")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::messages::feed::{Cursor, Position};

    use super::*;

    #[test]
    fn a_place_is_a_word_or_a_cursor() {
        let cursor = event::write_cursor(Cursor::At(Position::START));
        assert_eq!("now".parse(), Ok(Start::Now));
        assert_eq!("beginning".parse(), Ok(Start::Beginning));
        assert_eq!(cursor.parse(), Ok(Start::After(cursor.clone())));
        assert_eq!("yesterday".parse::<Start>(), Err(NoStart));
    }
}
