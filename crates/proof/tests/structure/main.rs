//! Holds the sources to the layout that ARCHITECTURE.md describes: which way imports go, where each area's code stands, who may
//! commit, and how doc comments read. Every check is tried on bad samples in `samples`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may end in a panic")]

mod circles;
mod error_texts;
mod imports;
mod layers;
mod samples;
mod sources;
mod syntax;
mod words;

use self::circles::{Listed, between_folders, inside_folders, unlisted};
use self::error_texts::error_texts;
use self::imports::Graph;
use self::layers::{Exception, Layer, against, committing, lonely_areas, signalling, strange_folders};
use self::sources::Sources;
use self::words::{Openings, undocumented};

/// The circles between files of one folder that are allowed, with the reason.
const CIRCLES: &[Listed] = &[
    Listed {
        files: &["crates/service/src/delivery/secrets/authentication.rs", "crates/service/src/delivery/secrets/authentication/tokens.rs"],
        reason: "OAuth is one kind of authentication, and its tokens make the same header as a fixed bearer token",
    },
    Listed {
        files: &["crates/service/src/http.rs", "crates/service/src/http/openapi.rs"],
        reason: "the OpenAPI document describes all routes and is itself served by one of them",
    },
];

/// The most entries that [`CIRCLES`] may have.
const MOST_CIRCLES: usize = 5;

/// The service's sources.
const SERVICE: &str = "crates/service/src";

/// The top modules of the service, from the surface down, and what each may import.
const LAYERS: &[Layer] = &[
    ("cli", &["http", "worker", "heartbeat", "flow", "show", "app", "shops", "delivery", "node", "platform"]),
    ("http", &["flow", "show", "app", "shops", "delivery", "node", "platform"]),
    ("worker", &["timers", "flow", "app", "delivery"]),
    ("timers", &["flow", "app", "delivery"]),
    ("heartbeat", &["app", "node", "platform"]),
    ("flow", &["show", "app", "gathering", "intake", "shops", "delivery", "node", "platform"]),
    ("show", &["app", "shops", "delivery", "node", "platform"]),
    ("app", &["gathering", "intake", "grants", "shops", "delivery", "node", "platform"]),
    ("gathering", &[]),
    ("intake", &["node"]),
    ("grants", &["node", "platform"]),
    ("shops", &["node", "platform"]),
    ("delivery", &["node", "platform"]),
    ("node", &["platform"]),
    ("platform", &[]),
];

/// The areas of the business. Every layer has its part of an area in a folder of that name.
const AREAS: &[&str] = &["orders", "returns", "warehouse", "messages", "merchants", "node"];

/// The folders that are divided by area.
const AREA_LAYERS: &[&str] = &[
    "crates/domain/src",
    "crates/wire/src",
    "crates/store/src",
    "crates/service/src/flow",
    "crates/service/src/http/api",
    "crates/service/src/cli",
    "crates/service/src/show",
    "crates/service/tests/surface",
    "crates/proof/src",
];

/// The folders in such a layer that are not an area, with the reason.
const OTHER_FOLDERS: &[Exception] = &[
    ("crates/service/src/cli/dev", "the development environment: one command that touches every area"),
    ("crates/service/src/cli/remote", "commands of every area through the operator API"),
    ("crates/service/tests/surface/world", "what the tests of every area stand on"),
    ("crates/store/src/connection", "the connections that statements of every area run on"),
    ("crates/wire/src/shape", "the values and objects that messages of every area are made of"),
];

/// The areas that exist in one layer only, with the reason.
const LONELY_AREAS: &[Exception] = &[];

/// The files and folders of the service that may touch signals, with the reason.
const SIGNALLING: &[Exception] = &[
    ("crates/service/src/delivery", "commits signal here, retries are released here, and the engine takes the signals"),
    ("crates/service/src/flow/messages/configure_endpoint.rs", "an endpoint that is resumed has work, though no message is new"),
    ("crates/service/src/flow/messages/retry_message.rs", "a message that is retried is due again, though it is not new"),
];

/// The one file of the service that commits a transaction.
const COMMITTING: &str = "crates/service/src/delivery/handle.rs";

/// Doc comments that open with a question word must be fewer than this share, in per cent.
const MOST_QUESTIONS: f64 = 10.0;

fn expect_nothing(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} found:\n- {}", wrong.len(), wrong.join("\n- "));
}

#[test]
fn no_circle_of_imports_spans_folders() {
    let sources = Sources::of_the_workspace();
    let wrong: Vec<String> = sources.crates().iter().flat_map(|src| between_folders(&Graph::of(&sources, src))).collect();
    expect_nothing(&wrong);
}

#[test]
fn circles_inside_a_folder_are_few_and_listed() {
    let sources = Sources::of_the_workspace();
    let found: Vec<_> = sources.crates().iter().flat_map(|src| inside_folders(&Graph::of(&sources, src))).collect();
    expect_nothing(&unlisted(&found, CIRCLES, MOST_CIRCLES));
}

#[test]
fn imports_in_the_service_go_one_way() {
    expect_nothing(&against(&Graph::of(&Sources::of_the_workspace(), SERVICE), SERVICE, LAYERS));
}

#[test]
fn the_delivery_engine_knows_nothing_of_its_callers() {
    let sources = Sources::of_the_workspace();
    assert!(sources.has("crates/service/src/delivery"), "the delivery engine stands in crates/service/src/delivery");
    let wrong = against(&Graph::of(&sources, SERVICE), SERVICE, LAYERS);
    expect_nothing(&wrong.into_iter().filter(|wrong| wrong.contains("`delivery` may only")).collect::<Vec<_>>());
}

#[test]
fn every_folder_of_a_layer_is_an_area_or_listed() {
    expect_nothing(&strange_folders(&Sources::of_the_workspace(), AREA_LAYERS, AREAS, OTHER_FOLDERS));
}

#[test]
fn an_area_of_one_layer_only_is_listed() {
    expect_nothing(&lonely_areas(&Sources::of_the_workspace(), AREA_LAYERS, AREAS, LONELY_AREAS));
}

#[test]
fn a_message_is_signalled_only_by_the_transaction_that_owes_it() {
    expect_nothing(&signalling(&Sources::of_the_workspace(), SERVICE, SIGNALLING));
}

#[test]
fn transactions_are_committed_in_one_place() {
    expect_nothing(&committing(&Sources::of_the_workspace(), SERVICE, COMMITTING));
}

#[test]
fn few_doc_comments_open_with_a_question_word() {
    let openings = Openings::of(&Sources::of_the_workspace());
    let figure = format!("{} of {} doc comments ({:.1} %)", openings.questions.len(), openings.blocks, openings.share());
    eprintln!("{figure} open with a question word");
    let some: Vec<&str> = openings.questions.iter().take(40).map(String::as_str).collect();
    assert!(
        openings.share() < MOST_QUESTIONS,
        "{figure} open with What, Whose, Whether, Who or How long. Open with a noun or a verb instead. The first of them:\n- {}",
        some.join("\n- ")
    );
}

#[test]
fn everything_public_has_a_doc_comment() {
    expect_nothing(&undocumented(&Sources::of_the_workspace()));
}

#[test]
fn the_text_of_every_error_has_been_read() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/structure/error_texts.txt");
    let texts = error_texts(&Sources::of_the_workspace());
    if std::env::var_os("WRITE_DOWN").is_some() {
        std::fs::write(file, &texts).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap();
    let new: Vec<&str> = texts.lines().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    let gone: Vec<&str> = kept.lines().filter(|line| !texts.lines().any(|known| known == *line)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "Errors have new texts. Read them: does each say what happened, why, and what to do next? Then write them down: \
         WRITE_DOWN=1 cargo nextest run -p proof -E 'test(the_text_of_every_error_has_been_read)'\nnew:\n{}\ngone:\n{}",
        new.join("\n"),
        gone.join("\n")
    );
}
