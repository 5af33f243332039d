//! `backhaul doctor`: what it says about the database, the way to callers and the disk; and which setting names the database.

use std::process::Command;

use serde_json::Value;

use crate::binary::{command, production};
use crate::world::Database;

/// The finding of this name, if there is one.
fn finding(command: &mut Command, name: &str) -> Option<Value> {
    let output = command.args(["doctor", "-o", "json"]).output().unwrap();
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    checks["items"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned()
}

/// The text about the database.
fn database_of(command: &mut Command) -> String {
    finding(command, "database").unwrap()["found"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_doctor_names_the_database_without_the_password() {
    let database = Database::create().await;
    let name = database.texts("select current_database()::text").await.remove(0);
    let user = database.texts("select current_user::text").await.remove(0);
    let found = database_of(&mut command(&database));
    assert!(found.starts_with("PostgreSQL ") && found.ends_with(&format!(", database {name}, user {user}")), "{found}");
    let nowhere = "postgres://app:s3cr3t@127.0.0.1:1/nowhere";
    let check = finding(command(&database).env("DATABASE_URL", nowhere), "database").unwrap();
    assert_eq!(check["ok"], false);
    assert!(check["found"].as_str().unwrap().ends_with("(127.0.0.1:1, database nowhere, user app)"), "{check}");
    assert!(!check.to_string().contains("s3cr3t"), "{check}");
}

#[tokio::test]
async fn the_programs_own_variable_counts_more_than_database_url_and_both_more_than_the_file() {
    let database = Database::create().await;
    let file = std::env::temp_dir().join(format!("backhaul-doctor-{}.toml", std::process::id()));
    std::fs::write(&file, "[database]\nurl = \"postgres://app@127.0.0.1:1/in_the_file\"\n").unwrap();
    let with = |common: Option<&str>, own: Option<&str>| {
        let mut command = command(&database);
        command.env_remove("DATABASE_URL").env_remove("BACKHAUL__DATABASE__URL").arg("--config").arg(&file);
        command.envs(common.map(|name| ("DATABASE_URL", format!("postgres://app@127.0.0.1:1/{name}"))));
        command.envs(own.map(|name| ("BACKHAUL__DATABASE__URL", format!("postgres://app@127.0.0.1:1/{name}"))));
        database_of(&mut command)
    };
    for (common, own, named) in
        [(None, None, "in_the_file"), (Some("common"), None, "common"), (None, Some("own"), "own"), (Some("common"), Some("own"), "own")]
    {
        let found = with(common, own);
        assert!(found.contains(&format!("database {named}, user app")), "{common:?}, {own:?}: {found}");
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn plain_http_in_production_is_told() {
    let database = Database::create().await;
    let plain = finding(&mut production(&database), "encryption").unwrap();
    assert_eq!(plain["ok"], false);
    assert!(plain["found"].as_str().unwrap().contains("plain HTTP"), "{plain}");
    let proxied = finding(production(&database).env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true"), "encryption").unwrap();
    assert_eq!(proxied["ok"], true, "{proxied}");
    let declared = finding(production(&database).env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true"), "proxies").unwrap();
    assert!(!declared["ok"].as_bool().unwrap() && declared["found"].as_str().unwrap().contains("http.trusted_proxies names no proxy"));
    assert_eq!(finding(&mut command(&database), "encryption"), None, "a sandbox may");
}

#[tokio::test]
async fn the_room_under_a_database_on_this_machine_is_told() {
    let database = Database::create().await;
    let directory = "select coalesce((select setting from pg_settings where name = 'data_directory'), '')";
    let directory = database.texts(directory).await.remove(0);
    let disk = finding(&mut command(&database), "disk");
    // A server elsewhere has no disk here.
    if !std::path::Path::new(&directory).is_dir() {
        return assert_eq!(disk, None);
    }
    let disk = disk.unwrap();
    assert!(disk["found"].as_str().unwrap().ends_with("are free under the data directory"), "{disk}");
}
