//! The server on which tests create their databases: that of `DATABASE_URL`, or the one that the tests of a run share.

use std::str::FromStr as _;

use backhaul::platform::config::HOME;
use domain::node::mode::Mode;
use sandbox::postgres::Cluster;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use store::node::installation;

use super::Database;
use crate::world::beginning;

pub(super) struct Server {
    pub(super) url: String,
}

impl Server {
    pub(super) fn find() -> Self {
        let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| Cluster::shared().unwrap().url("postgres"));
        Self { url }
    }

    /// The server of an installation's first cell.
    pub(super) fn of_home() -> Self {
        std::env::var("HOME_DATABASE_URL").map_or_else(|_| Self::find(), |url| Self { url })
    }

    /// The template of this schema, created by whoever needs it first.
    pub(super) async fn template(&self) -> String {
        let name = format!("backhaul_template_{:016x}", digest());
        let mut connection = options(&self.url).connect().await.unwrap();
        execute(&mut connection, "select pg_advisory_lock(4711)".to_owned()).await;
        if !exists(&mut connection, &name).await {
            let making = format!("{name}_making");
            execute(&mut connection, format!("drop database if exists {making}")).await;
            execute(&mut connection, format!("create database {making}")).await;
            installation::migrate(&database_at(&self.url, &making), Mode::Sandbox, beginning()).await.unwrap();
            execute(&mut connection, format!("alter database {making} rename to {name}")).await;
        }
        connection.close().await.unwrap();
        name
    }

    pub(super) async fn create(self, template: Option<&str>) -> Database {
        let name = new_name();
        let mut connection = options(&self.url).connect().await.unwrap();
        execute(&mut connection, format!("create database {name} template {}", template.unwrap_or("template0"))).await;
        connection.close().await.unwrap();
        let url = database_at(&self.url, &name);
        let servers = vec![self.url.clone()];
        Database { url, server: self.url, name, cell: HOME, schema: None, others: None, servers }
    }
}

/// A name for the database of a test.
pub(super) fn new_name() -> String {
    format!("test_{:032x}", rand::random::<u128>())
}

/// The URL of a database on the server at `url`.
pub(super) fn database_at(url: &str, name: &str) -> String {
    options(url).database(name).to_url_lossy().to_string()
}

pub(super) fn options(url: &str) -> PgConnectOptions {
    PgConnectOptions::from_str(url).unwrap().disable_statement_logging()
}

pub(super) async fn execute(connection: &mut PgConnection, statement: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(connection).await.unwrap();
}

/// True if the server has a database of this name.
pub(super) async fn exists(connection: &mut PgConnection, name: &str) -> bool {
    let exists = sqlx::query_scalar("select exists (select from pg_database where datname = $1)");
    exists.bind(name).fetch_one(connection).await.unwrap()
}

/// Distinguishes one version of the migrations from another.
pub(super) fn digest() -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};

    let mut hasher = DefaultHasher::new();
    let mut files: Vec<_> =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    hasher.finish()
}
