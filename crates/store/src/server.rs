//! The way to the database server: its address, and the protection of the connection.

use std::io;
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

/// A database on a server, without the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The host and port, or the directory of the socket.
    pub host: String,
    pub database: String,
    pub user: String,
}

/// The database to which these options lead.
pub(crate) fn target_of(options: &PgConnectOptions) -> Target {
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let user = options.get_username().to_owned();
    Target { host, database: options.get_database().unwrap_or(&user).to_owned(), user }
}

/// The protection of a connection with these options.
pub(crate) fn protection_of(options: &PgConnectOptions) -> Protection {
    match options.get_ssl_mode() {
        _ if is_local(options) => Protection::Local,
        PgSslMode::VerifyFull => Protection::Verified,
        PgSslMode::VerifyCa | PgSslMode::Require => Protection::Unverified,
        PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer => Protection::Plaintext,
    }
}

/// The options for connecting to `url`. Unless it says otherwise with `sslmode`, the connection to another machine is encrypted
/// and the server's certificate verified, and on this machine there is no TLS.
pub(crate) fn connect_options(url: &str) -> Result<PgConnectOptions, Failed> {
    Ok(at_node(url, None)?)
}

/// [`connect_options`] for the node of a cluster at this host and port instead of the server of `url`, which is another one.
pub(crate) fn at_node(url: &str, node: Option<&(String, u16)>) -> Result<PgConnectOptions, sqlx::Error> {
    let mut options = PgConnectOptions::from_str(url)?;
    if let Some((host, port)) = node {
        if options.get_socket().is_some() {
            let why = "the nodes of a cluster are reached by host and port, so name the coordinator by them in the url of the cell";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why).into());
        }
        options = options.host(host).port(*port);
    }
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
        let target = |url| target_of(&connect_options(url).unwrap());
        let told = format!("{:?}", target("postgres://app:s3cr3t@db.example.com:6432/backhaul"));
        assert_eq!(told, r#"Target { host: "db.example.com:6432", database: "backhaul", user: "app" }"#);
        let Target { host, database, .. } = target("postgres://app@db.example.com");
        let expected = ("db.example.com:5432", "app");
        assert_eq!((host.as_str(), database.as_str()), expected, "the database is named as its user unless it is named");
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
            assert_eq!(protection_of(&connect_options(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_node_is_verified_unless_the_url_says_otherwise() {
        let node = ("10.0.0.2".to_owned(), 5433);
        for (url, expected) in [
            ("postgres://localhost/backhaul", Protection::Verified),
            ("postgres://db.example.com/backhaul?sslmode=disable", Protection::Plaintext),
        ] {
            let options = at_node(url, Some(&node)).unwrap();
            assert_eq!((target_of(&options).host.as_str(), protection_of(&options)), ("10.0.0.2:5433", expected), "{url}");
        }
        let refused = at_node("postgres:///backhaul?host=/run/postgresql", Some(&node)).unwrap_err();
        assert!(refused.to_string().contains("by host and port"), "{refused}");
    }
}
