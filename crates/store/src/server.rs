//! The way to the database server: its address, and the protection of the connection.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, PgConnection};
use tokio::time::timeout;

use crate::failed::Failed;

/// The protection of the connection to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The server is on this machine.
    Local,
    /// TLS to a server whose certificate and name are verified.
    Verified,
    /// TLS to a server that could be anybody.
    Unverified,
    Plaintext,
}

/// The database that a URL names, without the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The host and port, or the directory of the socket.
    pub host: String,
    pub database: String,
    pub user: String,
}

/// The database that `url` names.
pub fn target(url: &str) -> Result<Target, Failed> {
    let options = connect_options(url)?;
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let user = options.get_username().to_owned();
    Ok(Target { host, database: options.get_database().unwrap_or(&user).to_owned(), user })
}

/// The protection of the connection to the database at `url`.
pub fn protection(url: &str) -> Result<Protection, Failed> {
    let options = connect_options(url)?;
    Ok(match options.get_ssl_mode() {
        _ if is_local(&options) => Protection::Local,
        PgSslMode::VerifyFull => Protection::Verified,
        PgSslMode::VerifyCa | PgSslMode::Require => Protection::Unverified,
        PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer => Protection::Plaintext,
    })
}

/// The options for connecting to `url`. Unless it says otherwise with `sslmode`, the connection to another machine is encrypted
/// and the server's certificate verified, and on this machine there is no TLS.
pub(crate) fn connect_options(url: &str) -> Result<PgConnectOptions, Failed> {
    let options = PgConnectOptions::from_str(url)?;
    let options = match options.get_ssl_mode() {
        PgSslMode::Prefer if is_local(&options) => options.ssl_mode(PgSslMode::Disable),
        PgSslMode::Prefer => options.ssl_mode(PgSslMode::VerifyFull),
        _ => options,
    };
    // PgBouncer refuses `extra_float_digits`; its default is the one that we need.
    Ok(options.application_name("backhaul").extra_float_digits(None).disable_statement_logging())
}

/// The time for connecting outside of a pool.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);

/// Connects outside of a pool, for work that may take longer than any limit.
pub(crate) async fn connect(url: &str) -> Result<PgConnection, Failed> {
    connect_with(&connect_options(url)?).await
}

/// Connects outside of a pool with these options.
pub(crate) async fn connect_with(options: &PgConnectOptions) -> Result<PgConnection, Failed> {
    let connecting = timeout(CONNECT, options.connect()).await;
    Ok(connecting.map_err(|_| Failed::Unreachable("it did not answer in time".to_owned()))??)
}

/// Returns true if the server is on this machine: a Unix socket or a loopback address.
fn is_local(options: &PgConnectOptions) -> bool {
    let host = options.get_host().trim_matches(['[', ']']);
    options.get_socket().is_some() || host.starts_with('/') || host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_of_a_url_is_told_without_its_password() {
        let told = target("postgres://app:s3cr3t@db.example.com:6432/backhaul").map(|target| format!("{target:?}")).unwrap_or_default();
        assert_eq!(told, r#"Target { host: "db.example.com:6432", database: "backhaul", user: "app" }"#);
        let named = target("postgres://app@db.example.com").map(|target| (target.host, target.database)).ok();
        assert_eq!(
            named,
            Some(("db.example.com:5432".to_owned(), "app".to_owned())),
            "the database is named as its user unless it is named"
        );
    }

    #[test]
    fn another_machine_is_verified_unless_the_url_says_otherwise() {
        for (url, expected) in [
            ("postgres://db.example.com/backhaul", Protection::Verified),
            ("postgres://db.example.com/backhaul?sslmode=prefer", Protection::Verified),
            ("postgres://192.0.2.7/backhaul?sslmode=verify-full", Protection::Verified),
            ("postgres://db.example.com/backhaul?sslmode=require", Protection::Unverified),
            ("postgres://db.example.com/backhaul?sslmode=verify-ca", Protection::Unverified),
            ("postgres://db.example.com/backhaul?sslmode=disable", Protection::Plaintext),
            ("postgres://db.example.com/backhaul?sslmode=allow", Protection::Plaintext),
            ("postgres://localhost/backhaul", Protection::Local),
            ("postgres://127.0.0.7:6432/backhaul", Protection::Local),
            ("postgres://[::1]/backhaul", Protection::Local),
            ("postgres:///backhaul?host=/run/postgresql", Protection::Local),
        ] {
            assert_eq!(protection(url).unwrap(), expected, "{url}");
        }
    }
}
