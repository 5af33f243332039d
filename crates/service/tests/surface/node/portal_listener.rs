//! The portal's own listener, the one that it shares with the API, and the certificates of its host names.

use std::net::SocketAddr;
use std::process::Command;

use rustls::pki_types::CertificateDer;
use rustls::version::{TLS12, TLS13};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::listener::site::{Authority, closes, handshake_with, shown};
use crate::binary::{Served, backhaul, command, err, out};
use crate::world::Database;

/// An address that nobody listens on.
fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// `backhaul` with the portal's certificates for these hosts.
fn with_certificates(database: &Database, authority: &Authority, hosts: &[&str]) -> Command {
    let pair = |host: &&str| {
        let [certificate, key] = authority.pair_for(host);
        format!("{{ certificate = '{}', private_key = '{}' }}", certificate.display(), key.display())
    };
    let mut command = command(database);
    command.env("BACKHAUL__PORTAL__CERTIFICATES", format!("[{}]", hosts.iter().map(pair).collect::<Vec<_>>().join(", ")));
    command.env("BACKHAUL__TLS__RELOAD_SECONDS", "3600");
    command
}

/// The certificate that a browser is shown at `address` when it asks for `host`.
async fn seen(authority: &Authority, address: SocketAddr, host: &'static str) -> CertificateDer<'static> {
    shown(&handshake_with(host, address, authority.client(&[&TLS12, &TLS13])).await.unwrap())
}

/// The first line of the answer to `GET path` over `stream`.
async fn get<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(mut stream: S, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: portal.example\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let answer = String::from_utf8(closes(&mut stream).await).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

const SHOPS: [&str; 2] = ["returns.example.com", "*.acme.example"];

#[tokio::test]
async fn a_browser_is_shown_the_certificate_of_the_host_that_it_asks_for() {
    let (database, authority, address) = (Database::create().await, Authority::new(), free_address());
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let issued = SHOPS.map(|host| authority.issue_for(host));
    let mut command = with_certificates(&database, &authority, &SHOPS);
    let served = Served::start(command.env("BACKHAUL__PORTAL__LISTEN", address.to_string()).arg("serve"));
    assert_eq!(seen(&authority, address, "returns.example.com").await, issued[0]);
    assert_eq!(seen(&authority, address, "shop.acme.example").await, issued[1]);

    // An unknown name, or none, is shown the first.
    let refused = handshake_with("unknown.example", address, authority.client(&[&TLS12])).await.unwrap_err().to_string();
    assert!(refused.contains("unknown.example") && refused.contains("returns.example.com"), "{refused}");
    let mut nameless = authority.client(&[&TLS12]);
    nameless.enable_sni = false;
    assert_eq!(shown(&handshake_with("returns.example.com", address, nameless.clone()).await.unwrap()), issued[0]);
    assert!(handshake_with("shop.acme.example", address, nameless).await.is_err());

    // Both versions are spoken, and the portal is here and nowhere else.
    for version in [&TLS12, &TLS13] {
        let stream = handshake_with("returns.example.com", address, authority.client(&[version])).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        assert_eq!(get(stream, "/r/acme").await, "HTTP/1.1 200 OK");
    }
    let stream = handshake_with("returns.example.com", address, authority.client(&[&TLS13])).await.unwrap();
    assert_eq!(get(stream, "/openapi.json").await, "HTTP/1.1 404 Not Found");
    let status = async |path: &str| reqwest::get(format!("{}{path}", served.base)).await.unwrap().status().as_u16();
    assert_eq!((status("/r/acme").await, status("/openapi.json").await), (404, 200));
    assert!(served.terminate().0);
}

#[tokio::test]
async fn each_certificate_is_reloaded_on_its_own() {
    let (database, authority, address) = (Database::create().await, Authority::new(), free_address());
    let [first, _] = SHOPS.map(|host| authority.issue_for(host));
    let mut command = with_certificates(&database, &authority, &SHOPS);
    let served = Served::start(command.env("BACKHAUL__PORTAL__LISTEN", address.to_string()).arg("serve"));
    let look_again = || Command::new("kill").args(["-HUP", &served.child.id().to_string()]).status().unwrap();
    let renewed = authority.issue_for(SHOPS[1]);
    std::fs::write(&authority.pair_for(SHOPS[0])[1], "no key").unwrap();
    look_again();
    let broken = served.wait_for("keeping the old one");
    assert!(broken.contains("returns.example.com-key.pem contains no private key in PEM format"), "{broken}");
    assert!(served.wait_for("the TLS certificate was reloaded").contains("*.acme.example.pem"));
    assert_eq!(seen(&authority, address, "returns.example.com").await, first, "the old one stays in use");
    assert_eq!(seen(&authority, address, "shop.acme.example").await, renewed);
}

#[tokio::test]
async fn a_shared_listener_shows_the_apis_certificate_unless_a_shops_host_is_asked_for() {
    let (database, authority) = (Database::create().await, Authority::new());
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let (of_api, of_shop) = (authority.issue(), authority.issue_for(SHOPS[0]));
    let mut command = with_certificates(&database, &authority, &SHOPS[..1]);
    command.env("BACKHAUL__TLS__CERTIFICATE", authority.certificate()).env("BACKHAUL__TLS__PRIVATE_KEY", authority.private_key());
    let served = Served::start(command.arg("serve"));
    let address = served.base.trim_start_matches("http://").parse().unwrap();
    assert_eq!(seen(&authority, address, "localhost").await, of_api);
    assert_eq!(seen(&authority, address, "127.0.0.1").await, of_api, "a client that names no host");
    assert_eq!(seen(&authority, address, "returns.example.com").await, of_shop);
    for (host, path) in [("localhost", "/openapi.json"), ("returns.example.com", "/r/acme")] {
        let stream = handshake_with(host, address, authority.client(&[&TLS12])).await.unwrap();
        assert_eq!(get(stream, path).await, "HTTP/1.1 200 OK", "{path}");
    }
    assert!(handshake_with("returns.example.com", address, authority.client(&[&TLS13])).await.is_err(), "TLS 1.3 is off");
}

#[tokio::test]
async fn the_portals_connections_are_counted_apart() {
    let (database, address, admin) = (Database::create().await, free_address(), free_address());
    let mut command = command(&database);
    command.env("BACKHAUL__PORTAL__LISTEN", address.to_string()).env("BACKHAUL__HTTP__ADMIN_LISTEN", admin.to_string());
    let served = Served::start(command.env("BACKHAUL__HTTP__CONNECTIONS", "1").arg("serve"));
    // The only connection to the API is in the middle of a request.
    let mut only = TcpStream::connect(served.base.trim_start_matches("http://")).await.unwrap();
    let head =
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    only.write_all(head.as_bytes()).await.unwrap();
    only.read_exact(&mut [0; 12]).await.unwrap();
    let mut shopper = TcpStream::connect(address).await.unwrap();
    shopper.write_all(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    shopper.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 404");
    let page = reqwest::get(format!("http://{admin}/metrics")).await.unwrap().text().await.unwrap();
    for line in ["backhaul_http_connections_open 1\n", "backhaul_portal_http_connections_open 1\n"] {
        assert!(page.contains(line), "{page}");
    }
}

#[tokio::test]
async fn certificates_that_cannot_be_used_are_refused() {
    let (database, authority) = (Database::create_empty().await, Authority::new());
    authority.issue_for(SHOPS[0]);
    for words in [&["config", "check"][..], &["serve"]] {
        let refused = err(&with_certificates(&database, &authority, &SHOPS[..1]).args(words).output().unwrap());
        assert!(refused.contains("portal.certificates is set, but the public listener"), "{refused}");
    }
    let mut missing = with_certificates(&database, &authority, &SHOPS);
    missing.env("BACKHAUL__PORTAL__LISTEN", "127.0.0.1:0").arg("serve");
    let refused = err(&missing.output().unwrap());
    assert!(refused.contains("portal.certificates") && refused.contains("*.acme.example.pem cannot be read"), "{refused}");
}

#[tokio::test]
async fn the_doctor_names_host_names_without_a_certificate() {
    let (database, authority) = (Database::create().await, Authority::new());
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    authority.issue_for(SHOPS[1]);
    let doctor = || -> Vec<Value> {
        let mut command = with_certificates(&database, &authority, &SHOPS[1..]);
        let output = command.env("BACKHAUL__PORTAL__LISTEN", "127.0.0.1:0").args(["doctor", "-o", "json"]).output().unwrap();
        let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
        checks["items"].as_array().unwrap().clone()
    };
    let certificate = doctor().into_iter().find(|check| check["name"] == "certificate").unwrap();
    let found = certificate["found"].as_str().unwrap();
    assert!(found.ends_with("*.acme.example.pem: for *.acme.example; the private key matches"), "{found}");
    let hosts = || doctor().into_iter().find(|check| check["name"] == "portal hosts");
    assert_eq!(hosts(), None, "there are no host names yet");
    out(&backhaul(&database, &["portal", "set", "--merchant", "acme", "--host", "shop.acme.example"]));
    assert_eq!(hosts().unwrap()["found"], "1 with a certificate");
    out(&backhaul(&database, &["portal", "set", "--merchant", "acme", "--host", "returns.example.com"]));
    let check = hosts().unwrap();
    assert_eq!((&check["ok"], &check["found"]), (&false.into(), &"no certificate is valid for returns.example.com".into()));
    assert!(check["mend"].as_str().unwrap().contains("add certificates for them to portal.certificates"));
}
