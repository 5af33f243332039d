//! A database that cannot be used, and will not by waiting: `serve` ends and says why, and so does every command.

use std::fs;

use sandbox::postgres::Cluster;
use serde_json::Value;

use crate::binary::{command, err};
use crate::world::Database;

/// A server that wants a password from a role.
struct Strict {
    cluster: Cluster,
    dir: std::path::PathBuf,
}

impl Strict {
    fn start() -> Self {
        let dir = std::env::temp_dir().join(format!("backhaul-strict-{}", std::process::id()));
        let cluster = Cluster::start(&dir).unwrap();
        let rules = dir.join("data/pg_hba.conf");
        let trusting = fs::read_to_string(&rules).unwrap();
        fs::write(&rules, format!("local all locked scram-sha-256\n{trusting}")).unwrap();
        Self { cluster, dir }
    }

    fn url(&self, role: &str, database: &str, parameters: &str) -> String {
        format!("postgres://{role}:wrong@localhost/{database}?host={}{parameters}", self.dir.display())
    }
}

impl Drop for Strict {
    fn drop(&mut self) {
        let _ = self.cluster.stop();
    }
}

#[tokio::test]
async fn what_waiting_does_not_mend_ends_serve_and_every_command_with_the_reason() {
    let server = Strict::start();
    let database = Database::create_on(&server.cluster).await;
    let mut connection = database.connect().await;
    sqlx::raw_sql("create role locked login password 'right'; select pg_reload_conf()").execute(&mut connection).await.unwrap();
    let name = database.name();
    for (url, why, mend) in [
        (server.url("locked", name, ""), "the password of this role is wrong", "correct the user and the password in DATABASE_URL"),
        (server.url("nobody_here", name, ""), "this role does not exist, or may not connect from here", "correct the role in DATABASE_URL"),
        (server.url("postgres", "nowhere", ""), "there is no database of this name", "create it with `createdb`"),
    ] {
        for words in [&["serve"][..], &["merchant", "list"], &["migrate"]] {
            let refused = err(&command(&database).env("DATABASE_URL", &url).args(words).output().unwrap());
            assert!(refused.contains(why) && refused.contains(mend), "{words:?}: {refused}");
            assert_eq!(refused.matches(why).count(), 1, "told once: {refused}");
        }
        let doctor = command(&database).env("DATABASE_URL", &url).args(["doctor", "-o", "json"]).output().unwrap();
        let checks: Value = serde_json::from_slice(&doctor.stdout).unwrap();
        let check = checks["items"].as_array().unwrap().iter().find(|check| check["name"] == "database").unwrap();
        assert!(check["found"].as_str().unwrap().contains(why) && check["mend"].as_str().unwrap().contains(mend), "{check}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_as_such() {
    let database = Database::create_empty().await;
    let nowhere = "postgres://127.0.0.1:1/nowhere";
    let refused = err(&command(&database).env("DATABASE_URL", nowhere).args(["merchant", "list"]).output().unwrap());
    assert!(refused.contains("Connection refused") && !refused.contains("became free"), "{refused}");
}
