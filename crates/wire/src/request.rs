//! Reading a request: typed first, and explained through its schema only if that fails.

use serde::Deserialize;

use crate::explainer::Explainer;
use crate::fault::{Fault, MOST_TOLD, Path};
use crate::json::{self, Malformed};

/// The reasons a message is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The body is not JSON.
    Malformed(Malformed),
    /// The body is JSON, but not a valid message.
    Faulty(Faults),
}

/// The faults of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Faults outside of the orders first, then order by order; at most [`MOST_TOLD`].
    pub faults: Vec<Fault>,
    /// The identifiers of the message's orders, as far as they are readable and valid.
    pub identifiers: Vec<String>,
}

/// Reads a message.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8], explainer: &Explainer) -> Result<T, Refusal> {
    read_within(0, body, explainer)
}

/// Reads a message whose nesting counts from `depth`, because the same object can also appear that deep inside another message.
pub(crate) fn read_within<'a, T: Deserialize<'a>>(depth: usize, body: &'a [u8], explainer: &Explainer) -> Result<T, Refusal> {
    let text = json::text(body).map_err(Refusal::Malformed)?;
    if let Ok(message) = serde_json::from_str(text) {
        return Ok(message);
    }
    let (mut message, mut faults) = json::shallow(text, depth).and_then(json::inspect).map_err(Refusal::Malformed)?;
    explainer.explain(&mut message, &Path::root(), &mut faults);
    faults.truncate(MOST_TOLD);
    Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() }))
}
