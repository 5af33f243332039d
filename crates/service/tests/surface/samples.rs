//! The samples of the documents: each is run or says why it is not, and no document shows a command or a setting that does not exist.

use std::collections::BTreeSet;
use std::process::Command;

use backhaul::platform::config::Settings;
use clap::error::ErrorKind;
use serde_json::Value;

use crate::documents::{anchors, documents, read, root, tests};
use crate::readme::path;
use crate::world::Database;

/// The documents, or sections of them, whose samples in these languages are run, and the test or the target that runs them. A target of
/// the Makefile takes the commands from the document, so that page and test cannot differ.
const RUN: [(&str, &[&str], &str); 6] = [
    ("README.md#step-by-step", &["sh"], "readme::the_readme_leads_from_an_empty_database_to_a_stored_order"),
    ("docs/admin-api.md", &["sh"], "readme::the_operator_apis_document_leads_from_nothing_to_a_live_merchant"),
    ("docs/first-steps.md", &["sh"], "make dev-check"),
    ("docs/getting-started-debian.md", &["sh"], "make first-message"),
    ("docs/operations.md", &["haproxy"], "make rolling-haproxy"),
    (
        "docs/receiving.md",
        &["bash", "python", "rust", "typescript"],
        "receiving::every_sample_of_the_page_accepts_what_is_really_signed_and_nothing_else",
    ),
];

/// The documents whose `sh` and `sql` samples `scripts/run-samples` runs in one sandbox, in this order: the order that is pushed by the
/// first is returned by the second.
const GUIDES: [&str; 20] = [
    "docs/orders.md",
    "docs/returns.md",
    "docs/imports.md",
    "docs/drop-shipping.md",
    "docs/inbound.md",
    "docs/start-merchant.md",
    "docs/start-warehouse.md",
    "docs/start-carrier.md",
    "docs/warehouse.md",
    "docs/withdrawal.md",
    "docs/portal.md",
    "docs/endpoints.md",
    "docs/exchanges.md",
    "docs/failures.md",
    "docs/mails.md",
    "docs/operations.md",
    "docs/retention.md",
    "docs/carriers.md",
    "docs/dev.md",
    "docs/deploying.md",
];

/// Languages of blocks that nobody runs: output, data and diagrams.
const SHOWN: [&str; 3] = ["text", "json", "mermaid"];

/// A fenced block of a document.
struct Block {
    document: String,
    line: usize,
    /// The anchor of the heading above it.
    section: String,
    language: String,
    code: String,
    /// Why it is not run, if the comment directly above it says so.
    reason: Option<String>,
}

impl Block {
    fn place(&self) -> String {
        format!("{}:{}", self.document, self.line)
    }

    /// True if `place`, a document or a section of it, holds this block.
    fn stands_in(&self, place: &str) -> bool {
        place.split_once('#').map_or(self.document == place, |(document, section)| self.document == document && self.section == section)
    }

    fn registered(&self) -> bool {
        RUN.iter().any(|(place, languages, _)| self.stands_in(place) && languages.contains(&self.language.as_str()))
    }

    fn in_a_guide(&self) -> bool {
        GUIDES.contains(&self.document.as_str()) && ["sh", "sql"].contains(&self.language.as_str())
    }
}

/// The documents for readers. Decisions tell what was thought at the time, and the reference of commands is generated.
fn pages() -> impl Iterator<Item = (String, String)> {
    documents().into_iter().filter(|(path, _)| !path.starts_with("docs/adr/") && path != "docs/cli.md")
}

fn blocks() -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for (document, text) in pages() {
        let (mut section, mut reason, mut open) = (String::new(), None, false);
        for (at, line) in text.lines().enumerate() {
            let plain = line.trim();
            if let (true, Some(block)) = (open, found.last_mut()) {
                if plain == "```" {
                    open = false;
                } else {
                    block.code.push_str(line);
                    block.code.push('\n');
                }
                continue;
            }
            if let Some(language) = plain.strip_prefix("```") {
                let (language, code) = (language.to_owned(), String::new());
                let (document, section) = (document.clone(), section.clone());
                found.push(Block { document, line: at + 1, section, language, code, reason: reason.take() });
                open = true;
            } else if line.starts_with('#') {
                section = anchors(line).pop_first().unwrap_or_default();
            }
            reason = plain.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->")).map(str::to_owned);
        }
        assert!(!open, "{document} has a block without an end");
    }
    found
}

/// The targets of the Makefile.
fn targets() -> BTreeSet<String> {
    read("Makefile").lines().filter_map(|line| line.strip_prefix(".PHONY: ")).flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// The targets of the Makefile that a text names.
fn named_targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("make ").skip(1).filter_map(|rest| rest.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next())
}

#[test]
fn every_sample_of_the_documents_is_run_or_says_why_not() {
    let (blocks, tests, targets) = (blocks(), tests(), targets());
    let files: BTreeSet<&str> = tests.iter().filter_map(|test| test.split_once("::")).map(|(file, _)| file).collect();
    assert!(blocks.len() > 150, "the documents are read: {}", blocks.len());
    for block in &blocks {
        let (place, language) = (block.place(), block.language.as_str());
        assert!(!language.is_empty(), "{place}: name the language of the block, `text` if it is none");
        let command = language == "text" && block.code.trim_start().starts_with("backhaul ");
        assert!(!command, "{place}: commands are `sh`, so that they are run");
        let Some(reason) = &block.reason else {
            let held = SHOWN.contains(&language) || language == "toml" || block.registered() || block.in_a_guide();
            assert!(
                held,
                "{place}: nothing runs this {language}; register what does in samples.rs, or say why above it: <!-- not run: … -->"
            );
            continue;
        };
        assert!(!block.registered(), "{place}: says that it is not run, but it is");
        for target in named_targets(reason) {
            assert!(targets.contains(target), "{place}: names make {target}, which does not exist");
        }
        for file in reason.split_whitespace().filter_map(|word| word.trim_end_matches([',', ';']).strip_suffix(".rs")) {
            assert!(files.contains(file), "{place}: names {file}.rs, which has no tests");
        }
    }
    for (place, languages, by) in RUN {
        let there = by.strip_prefix("make ").map_or_else(|| tests.contains(by), |target| targets.contains(target));
        assert!(there, "{place} is said to be run by {by}, which does not exist");
        for language in languages {
            assert!(blocks.iter().any(|block| block.stands_in(place) && block.language == *language), "{place} has no {language}");
        }
    }
    for guide in GUIDES {
        assert!(
            blocks.iter().any(|block| block.document == guide && block.in_a_guide() && block.reason.is_none()),
            "{guide} has no sample"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_samples_of_the_guides_run() {
    let database = Database::create_alone().await;
    // psql does not know the parameters that the driver adds.
    let url = database.url.split('?').next().unwrap();
    let mut run = Command::new(root().join("scripts/run-samples"));
    let output = run.args(GUIDES).env("PATH", path()).env("DATABASE_URL", url).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

#[test]
fn every_target_that_a_sample_calls_is_there() {
    let targets = targets();
    for block in blocks().into_iter().filter(|block| ["sh", "bash"].contains(&block.language.as_str())) {
        for line in block.code.lines().filter(|line| line.trim_start().starts_with("make ")) {
            for target in line.split_whitespace().skip(1).filter(|word| !word.contains('=')) {
                assert!(targets.contains(target), "{}: make {target} does not exist", block.place());
            }
        }
    }
}

/// The words of a command, as a shell reads them, up to a pipe, a redirection or the end.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = command.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '>' | '<') => {
                // The number of what is redirected is no word.
                word = word.filter(|word| word.parse::<u8>().is_err());
                break;
            }
            (None, '|' | ';' | '&' | ')') => break,
            (None, '#') if word.is_none() => break,
            (None, _) if char.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// The commands of this program in a block. Here-documents are left out.
fn commands(code: &str) -> Vec<Vec<String>> {
    let (mut found, mut skipped_to, mut whole) = (Vec::new(), None::<String>, String::new());
    for line in code.lines() {
        if let Some(end) = &skipped_to {
            if line.trim() == end {
                skipped_to = None;
            }
            continue;
        }
        skipped_to = line.split_once("<<").map(|(_, end)| end.trim_matches('\'').to_owned());
        whole.push_str(line.trim_end_matches('\\'));
        if line.ends_with('\\') {
            continue;
        }
        let line = std::mem::take(&mut whole);
        let assigns = line.split_once('=').is_some_and(|(name, _)| name.trim().chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        for (at, _) in line.match_indices("backhaul ") {
            let (before, command) = line.split_at(at);
            let alone = before.is_empty() || before.ends_with([' ', '(']);
            let before = before.trim_end();
            let keyword = before.split_whitespace().last().is_some_and(|word| ["until", "while", "if", "do", "then"].contains(&word));
            if alone && (before.is_empty() || before.ends_with(['(', '|', ';', '&', '$']) || keyword || assigns) {
                found.push(words(command));
            }
        }
    }
    found
}

/// True for what a reader replaces: `ID`, `$ID`, `bhc_…`.
fn placeholder(word: &str) -> bool {
    word.starts_with('$') || word.contains('…') || (word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
}

/// Reads a command as the program does. Ids and fingerprints stand in for placeholders, if the value of an option is refused.
fn understood(command: &[String]) -> Result<(), clap::Error> {
    let fingerprint = "0".repeat(64);
    let mut outcome = Ok(());
    for stand_in in [None, Some("019caa00-5c00-7c3e-9d0f-0d3b1c2a4e5f"), Some(fingerprint.as_str())] {
        let given = command.iter().map(|word| stand_in.filter(|_| placeholder(word)).unwrap_or(word));
        outcome = backhaul::cli::command().try_get_matches_from(given).map(drop);
        match &outcome {
            Err(error) if error.kind() == ErrorKind::ValueValidation => {}
            _ => break,
        }
    }
    outcome
}

#[test]
fn every_command_that_a_document_shows_can_be_read() {
    let mut read = 0;
    for block in blocks().into_iter().filter(|block| ["sh", "bash", "text"].contains(&block.language.as_str())) {
        for command in commands(&block.code) {
            if let Err(error) = understood(&command) {
                assert!(!error.use_stderr(), "{}: {command:?}\n{error}", block.place());
            }
            read += 1;
        }
    }
    assert!(read > 120, "{read}");
    for wrong in ["backhaul merchant ad acme", "backhaul serve --rolle api", "backhaul failures show ID", "backhaul limit set a few"] {
        assert!(commands(wrong).iter().all(|command| understood(command).is_err()), "{wrong}");
    }
}

/// The first word of a command in a sentence that the program does not know: a command or an option. Sentences leave out what they are
/// not about, so nothing is said of what is missing.
fn unknown<'a>(sentence: &'a str, program: &clap::Command) -> Option<&'a str> {
    let (mut command, mut words) = (program, sentence.split_whitespace().skip(1));
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let (name, given) = option.split_once('=').map_or((option, false), |(name, _)| (name, true));
            let Some(argument) = command.get_arguments().find(|argument| argument.get_long() == Some(name)) else { return Some(word) };
            if argument.get_action().takes_values() && !given {
                words.next();
            }
        } else if word == "-o" {
            words.next();
        } else if command.has_subcommands() && !placeholder(word) {
            match command.find_subcommand(word) {
                Some(below) => command = below,
                None => return Some(word),
            }
        }
    }
    None
}

#[test]
fn every_command_and_option_in_a_sentence_is_one_of_the_program() {
    let mut program = backhaul::cli::command();
    program.build();
    let mut read = 0;
    for (document, text) in pages() {
        let mut fenced = false;
        for line in text.lines() {
            fenced ^= line.trim_start().starts_with("```");
            for code in line.split('`').skip(1).step_by(2).filter(|code| !fenced && code.starts_with("backhaul ")) {
                assert_eq!(unknown(code, &program), None, "{document}: `{code}`");
                read += 1;
            }
        }
    }
    assert!(read > 200, "{read}");
    assert_eq!(unknown("backhaul merchant ad", &program), Some("ad"));
    assert_eq!(unknown("backhaul merchant list --al", &program), Some("--al"));
}

#[test]
fn every_setting_that_a_document_shows_is_read() {
    let mut read = 0;
    for block in blocks().into_iter().filter(|block| block.language == "toml") {
        let file = std::env::temp_dir().join(format!("backhaul-sample-{}-{read}.toml", std::process::id()));
        std::fs::write(&file, &block.code).unwrap();
        let variables = [("DATABASE_URL", "postgres:///backhaul"), ("BACKHAUL__MODE", "sandbox")];
        let settings = Settings::load(Some(&file), variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        std::fs::remove_file(&file).unwrap();
        assert!(settings.is_ok(), "{}: {}", block.place(), settings.err().map(|error| error.to_string()).unwrap_or_default());
        read += 1;
    }
    assert!(read >= 3, "{read}");
}

#[test]
fn every_json_sample_is_json() {
    for block in blocks().into_iter().filter(|block| block.language == "json" && !block.code.contains('…')) {
        let whole = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        let (code, members) = (block.code.as_str(), format!("{{{}}}", block.code));
        assert!(whole(code) || whole(&members) || code.lines().all(whole), "{}: neither a value, nor members, nor lines", block.place());
    }
}
