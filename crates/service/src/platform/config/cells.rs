//! The settings of the cells: databases, or schemas of a database, each of which holds everything of many merchants.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use store::{PoolLimits, PoolSizes};

use super::database::Database;
use super::no_settings::NoSettings;

/// The name of the first cell, the database of `database.url`. It also holds what belongs to no merchant.
pub const HOME: &str = "main";

/// The longest name of a cell and of a schema.
const LONGEST_NAME: usize = 32;

/// A cell besides the first one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSettings {
    name: String,
    /// The database, if it is not that of `database.url`; on a cluster the one of its coordinator. A secret because it may contain a
    /// password.
    url: Option<SecretString>,
    url_file: Option<String>,
    /// The schema in that database, if it is not the one of the URL.
    schema: Option<String>,
}

/// The address of a cell.
#[derive(Clone, Debug)]
pub struct CellAddress {
    pub name: String,
    url: SecretString,
    /// The schema that `backhaul migrate` creates if it is not there; `None` if the URL names one, or the database's own is used.
    pub schema: Option<String>,
}

impl CellAddress {
    /// The URL of the cell, with its schema.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.expose_secret()
    }

    /// True for the first cell.
    #[must_use]
    pub fn is_home(&self) -> bool {
        self.name == HOME
    }
}

/// The URL with the schema as the place where tables are looked for.
fn with_schema(url: &str, schema: Option<&str>) -> SecretString {
    match schema {
        None => url.into(),
        Some(schema) => format!("{url}{}options[search_path]={schema}", if url.contains('?') { '&' } else { '?' }).into(),
    }
}

/// The secret itself, or that in the file; `None` if neither is set.
fn read(value: Option<&SecretString>, file: Option<&str>) -> Result<Option<String>, NoSettings> {
    match (value, file) {
        (Some(value), _) => Ok(Some(value.expose_secret().to_owned())),
        (None, Some(file)) => {
            let text = std::fs::read_to_string(file).map_err(|error| NoSettings::File(file.to_owned(), error))?;
            Ok(Some(text.trim().to_owned()))
        }
        (None, None) => Ok(None),
    }
}

/// Names are parts of connection URLs, of channels and of commands, so they are plain.
fn is_plain(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(plain) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// The addresses of all cells, the first one first.
pub(super) fn addresses(database: &Database, cells: &[CellSettings]) -> Result<Vec<CellAddress>, NoSettings> {
    let url = SecretString::from(database.url());
    let mut addresses = vec![CellAddress { name: HOME.to_owned(), url, schema: None }];
    for cell in cells {
        let schema = cell.schema.as_deref();
        let own = read(cell.url.as_ref(), cell.url_file.as_deref())?;
        addresses.push(CellAddress {
            name: cell.name.clone(),
            url: with_schema(own.as_deref().unwrap_or(database.url()), schema),
            schema: schema.map(str::to_owned),
        });
    }
    Ok(addresses)
}

/// The fewest connections of the console to one cell. Some of its pages look something up beside the transaction that they have open, and
/// with a single connection they would wait for themselves.
const FEWEST_OF_CONSOLE: u32 = 2;

/// The limits of the connection pools of one cell. All cells share the connections of the process.
pub(super) fn pool_limits(database: &Database, console: u32, cells: &[CellSettings]) -> PoolLimits {
    let console = if console == 0 { 0 } else { (console / count(cells)).max(FEWEST_OF_CONSOLE) };
    PoolLimits { sizes: pool_sizes(database, cells).unwrap_or(database.connections), console, ..database.limits() }
}

fn count(cells: &[CellSettings]) -> u32 {
    u32::try_from(cells.len()).unwrap_or(u32::MAX).saturating_add(1)
}

/// The sizes of the pools of one cell; `None` if the connections of the process do not suffice for all cells.
fn pool_sizes(database: &Database, cells: &[CellSettings]) -> Option<PoolSizes> {
    if cells.is_empty() { Some(database.connections) } else { PoolSizes::divide(database.connections.total() / count(cells)) }
}

/// Refuses cells that cannot be told apart, or that there are too few connections for.
pub(super) fn check(database: &Database, cells: &[CellSettings]) -> Result<(), NoSettings> {
    let mut known = vec![HOME];
    for cell in cells {
        let CellSettings { name, url, url_file, schema } = cell;
        let wrong = if !is_plain(name) {
            format!("cells: {name:?} is no name of a cell; give one of at most {LONGEST_NAME} small letters, digits and `_`")
        } else if known.contains(&name.as_str()) {
            format!("cells: there are two cells with the name {name}; `{HOME}` is the database of database.url, and is not listed")
        } else if schema.as_deref().is_some_and(|schema| !is_plain(schema)) {
            format!("cells: the schema of {name} is no plain name; give one of at most {LONGEST_NAME} small letters, digits and `_`")
        } else if schema.as_deref().is_some_and(|schema| schema.ends_with("_local")) {
            format!("cells: the schema of {name} ends in `_local`, as the schemas of local views do; give it another name")
        } else if url.is_none() && url_file.is_none() && schema.is_none() {
            format!("cells: {name} has neither a url nor a schema, so it would be the same as `{HOME}`; give it one of them")
        } else {
            known.push(name);
            continue;
        };
        return Err(NoSettings::Wrong(wrong));
    }
    if pool_sizes(database, cells).is_none() {
        let (connections, cells) = (database.connections.total(), count(cells));
        return Err(NoSettings::Wrong(format!(
            "database.connections is {connections}, but {cells} cells need at least {} connections",
            cells * PoolSizes::FEWEST
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::Settings;

    fn with(cells: &str) -> Result<Settings, NoSettings> {
        let variables = [("DATABASE_URL", "postgres://db.example.com/backhaul"), ("BACKHAUL__CELLS", cells)];
        Settings::load(None, variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    fn addresses(cells: &str) -> Vec<(String, String)> {
        let addresses = with(cells).expect("settings").cell_addresses().expect("addresses");
        let told = |cell: &CellAddress| (cell.name.clone(), cell.url().to_owned());
        addresses.iter().map(told).collect()
    }

    #[test]
    fn without_cells_there_is_the_one_of_database_url() {
        let url = "postgres://db.example.com/backhaul".to_owned();
        assert_eq!(addresses("[]"), [("main".to_owned(), url)]);
        assert_eq!(with("[]").expect("settings").pool_limits().sizes.total(), 40);
    }

    #[test]
    fn a_cell_is_a_schema_or_a_database_or_both() {
        let told = addresses(
            r#"[{ name = "a", schema = "a1" }, { name = "b", url = "postgres://b.example.com/b?sslmode=require", schema = "b1" },
                { name = "c", url = "postgres://c.example.com/c" }]"#,
        );
        let urls: Vec<&str> = told.iter().skip(1).map(|(_, url)| url.as_str()).collect();
        let (a, b) = (
            "postgres://db.example.com/backhaul?options[search_path]=a1",
            "postgres://b.example.com/b?sslmode=require&options[search_path]=b1",
        );
        assert_eq!(urls, [a, b, "postgres://c.example.com/c"]);
    }

    #[test]
    fn the_cells_share_the_connections_of_the_process() {
        let two = with(r#"[{ name = "b", schema = "b" }]"#).expect("settings");
        assert_eq!(two.pool_limits().sizes.total(), 20);
        let five = (1..5).map(|n| format!(r#"{{ name = "c{n}", schema = "c{n}" }}"#)).collect::<Vec<_>>().join(",");
        let refused = with(&format!("[{five}]")).expect_err("too many cells").to_string();
        assert!(refused.contains("database.connections is 40, but 5 cells need at least 50 connections"), "{refused}");
    }

    #[test]
    fn the_console_has_two_connections_to_each_cell_at_least() {
        let cells = |count: u32| (0..count).map(|n| format!(r#"{{ name = "c{n}", schema = "c{n}" }}"#)).collect::<Vec<_>>().join(",");
        for (others, connections) in [(0, 4), (1, 2), (2, 2), (3, 2)] {
            let settings = with(&format!("[{}]", cells(others))).expect("settings");
            assert_eq!(settings.pool_limits().console, connections, "{others} cells besides the first one");
        }
    }

    #[test]
    fn cells_that_cannot_be_told_apart_are_refused() {
        for (cells, why) in [
            (r#"[{ name = "main", schema = "b" }]"#, "two cells with the name main"),
            (r#"[{ name = "b", schema = "b" }, { name = "b", schema = "c" }]"#, "two cells with the name b"),
            (r#"[{ name = "B-1", schema = "b" }]"#, "is no name of a cell"),
            (r#"[{ name = "b", schema = "b;" }]"#, "the schema of b is no plain name"),
            (r#"[{ name = "b" }]"#, "neither a url nor a schema"),
            (r#"[{ name = "b", shema = "b" }]"#, "shema"),
        ] {
            let refused = with(cells).expect_err(cells).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn the_urls_of_cells_are_secret() {
        let cells = r#"[{ name = "b", url = "postgres://app:canary@b.example.com/b" }]"#;
        assert!(!format!("{:?}", with(cells).expect("settings")).contains("canary"));
        let shown = super::super::shown(None, [("BACKHAUL__CELLS".to_owned(), cells.to_owned())].into_iter()).expect("settings");
        assert!(!shown.contains("canary") && shown.contains("name = \"b\""), "{shown}");
    }
}
