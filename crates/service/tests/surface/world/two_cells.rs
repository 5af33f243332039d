//! A process with two cells, the second of which is given by its address.

use std::sync::Arc;

use backhaul::platform::clock::Clock;

use super::{Database, World, beginning, settings};

/// The setting of a second cell in the database at `url`.
pub fn second_cell(url: &str) -> (&'static str, String) {
    ("BACKHAUL__CELLS", format!(r#"[{{ name = "b", url = "{url}" }}]"#))
}

impl World {
    /// A process whose second cell does not answer.
    pub async fn with_a_silent_cell() -> Self {
        let first = Arc::new(Database::create_alone().await);
        let nowhere = first.url.replace(first.name(), "nowhere");
        let (name, cells) = second_cell(&nowhere);
        let settings = settings(&first, &[(name, &cells)]);
        Self::on(first, settings, 1, Clock::fixed(beginning())).await
    }
}
