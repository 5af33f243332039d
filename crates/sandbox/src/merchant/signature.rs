//! Verification of Standard Webhooks signatures, written independently of the service's signing code.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::received::{ID, Received};

const TIMESTAMP: &str = "webhook-timestamp";
const SIGNATURE: &str = "webhook-signature";

/// The tolerated difference between the sender's and the receiver's clock.
const TOLERANCE: Duration = Duration::from_mins(5);

/// The reasons a signature can be rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongSignature {
    #[error("the headers and the body were not kept")]
    NotKept,
    #[error("the header `{0}` is missing")]
    Missing(&'static str),
    #[error("the timestamp is not a number of seconds")]
    NoTime,
    #[error("the request was signed more than five minutes ago")]
    TooOld,
    #[error("the request was signed more than five minutes in the future")]
    TooNew,
    #[error("the secret is not `whsec_` followed by base64")]
    NoSecret,
    #[error("no signature of version 1 is correct")]
    NoneRight,
}

impl Received {
    /// Checks that the request is signed with this secret (`whsec_…`), and within five minutes of `now`.
    pub fn verify(&self, secret: &str, now: SystemTime) -> Result<(), WrongSignature> {
        let body = self.kept_body().ok_or(WrongSignature::NotKept)?;
        let header = |name| self.header(name).ok_or(WrongSignature::Missing(name));
        let (id, timestamp, signatures) = (header(ID)?, header(TIMESTAMP)?, header(SIGNATURE)?);
        let signed_at = timestamp.parse().ok().and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        let signed_at = signed_at.ok_or(WrongSignature::NoTime)?;
        if now.duration_since(signed_at).is_ok_and(|age| age > TOLERANCE) {
            return Err(WrongSignature::TooOld);
        }
        if signed_at.duration_since(now).is_ok_and(|ahead| ahead > TOLERANCE) {
            return Err(WrongSignature::TooNew);
        }
        let key = secret.strip_prefix("whsec_").and_then(|key| STANDARD.decode(key).ok()).ok_or(WrongSignature::NoSecret)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| WrongSignature::NoSecret)?;
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        let right = STANDARD.encode(mac.finalize().into_bytes());
        let given = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
        // Compare them all, so that the time taken does not reveal which one matched.
        let found = given.fold(false, |found, given| found | bool::from(given.as_bytes().ct_eq(right.as_bytes())));
        if found { Ok(()) } else { Err(WrongSignature::NoneRight) }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    // The example that the Standard Webhooks libraries are tested with.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const MESSAGE: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const SIGNED_AT: u64 = 1_614_265_330;
    const BODY: &str = r#"{"test": 2432232314}"#;
    const RIGHT: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn received(headers: &[(&str, &str)], body: &'static str) -> Received {
        let request = headers.iter().fold(hyper::Request::post("/"), |request, (name, value)| request.header(*name, *value));
        Received::now(1, request.body(()).unwrap().into_parts().0, Bytes::from_static(body.as_bytes()))
    }

    fn signed(signatures: &str) -> Received {
        received(&[(ID, MESSAGE), (TIMESTAMP, "1614265330"), (SIGNATURE, signatures)], BODY)
    }

    #[test]
    fn the_published_example_is_right() {
        assert_eq!(signed(RIGHT).verify(SECRET, at(SIGNED_AT)), Ok(()));
    }

    #[test]
    fn one_right_signature_among_several_is_enough() {
        let several = format!("v1,bm8= v2,bm8= {RIGHT} v1,");
        assert_eq!(signed(&several).verify(SECRET, at(SIGNED_AT)), Ok(()));
        assert_eq!(signed("v1,bm8= v1,").verify(SECRET, at(SIGNED_AT)), Err(WrongSignature::NoneRight));
    }

    #[test]
    fn five_minutes_are_tolerated_and_no_second_more() {
        let signed = signed(RIGHT);
        assert_eq!(signed.verify(SECRET, at(SIGNED_AT + 300)), Ok(()));
        assert_eq!(signed.verify(SECRET, at(SIGNED_AT - 300)), Ok(()));
        assert_eq!(signed.verify(SECRET, at(SIGNED_AT + 301)), Err(WrongSignature::TooOld));
        assert_eq!(signed.verify(SECRET, at(SIGNED_AT - 301)), Err(WrongSignature::TooNew));
    }

    #[test]
    fn any_change_is_noticed() {
        let now = at(SIGNED_AT);
        let other = |id, timestamp, body| received(&[(ID, id), (TIMESTAMP, timestamp), (SIGNATURE, RIGHT)], body);
        assert_eq!(other("msg_other", "1614265330", BODY).verify(SECRET, now), Err(WrongSignature::NoneRight));
        assert_eq!(other(MESSAGE, "1614265331", BODY).verify(SECRET, now), Err(WrongSignature::NoneRight));
        assert_eq!(other(MESSAGE, "1614265330", "{}").verify(SECRET, now), Err(WrongSignature::NoneRight));
        assert_eq!(other(MESSAGE, "yesterday", BODY).verify(SECRET, now), Err(WrongSignature::NoTime));
        assert_eq!(signed(&RIGHT.replace("v1,", "v2,")).verify(SECRET, now), Err(WrongSignature::NoneRight));
    }

    #[test]
    fn what_is_missing_is_named() {
        let now = at(SIGNED_AT);
        assert_eq!(received(&[], BODY).verify(SECRET, now), Err(WrongSignature::Missing(ID)));
        assert_eq!(received(&[(ID, MESSAGE)], BODY).verify(SECRET, now), Err(WrongSignature::Missing(TIMESTAMP)));
        let unsigned = received(&[(ID, MESSAGE), (TIMESTAMP, "1614265330")], BODY);
        assert_eq!(unsigned.verify(SECRET, now), Err(WrongSignature::Missing(SIGNATURE)));
        assert_eq!(signed(RIGHT).verify("MfKQ9r8G", now), Err(WrongSignature::NoSecret));
        assert_eq!(signed(RIGHT).verify("whsec_?", now), Err(WrongSignature::NoSecret));
        assert_eq!(signed(RIGHT).without_content().verify(SECRET, now), Err(WrongSignature::NotKept));
    }
}
