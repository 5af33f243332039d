//! The documents: the OpenAPI document is the code's, the contract is covered, the architecture names what is there, the README
//! lists every command, and every link leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::world::{World, message, order};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_openapi_document_is_the_one_in_the_repository() {
    assert_eq!(backhaul::http::openapi::text(), read("docs/openapi.json"), "run `make gen`");
    assert_eq!(backhaul::cli::operator_api().document, read("docs/admin-openapi.json"), "run `make gen`");
}

#[tokio::test]
async fn the_openapi_document_is_served_to_everybody() {
    let world = World::new().await;
    let reply = world.ask(reqwest::Method::GET, "/openapi.json", |request| request).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, "application/json"));
    assert_eq!(reply.text, backhaul::http::openapi::text());
    assert!(reply.body["openapi"].as_str().unwrap().starts_with("3.1."));
}

#[test]
fn every_reference_in_the_openapi_document_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(backhaul::http::openapi::text()).unwrap();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 5);
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[test]
fn every_schema_in_the_openapi_document_is_a_json_schema() {
    let document: Value = serde_json::from_str(backhaul::http::openapi::text()).unwrap();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
    }
}

#[tokio::test]
async fn a_version_grows_by_additions() {
    let page = read("docs/orders.md");
    let (_, policy) = page.split_once("\n## Versions\n").expect("the section is there");
    for promise in [
        "Within a version changes are additive: new optional fields, new fields in answers, new warnings.",
        "A version lives for 24 months after its successor.",
        "The headers `Deprecation` and `Sunset` announce its end.",
    ] {
        assert!(policy.contains(promise), "{promise}");
    }
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut sent = order("1");
    sent["a_field_to_come"] = "kept".into();
    sent["items"][0]["a_field_to_come"] = "kept".into();
    let reply = merchant.publishes(&message([sent.clone()])).await;
    assert_eq!((reply.results(), reply.warnings().len()), (vec!["created"], 0));
    assert_eq!(merchant.looks_up("1").await.body["order"], sent);
}

/// `number → (part, held by)` of docs/coverage.md.
fn coverage() -> BTreeMap<String, (String, String)> {
    let mut part = String::new();
    let mut coverage = BTreeMap::new();
    for line in read("docs/coverage.md").lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.trim().clone_into(&mut part);
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if line.starts_with('|') && is_number(cells[0]) {
            let before = coverage.insert(cells[0].to_owned(), (part.clone(), cells.last().unwrap().trim().to_owned()));
            assert!(before.is_none(), "{} stands twice in docs/coverage.md", cells[0]);
        }
    }
    coverage
}

fn is_number(word: &str) -> bool {
    (word.starts_with('C') || word.starts_with('D')) && word.chars().any(|c| c.is_ascii_digit()) && !word.contains(' ')
}

/// The numbers of docs/contract.md.
fn contract() -> BTreeSet<String> {
    let numbers = read("docs/contract.md");
    let numbers =
        numbers.lines().filter_map(|line| line.trim_start().strip_prefix("- **")?.split_once("**")).map(|(number, _)| number.to_owned());
    numbers.collect()
}

/// Every test of the workspace, as `file::name` with the file's path below `crates`.
pub fn tests() -> BTreeSet<String> {
    fn walk(dir: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                walk(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&entry).unwrap();
                let file = entry.file_stem().unwrap().to_str().unwrap();
                let mut marked = false;
                for line in text.lines().map(str::trim) {
                    marked |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                    let name = line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split_once('('));
                    if let (true, Some((name, _))) = (marked, name) {
                        found.insert(format!("{file}::{name}"));
                        marked = false;
                    }
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&root().join("crates"), &mut found);
    found
}

#[test]
fn every_statement_of_the_contract_has_its_test() {
    let (coverage, contract, tests) = (coverage(), contract(), tests());
    assert!(contract.len() > 400, "the contract is whole");
    let covered: BTreeSet<String> = coverage.keys().cloned().collect();
    assert_eq!(contract.difference(&covered).collect::<Vec<_>>(), Vec::<&String>::new(), "numbers without a row in docs/coverage.md");
    assert_eq!(covered.difference(&contract).collect::<Vec<_>>(), Vec::<&String>::new(), "rows without a number in docs/contract.md");
    for (number, (part, held_by)) in &coverage {
        if part == "stated" {
            assert!(!held_by.is_empty(), "{number} says why no test could hold it");
            continue;
        }
        for test in held_by.split(',').map(|test| test.trim().trim_matches('`')) {
            assert!(tests.contains(test), "{number} names the test {test}, which does not exist");
        }
    }
}

#[test]
fn every_test_that_the_page_on_security_names_is_there() {
    let (page, tests) = (read("docs/security.md"), tests());
    let quoted = page.split('`').skip(1).step_by(2);
    let (named, paths): (Vec<&str>, Vec<&str>) =
        quoted.filter(|word| word.contains("::") || word.contains("crates/")).partition(|word| word.contains("::"));
    assert!(named.len() > 50 && paths.len() > 3, "{named:?} {paths:?}");
    for test in named {
        assert!(test == "file::name" || tests.contains(test), "docs/security.md names the test {test}, which does not exist");
    }
    for path in paths {
        assert!(root().join(path).exists(), "docs/security.md names {path}, which does not exist");
    }
}

#[test]
fn the_architecture_names_what_is_there() {
    let text = read("ARCHITECTURE.md");
    assert!(text.lines().count() < 200, "it is read in one sitting");
    let quoted = text.split('`').skip(1).step_by(2);
    let paths: Vec<&str> =
        quoted.filter(|word| word.contains('/') && !word.starts_with('/') && !word.contains([' ', '{', '*', ':', '<'])).collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        let there = [root(), root().join("crates"), root().join("crates/service/src")].iter().any(|base| base.join(path).exists());
        assert!(there, "ARCHITECTURE.md names {path}, which does not exist");
    }
}

#[test]
fn sql_stands_in_the_store_and_transactions_in_flows() {
    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { sources(&entry, found) } else { found.push(entry) }
        }
    }
    let mut files = Vec::new();
    for member in ["domain", "wire", "sandbox", "service"] {
        sources(&root().join("crates").join(member).join("src"), &mut files);
    }
    for file in files {
        let (text, name) = (fs::read_to_string(&file).unwrap(), file.display().to_string());
        assert!(!text.contains("sqlx"), "{name} speaks to the database itself");
        let may_begin = ["/flow/", "/delivery/", "service/src/node.rs"].iter().any(|place| name.contains(place));
        assert!(!text.contains(".begin(") || may_begin, "{name} opens a transaction");
        assert!(!(name.contains("/flow") && text.contains("axum")), "{name} knows axum");
    }
}

/// Every command of the program with its subcommands, from the headings that `backhaul cli-reference` prints.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO_BIN_EXE_backhaul")).arg("cli-reference").output().unwrap();
    let reference = String::from_utf8(output.stdout).unwrap();
    let mut commands = BTreeMap::<String, BTreeSet<String>>::new();
    for heading in reference.lines().filter_map(|line| line.strip_prefix("## backhaul ")) {
        let (command, below) = heading.split_once(' ').map_or((heading, None), |(command, below)| (command, Some(below)));
        commands.entry(command.to_owned()).or_default().extend(below.map(str::to_owned));
    }
    commands
}

#[test]
fn the_readme_lists_every_command_and_no_other() {
    let readme = read("README.md");
    let (_, section) = readme.split_once("\n## Commands\n").expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let mut listed = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `backhaul ")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let command = cells[0].trim_matches('`').strip_prefix("backhaul ").unwrap().to_owned();
        let below: BTreeSet<String> = cells[1].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        assert!(!cells[2].is_empty(), "{row}");
        assert!(listed.insert(command, below).is_none(), "{row} stands twice");
    }
    assert_eq!(listed, commands());
}

#[test]
fn every_figure_of_the_readme_is_one_of_the_proofs() {
    let (readme, proofs) = (read("README.md"), read("docs/proof.md"));
    let (_, section) = readme.split_once("\n## Measured\n").expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with('|') && line.contains("`make ")).collect();
    assert!(rows.len() > 5, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let proof = proofs.lines().find(|line| line.starts_with(&format!("| {}", cells[2])));
        let proof = proof.unwrap_or_else(|| panic!("docs/proof.md has no figures of {}", cells[2]));
        let numbers = cells[1].split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).map(|word| word.trim_matches(['.', ',']));
        for number in numbers.filter(|number| !number.is_empty()) {
            assert!(proof.contains(number), "the README says {number} of {}, docs/proof.md does not", cells[2]);
        }
    }
}

/// The Markdown documents of the repository, by path.
pub fn documents() -> BTreeMap<String, String> {
    let mut paths = vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/adr"] {
        let files = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let pages = files.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
        paths.extend(pages.map(|file| format!("{folder}/{}", file.file_name().unwrap().to_str().unwrap())));
    }
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The targets of a document's relative links, and those of its pictures.
fn links(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let lines = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    let targets = lines.flat_map(|line| line.split("](").skip(1)).map(|rest| rest.split(')').next().unwrap());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The anchors that GitHub makes of a document's headings.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |heading: String| heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c)).collect::<String>();
    headings.map(|heading| kept(heading).replace(' ', "-")).collect()
}

#[test]
fn every_source_that_a_document_names_is_there() {
    for (path, text) in documents() {
        for named in
            text.split('`').skip(1).step_by(2).filter(|word| word.starts_with("crates/") && !word.contains([' ', '{', '*', '…', '<']))
        {
            assert!(root().join(named).exists(), "{path} names {named}, which does not exist");
        }
    }
}

#[test]
fn the_index_links_every_document() {
    let documents = documents();
    let linked: BTreeSet<PathBuf> = ["docs/README.md", "docs/adr/README.md"]
        .iter()
        .flat_map(|index| {
            let folder = root().join(index).parent().unwrap().to_owned();
            links(&documents[*index]).into_iter().map(move |target| folder.join(target.split('#').next().unwrap()).canonicalize().unwrap())
        })
        .collect();
    for path in documents.keys().filter(|path| !path.ends_with("README.md")) {
        assert!(linked.contains(&root().join(path)), "docs/README.md does not link {path}");
    }
    let front = links(&documents["README.md"]);
    assert!(front.contains(&"docs/README.md"), "the README links the index");
}

#[test]
fn the_example_for_haproxy_is_the_file_that_is_tried() {
    let document = read("docs/operations.md");
    let (_, example) = document.split_once("```haproxy\n").expect("an example");
    assert_eq!(example.split("```").next().unwrap(), read("ops/haproxy.cfg"));
}
