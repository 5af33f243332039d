//! The check of the places that the directory has for merchants.

use store::node::directory;

use super::Node;
use super::directory::home;
use super::health::Check;

/// Checks that the settings name every cell in which merchants live. Nothing where there is one cell.
pub async fn examine(node: &Node) -> Option<Check> {
    const NAME: &str = "directory";
    let home = home(node.cells())?;
    Some(match directory::count_places(home).await {
        Ok(places) => {
            let unknown = |name: &String| !node.cells().iter().any(|cell| cell.name() == name);
            let unknown: Vec<String> = places.into_iter().map(|(name, _)| name).filter(unknown).collect();
            match unknown.as_slice() {
                [] => Check::good(NAME, "the settings name every cell in which merchants live"),
                names => Check::bad(
                    NAME,
                    format!("merchants live in cells that the settings do not name: {}", names.join(", ")),
                    "add them to `[[cells]]` in the settings of every process",
                ),
            }
        }
        Err(failed) => Check::bad(NAME, failed.to_string(), "see the check of the database"),
    })
}
