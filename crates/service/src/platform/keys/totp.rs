//! The codes of authenticators (RFC 6238): six digits, a new one every 30 seconds.

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use crate::platform::entropy::Entropy;

/// The seconds for which a code is shown.
const PERIOD: i64 = 30;
/// The bytes of a secret, as many as SHA-1 has.
const BYTES: usize = 20;
/// The steps before and after the current one whose codes are accepted, for clocks that differ.
const WINDOW: i64 = 1;
const ALPHABET: [char; 32] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', '2',
    '3', '4', '5', '6', '7',
];

/// The secret that the service shares with an authenticator. Its `Debug` shows nothing.
#[derive(Clone, Debug)]
pub struct TotpSecret(SecretSlice<u8>);

impl TotpSecret {
    /// A new secret.
    #[must_use]
    pub fn new(entropy: &Entropy) -> Self {
        Self(entropy.bytes::<BYTES>().to_vec().into())
    }

    /// The secret with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec().into())
    }

    /// Its bytes, to be sealed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// The text that people can type, in base 32.
    #[must_use]
    pub fn text(&self) -> SecretString {
        base32(self.bytes()).into()
    }

    /// Reads the text of [`TotpSecret::text`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(BYTES);
        let (mut buffer, mut bits) = (0_u32, 0_u32);
        for letter in text.chars() {
            let value = u32::try_from(ALPHABET.iter().position(|known| *known == letter)?).ok()?;
            (buffer, bits) = (buffer << 5 | value, bits + 5);
            if bits >= 8 {
                bits -= 8;
                bytes.push(u8::try_from(buffer >> bits & 0xff).ok()?);
            }
        }
        Some(Self(bytes.into()))
    }

    /// The address that authenticators read.
    #[must_use]
    pub fn link(&self, account: &str) -> SecretString {
        let secret = self.text();
        let query = [("secret", secret.expose_secret()), ("issuer", "Backhaul"), ("algorithm", "SHA1"), ("digits", "6"), ("period", "30")];
        let query = serde_urlencoded::to_string(query).unwrap_or_default();
        let account = percent_encoding::utf8_percent_encode(account, percent_encoding::NON_ALPHANUMERIC);
        format!("otpauth://totp/Backhaul:{account}?{query}").into()
    }

    /// The step whose code this is, of those around `now`.
    #[must_use]
    pub fn step_of(&self, code: &str, now: DateTime<Utc>) -> Option<i64> {
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let current = now.timestamp().div_euclid(PERIOD);
        let is_right = |step: &i64| self.code(*step).is_some_and(|right| right.as_bytes().ct_eq(code.as_bytes()).into());
        (current - WINDOW..=current + WINDOW).find(is_right)
    }

    /// The code of a step.
    #[must_use]
    pub fn code(&self, step: i64) -> Option<String> {
        let number = truncated(self.bytes(), u64::try_from(step).ok()?)? % 1_000_000;
        Some(format!("{number:06}"))
    }

    /// The code that an authenticator shows at `now`.
    #[must_use]
    pub fn code_at(&self, now: DateTime<Utc>) -> Option<String> {
        self.code(now.timestamp().div_euclid(PERIOD))
    }
}

/// The number behind a code (RFC 4226, section 5.3).
fn truncated(secret: &[u8], step: u64) -> Option<u32> {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).ok()?;
    mac.update(&step.to_be_bytes());
    let hash: [u8; 20] = mac.finalize().into_bytes().into();
    let offset = usize::from(hash.last()? & 0x0f);
    let bytes: [u8; 4] = hash.get(offset..offset + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes) & 0x7fff_ffff)
}

/// Base 32 without padding (RFC 4648).
pub(crate) fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    let letter = |value: u32| usize::try_from(value & 0x1f).ok().and_then(|at| ALPHABET.get(at)).copied().unwrap_or('A');
    for byte in bytes {
        (buffer, bits) = (buffer << 8 | u32::from(*byte), bits + 8);
        while bits >= 5 {
            bits -= 5;
            text.push(letter(buffer >> bits));
        }
        buffer &= 0xff;
    }
    if bits > 0 {
        text.push(letter(buffer << (5 - bits)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> TotpSecret {
        TotpSecret::from_bytes(b"12345678901234567890")
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn the_codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, of whose eight digits ours are the last six.
        for (seconds, code) in [
            (59, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] {
            assert_eq!(secret().code_at(at(seconds)).as_deref(), Some(&code[2..]));
        }
    }

    #[test]
    fn a_code_of_the_step_before_and_after_is_right() {
        let now = at(1_111_111_109);
        let step = 1_111_111_109 / 30;
        for (of, accepted) in [(step - 2, false), (step - 1, true), (step, true), (step + 1, true), (step + 2, false)] {
            let code = secret().code(of).unwrap();
            assert_eq!(secret().step_of(&code, now).is_some_and(|found| found == of), accepted, "{of}");
        }
        let shown = secret().code(step).unwrap();
        assert_eq!(secret().step_of(&format!("{} {}", &shown[..3], &shown[3..]), now), Some(step));
        for wrong in ["", "0", "12345", "1234567", "ABCDEF"] {
            assert_eq!(secret().step_of(wrong, now), None);
        }
    }

    #[test]
    fn base_32_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI")]
        {
            assert_eq!(base32(bytes.as_bytes()), text);
            assert_eq!(TotpSecret::parse(text).unwrap().bytes(), bytes.as_bytes());
        }
        assert!(TotpSecret::parse("a1").is_none());
    }

    #[test]
    fn an_authenticator_reads_the_link() {
        let link = secret().link("a@example.com");
        assert_eq!(
            link.expose_secret(),
            "otpauth://totp/Backhaul:a%40example%2Ecom?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Backhaul&algorithm=SHA1&digits=6&period=30"
        );
        assert!(!format!("{:?}", secret()).contains("49"), "the secret is not printed");
        assert_ne!(TotpSecret::new(&Entropy::seeded(1)).bytes(), TotpSecret::new(&Entropy::seeded(2)).bytes());
    }
}
