//! `backhaul demo`: the story that it tells, from beginning to end, and its picture.

use std::process::Command;

use crate::binary::out;

/// The story without what changes from run to run: numbers of orders and returns, and ids. Each keeps its length.
fn normalised(story: &str) -> String {
    let masked = |word: &str| match word {
        word if word.starts_with("DEMO-") => word.replace(|letter: char| letter.is_ascii_digit(), "0"),
        word if word.starts_with("R-") => format!("R-{}", word[2..].replace(|letter: char| letter.is_ascii_alphanumeric(), "X")),
        word if word.len() == 36 && word.split('-').count() == 5 => word.replace(|letter: char| letter.is_ascii_alphanumeric(), "0"),
        word => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(masked).collect::<Vec<_>>().join(" ");
    story.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The lines of a picture, without those that are empty.
fn drawn(svg: &str) -> Vec<String> {
    let texts = svg.lines().filter(|line| line.starts_with("<text"));
    let plain = |line: &str| {
        let parts: Vec<&str> = line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect();
        parts.concat().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").trim_end().to_owned()
    };
    texts.map(plain).collect()
}

#[test]
fn the_demo_tells_the_same_story_every_time_and_its_picture_shows_it() {
    let file = std::env::temp_dir().join(format!("backhaul-demo-{}.svg", std::process::id()));
    let mut demo = Command::new(env!("CARGO_BIN_EXE_backhaul"));
    let told = out(&demo.arg("demo").arg("--svg").arg(&file).env_remove("DATABASE_URL").output().unwrap());
    let picture = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let (preparations, story) = told.split_once("\n\n").unwrap();
    assert!(preparations.starts_with("Starting a sandbox on this machine") && !told.contains('\x1b'), "{told}");
    insta::assert_snapshot!(normalised(story));
    let lines: Vec<&str> = story.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(drawn(&picture), lines);
    // The picture in the README is of this story. When a change is meant: `make demo-picture`.
    let shown = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/demo.svg")).unwrap();
    assert_eq!(normalised(&drawn(&shown).join("\n")), normalised(&lines.join("\n")), "draw it anew: make demo-picture");
}
