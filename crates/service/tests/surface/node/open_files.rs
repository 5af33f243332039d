//! The limit on open files: every connection takes one, so it must suffice for those that the settings allow.

use std::process::Command;

use crate::binary::{Served, command, err};
use crate::world::Database;

/// The `backhaul serve` of `command`, started by a shell that has set a limit.
fn limited(command: &Command, ulimit: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {ulimit} && exec \"$0\" serve")]).arg(command.get_program());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

#[tokio::test]
async fn the_limit_on_open_files_is_raised_to_what_connections_need() {
    let database = Database::create().await;
    let served = Served::start(&mut limited(&command(&database), "-Sn 256"));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", served.child.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let soft: u64 = files.split_whitespace().next().unwrap().parse().unwrap();
    assert!(soft >= 11_000, "{files}");
}

#[tokio::test]
async fn production_does_not_start_when_it_may_open_too_few_files() {
    let database = Database::create().await;
    let served = Served::start(&mut limited(&command(&database), "-n 300"));
    drop(served);
    let mut production = command(&database);
    production.env("BACKHAUL__MODE", "production").env("BACKHAUL__KEYS__FINGERPRINT", "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    production.env("BACKHAUL__KEYS__SEALING", "k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    production.env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true");
    let refused = err(&limited(&production, "-n 300").output().unwrap());
    assert!(
        refused.contains("this process may open 300 files, but http.connections = 10000 needs 11024: raise the limit (LimitNOFILE, ulimit -n), or lower http.connections"),
        "{refused}"
    );
}
