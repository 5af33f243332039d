//! The README and what `backhaul dev` prints, followed literally.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::Database;

/// The directory of the program under test, to be first on the PATH.
fn path() -> String {
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
        .env("BACKHAUL__HTTP__ADMIN_LISTEN", free_address())
        .output()
        .unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains(r#""result":"created""#), "{out}\n{err}");
}

#[test]
fn what_dev_prints_can_be_pasted() {
    let mut dev = Command::new(env!("CARGO_BIN_EXE_backhaul")).args(["dev", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(dev.stdout.take().unwrap()).lines().map_while(Result::ok);
    let printed: Vec<String> = lines.by_ref().take_while(|line| line != "backhaul merchant list").collect();
    let start = printed.iter().position(|line| line.starts_with("TOKEN=")).expect("the part to paste");
    let prose = printed.iter().position(|line| line.starts_with("The operator's commands")).unwrap();
    let mut paste = printed[start..prose].join("\n");
    paste.push_str(printed.last().unwrap());
    paste.push_str("\nbackhaul merchant list\n");
    let output = Command::new("bash").args(["-c", &format!("set -euo pipefail\n{paste}")]).env("PATH", path()).output().unwrap();
    Command::new("kill").arg(dev.id().to_string()).status().unwrap();
    let drained = std::thread::spawn(move || lines.for_each(drop));
    assert!(dev.wait().unwrap().success(), "it ends in order");
    drained.join().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}\n{paste}");
    assert!(out.contains(r#""result":"created""#) && out.contains(r#""revision":1"#) && out.contains("Demo Shoes"), "{out}\n{err}");
}
