//! Production: no listener that others reach is in the clear, and a proxy in front is known.

use std::net::SocketAddr;
use std::process::Command;

use backhaul::heartbeat;
use reqwest::Method;
use rustls::version::{TLS12, TLS13};
use serde_json::Value;

use crate::binary::{Served, command, err, out, production};
use crate::node::listener::site::{Authority, handshake};
use crate::world::{Database, World};

/// The settings that name a certificate of this authority.
fn with_certificate<'c>(command: &'c mut Command, authority: &Authority) -> &'c mut Command {
    authority.issue();
    command.env("BACKHAUL__TLS__CERTIFICATE", authority.certificate()).env("BACKHAUL__TLS__PRIVATE_KEY", authority.private_key())
}

/// A free port at every address of this machine.
fn reachable() -> SocketAddr {
    SocketAddr::new([0, 0, 0, 0].into(), std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port())
}

#[tokio::test]
async fn production_serves_nothing_in_the_clear_that_other_machines_reach() {
    let (database, authority) = (Database::create_empty().await, Authority::new());
    out(&production(&database).arg("migrate").output().unwrap());
    // The API and the console have a certificate; the portal's listener takes the same.
    let serve = |settings: &[(&str, &str)]| {
        let mut command = production(&database);
        with_certificate(&mut command, &authority);
        for (name, value) in settings {
            command.env(format!("BACKHAUL__{name}"), value);
        }
        command.arg("serve");
        command
    };
    let at = reachable().to_string();
    let refused = err(&serve(&[("HTTP__ADMIN_LISTEN", &at)]).output().unwrap());
    assert!(refused.contains("http.admin_listen") && refused.contains("http.admin_token"), "{refused}");
    let plain = [("HTTP__ADMIN_LISTEN", at.as_str()), ("TLS__CERTIFICATE", ""), ("TLS__PRIVATE_KEY", "")];
    let refused = err(&serve(&plain).output().unwrap());
    assert!(refused.contains("over TLS"), "{refused}");
    let token = [("HTTP__ADMIN_LISTEN", at.as_str()), ("HTTP__ADMIN_TOKEN", "a-token-for-the-metrics-of-this-machine")];
    assert!(Served::start(&mut serve(&token)).terminate().0);
}

#[tokio::test]
async fn the_console_speaks_tls_1_3_and_the_api_does_not() {
    let (database, authority, console) = (Database::create().await, Authority::new(), reachable());
    let mut command = command(&database);
    with_certificate(&mut command, &authority).env("BACKHAUL__CONSOLE__LISTEN", console.to_string()).arg("serve");
    let served = Served::start(&mut command);
    let console = SocketAddr::new([127, 0, 0, 1].into(), console.port());
    for version in [&TLS12, &TLS13] {
        let stream = handshake(console, authority.client(&[version])).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
    }
    let api = served.base.trim_start_matches("http://").parse().unwrap();
    assert!(handshake(api, authority.client(&[&TLS13])).await.is_err());
    assert!(handshake(api, authority.client(&[&TLS12])).await.is_ok());
    assert!(served.terminate().0);
}

/// The doctor's finding about proxies.
fn proxies(database: &Database) -> Value {
    let checks: Value = serde_json::from_slice(&command(database).args(["doctor", "-o", "json"]).output().unwrap().stdout).unwrap();
    checks["items"].as_array().unwrap().iter().find(|check| check["name"] == "proxies").cloned().unwrap_or_default()
}

#[tokio::test]
async fn the_doctor_notices_a_proxy_that_nobody_declared() {
    let world = World::new().await;
    let forwarded = async |count: usize| {
        for _ in 0..count {
            world.ask(Method::GET, "/nowhere", |request| request.header("X-Forwarded-For", "198.51.100.7")).await;
        }
        heartbeat::beat(&world.app, 0).await.unwrap();
    };
    // A stranger who writes the header now and then is no proxy.
    for _ in 0..30 {
        world.ask(Method::GET, "/nowhere", |request| request).await;
    }
    forwarded(3).await;
    assert_eq!(proxies(&world.database)["ok"], true, "{}", proxies(&world.database));
    forwarded(100).await;
    let found = proxies(&world.database);
    assert_eq!(found["ok"], false, "{found}");
    assert!(found["found"].as_str().unwrap().contains("127.0.0.1"), "{found}");
    assert!(found["mend"].as_str().unwrap().contains("http.trusted_proxies"), "{found}");

    let trusting = World::with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)]).await;
    for _ in 0..50 {
        trusting.ask(Method::GET, "/nowhere", |request| request.header("X-Forwarded-For", "198.51.100.7")).await;
    }
    heartbeat::beat(&trusting.app, 0).await.unwrap();
    assert_eq!(proxies(&trusting.database)["ok"], true, "a proxy that is declared is none to report");
}
