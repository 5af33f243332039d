//! The settings for traces.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// The export of traces to the operator's collector.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traces {
    endpoint: String,
    /// The part of the traces beginning here that is recorded, from 0 to 1.
    #[serde(deserialize_with = "ratio")]
    pub ratio: f64,
    timeout_ms: u64,
}

impl Traces {
    /// The URL of the collector; none if traces are off.
    #[must_use]
    pub fn endpoint(&self) -> Option<&str> {
        Some(self.endpoint.as_str()).filter(|url| !url.is_empty())
    }

    /// The time limit for one export.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// A number as a file has it, or as the environment does, where it is text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Ratio {
    Number(f64),
    Text(String),
}

fn ratio<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let (number, text) = match Ratio::deserialize(deserializer)? {
        Ratio::Number(number) => (Some(number), number.to_string()),
        Ratio::Text(text) => (text.parse().ok(), text),
    };
    let wrong = || serde::de::Error::custom(format!("`{text}` is not a part of the traces such as 0.05; set a number from 0 to 1"));
    number.filter(|number| (0.0..=1.0).contains(number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ratio: &str) -> Result<f64, String> {
        let traces: Result<Traces, _> = toml::from_str(&format!("endpoint = \"\"\nratio = {ratio}\ntimeout_ms = 1000"));
        traces.map(|traces| traces.ratio).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn the_ratio_is_a_number_from_0_to_1() {
        for (text, expected) in [("0", 0.0), ("1", 1.0), ("0.25", 0.25), ("\"0.25\"", 0.25), ("\"1\"", 1.0)] {
            assert!(read(text).is_ok_and(|ratio| (ratio - expected).abs() < f64::EPSILON), "{text}");
        }
        for text in ["1.5", "-0.1", "nan", "\"half\"", "\"\""] {
            let error = read(text).expect_err("not a ratio");
            assert!(error.contains("set a number from 0 to 1"), "{error}");
        }
    }
}
