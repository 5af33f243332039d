//! A migrated database for one test.

use std::str::FromStr as _;

use domain::node::mode::Mode;
use sandbox::postgres::Cluster;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

/// Creates a database named after `of`, and returns the options to connect to it.
pub async fn create(of: &str) -> PgConnectOptions {
    let server = std::env::var("DATABASE_URL").unwrap_or_else(|_| Cluster::shared().unwrap().url("postgres"));
    let options = PgConnectOptions::from_str(&server).unwrap();
    let name = format!("statements_{of}_{}", std::process::id());
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("drop database if exists {name} with (force)"))).execute(&mut connection).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("create database {name} template template0"))).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let options = options.database(&name);
    store::node::installation::migrate(options.to_url_lossy().as_str(), Mode::Sandbox, "2026-03-01T12:00:00Z".parse().unwrap())
        .await
        .unwrap();
    options
}
