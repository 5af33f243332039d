//! The configuration of Patroni, etcd and HAProxy.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

/// The addresses of a member.
pub(super) struct Ports {
    pub(super) postgres: SocketAddr,
    /// Of Patroni's REST API.
    pub(super) rest: SocketAddr,
}

/// The configuration of the member `number`. JSON is valid YAML.
pub(super) fn patroni(number: usize, ports: &Ports, etcd: SocketAddr, dir: &Path, programs: &Path) -> Value {
    let trust = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"];
    json!({
        "scope": "backhaul",
        "name": number.to_string(),
        "restapi": {"listen": ports.rest.to_string(), "connect_address": ports.rest.to_string()},
        "etcd3": {"host": etcd.to_string()},
        "bootstrap": {
            "dcs": {
                // A lost primary is noticed when its key expires, at most 20 s after its last sign of life.
                "ttl": 20, "loop_wait": 2, "retry_timeout": 8,
                "maximum_lag_on_failover": 1_048_576,
                // No commit is acknowledged unless a standby has it, even if there is no standby.
                "synchronous_mode": true, "synchronous_mode_strict": true,
                "postgresql": {"use_pg_rewind": false, "use_slots": true, "parameters": {"max_connections": 200, "synchronous_commit": "on"}},
            },
            "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
        },
        "postgresql": {
            "listen": ports.postgres.to_string(), "connect_address": ports.postgres.to_string(),
            "data_dir": dir.join(number.to_string()), "bin_dir": programs, "pgpass": dir.join(format!("{number}.pgpass")),
            "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
            "pg_hba": trust,
            "parameters": {"unix_socket_directories": dir},
            "remove_data_directory_on_diverged_timelines": true,
            "create_replica_methods": ["basebackup"], "basebackup": [{"checkpoint": "fast"}],
        },
        "watchdog": {"mode": "off"},
    })
}

/// The arguments of etcd.
pub(super) fn etcd(clients: SocketAddr, peer: SocketAddr, dir: &Path) -> Vec<String> {
    let (clients, peer) = (format!("http://{clients}"), format!("http://{peer}"));
    let options = [
        ("name", "etcd".to_owned()),
        ("data-dir", dir.join("etcd").display().to_string()),
        ("listen-client-urls", clients.clone()),
        ("advertise-client-urls", clients),
        ("listen-peer-urls", peer.clone()),
        ("initial-advertise-peer-urls", peer.clone()),
        ("initial-cluster", format!("etcd={peer}")),
    ];
    options.iter().map(|(name, value)| format!("--{name}={value}")).collect()
}

/// The configuration of HAProxy. It leads to the member that says it is the primary, and ends the sessions of one that no
/// longer does.
pub(super) fn haproxy(listen: SocketAddr, members: &[&Ports]) -> String {
    let mut text = format!(
        "global\n    maxconn 1000\n\
         defaults\n    mode tcp\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n    timeout check 1s\n\
         listen primary\n    bind {listen}\n    option httpchk GET /primary\n    http-check expect status 200\n    \
         default-server inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions\n"
    );
    for (number, Ports { postgres, rest }) in members.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    server member-{number} {postgres} check port {}", rest.port());
    }
    text
}
