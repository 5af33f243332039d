//! A node that leaves: it says so first, and goes on serving until everybody has had time to notice.

use std::process::Command;

use crate::binary::{Served, command};
use crate::node::listener::site::soon;
use crate::world::Database;

#[tokio::test]
async fn a_hangup_without_tls_reloads_what_it_can_and_ends_nothing() {
    let database = Database::create().await;
    let served = Served::start(command(&database).arg("serve"));
    assert!(Command::new("kill").args(["-HUP", &served.child.id().to_string()]).status().unwrap().success());
    served.wait_for("reloading the certificates and the operator's limits");
    assert_eq!(reqwest::get(format!("{}/openapi.json", served.base)).await.unwrap().status(), 200);
    let (clean, log) = served.terminate();
    assert!(clean && log.contains("shutdown complete"), "{log}");
}

#[tokio::test]
async fn a_node_that_leaves_is_not_ready_first_and_asks_callers_to_reconnect() {
    let database = Database::create().await;
    let admin = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = command(&database);
    command.env("BACKHAUL__HTTP__ADMIN_LISTEN", &admin).env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "60000");
    let mut served = Served::start(command.arg("serve"));
    let page = format!("{}/openapi.json", served.base);
    assert!(!reqwest::get(&page).await.unwrap().headers().contains_key("connection"));
    let signal = |pid: u32| assert!(Command::new("kill").arg(pid.to_string()).status().unwrap().success());
    signal(served.child.id());
    soon(async { while reqwest::get(format!("http://{admin}/readyz")).await.unwrap().status() != 503 {} }).await;
    let answer = reqwest::get(&page).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["connection"].to_str().unwrap()), (200, "close"));
    // Whoever is in a hurry asks a second time.
    signal(served.child.id());
    assert!(served.child.wait().unwrap().success());
}
