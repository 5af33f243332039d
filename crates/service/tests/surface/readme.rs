//! The README, followed literally.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::world::Database;

/// The directory of the program under test, to be first on the PATH.
pub fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_backhaul"));
    format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap())
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[tokio::test]
async fn the_readme_leads_from_an_empty_database_to_a_stored_order() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Step by step").expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let blocks: Vec<&str> = section.split("```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 4, "{blocks:?}");

    let database = Database::create_empty().await;
    let dir = std::env::temp_dir().join(format!("backhaul-readme-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("set -euo pipefail\n{}", blocks.join("\n"))])
        .current_dir(&dir)
        .env("PATH", path())
        .env("DATABASE_URL", &database.url)
        .env("BACKHAUL__HTTP__LISTEN", free_address())
        .env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "0")
        .env("BACKHAUL__HTTP__ADMIN_LISTEN", free_address())
        .env("BACKHAUL__CONSOLE__LISTEN", free_address())
        .output()
        .unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains(r#""result":"created""#), "{out}\n{err}");
}
