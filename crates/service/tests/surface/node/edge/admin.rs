//! The admin listener: a token, a certificate and few connections, where the operator wants them.

use std::net::SocketAddr;

use rustls::version::TLS13;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::binary::{Served, command};
use crate::node::listener::site::{Authority, handshake, soon};
use crate::world::Database;

const TOKEN: &str = "a-token-for-the-metrics-of-this-machine";

fn free() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn metrics_and_the_details_of_health_take_the_token() {
    let database = Database::create().await;
    let file = std::env::temp_dir().join(format!("admin-token-{:032x}", rand::random::<u128>()));
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    for (name, value) in [("BACKHAUL__HTTP__ADMIN_TOKEN", TOKEN), ("BACKHAUL__HTTP__ADMIN_TOKEN_FILE", file.to_str().unwrap())] {
        let admin = free();
        let served = Served::start(command(&database).env("BACKHAUL__HTTP__ADMIN_LISTEN", admin.to_string()).env(name, value).arg("serve"));
        let client = reqwest::Client::new();
        let ask = async |path: &str, token: &str| {
            let request = client.get(format!("http://{admin}{path}"));
            let request = if token.is_empty() { request } else { request.bearer_auth(token) };
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        for wrong in ["", "wrong", &TOKEN[1..]] {
            let (status, body) = ask("/metrics", wrong).await;
            assert!(status == 401 && !body.contains("backhaul_"), "{status} {body}");
            // Whoever only has to know whether traffic may come learns that, and no more.
            assert_eq!(ask("/readyz", wrong).await, (200, r#"{"ready":true,"serving":true}"#.to_owned()));
            assert_eq!(ask("/healthz", wrong).await.0, 200);
        }
        assert!(ask("/metrics", TOKEN).await.1.contains("backhaul_ready"));
        assert!(ask("/readyz", TOKEN).await.1.contains("\"checks\""));
        assert!(served.terminate().0);
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn the_admin_listener_has_a_certificate_and_few_connections() {
    let (database, authority, admin) = (Database::create().await, Authority::new(), free());
    authority.issue();
    let mut command = command(&database);
    command.env("BACKHAUL__HTTP__ADMIN_LISTEN", admin.to_string()).env("BACKHAUL__HTTP__ADMIN_CONNECTIONS", "3");
    command.env("BACKHAUL__HTTP__ADMIN_CERTIFICATE", authority.certificate());
    command.env("BACKHAUL__HTTP__ADMIN_PRIVATE_KEY", authority.private_key());
    let served = Served::start(command.arg("serve"));
    let mut open = Vec::new();
    for _ in 0..8 {
        open.extend(soon(handshake(admin, authority.client(&[&TLS13]))).await.ok());
    }
    let (mut answered, mut kept) = (0, Vec::new());
    for mut stream in open {
        let asked = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.is_ok();
        answered += usize::from(asked && stream.read_exact(&mut [0; 12]).await.is_ok());
        // It stays open, so that no other takes its place.
        kept.push(stream);
    }
    assert!((1..=3).contains(&answered), "{answered}");
    assert!(served.terminate().0);
}
