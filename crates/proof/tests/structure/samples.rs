//! Small bad samples: each check must fail on one, and pass once it is put right.

use crate::circles::{Listed, between_folders, inside_folders, unlisted};
use crate::imports::Graph;
use crate::layers::{against, committing, lonely_areas, signalling, strange_folders};
use crate::sources::Sources;
use crate::words::{Openings, undocumented};

const SRC: &str = "crates/some/src";

/// A crate of files named below its `src`.
fn sources(files: &[(&str, &str)]) -> Sources {
    let files: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("{SRC}/{path}"), *text)).collect();
    Sources::sample(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
}

/// The imports of a crate as `from -> to`, below `src` and without `.rs`.
fn imports(files: &[(&str, &str)]) -> Vec<String> {
    let short = |file: &str| file.trim_start_matches(SRC).trim_start_matches('/').trim_end_matches(".rs").to_owned();
    let graph = Graph::of(&sources(files), SRC);
    graph.imports.iter().map(|import| format!("{} -> {}", short(&import.from), short(&import.to))).collect()
}

#[test]
fn imports_are_found_however_they_are_written() {
    let with = |text: &str| {
        imports(&[("lib.rs", "mod a; mod b; mod c;"), ("a.rs", text), ("b.rs", "pub mod deep;"), ("b/deep.rs", ""), ("c.rs", "")])
    };
    assert_eq!(with("use crate::b::X;"), ["a -> b"]);
    assert_eq!(with("use crate::{b::{self, deep::X}, c};"), ["a -> b", "a -> b/deep", "a -> c"]);
    assert_eq!(with("use super::b::deep::*;"), ["a -> b/deep"]);
    assert_eq!(with("pub(crate) use super::b as other;"), ["a -> b"]);
    assert_eq!(with("fn f() { crate::b::deep::g::<u8>(); }"), ["a -> b/deep"]);
    assert_eq!(with("fn f(x: super::c::X) -> crate::b::Y { x.into() }"), ["a -> b", "a -> c"]);
    assert_eq!(with("use crate::b;\nfn f() { b::deep::g() }"), ["a -> b", "a -> b/deep"]);
    assert_eq!(with("use crate::b;\nuse tokio::b;\nfn f() { b::deep::g() }"), ["a -> b", "a -> b/deep"]);
    assert_eq!(with("fn f() { println!(\"{}\", vec![crate::c::g(1)].len()) }"), ["a -> c"]);
    assert_eq!(with("macro_rules! m { ($x:ident) => { $crate::c::$x } }"), ["a -> c"]);
    assert_eq!(with("mod inside { use super::super::c; }"), ["a -> c"]);
    assert_eq!(with("impl crate::b::Trait for X { fn f() { match 1 { super::c::ONE => (), _ => () } } }"), ["a -> b", "a -> c"]);
}

#[test]
fn what_is_no_import_is_left_out() {
    let with = |text: &str| imports(&[("lib.rs", "mod a; mod b;"), ("a.rs", text), ("b.rs", "")]);
    let nothing: [&str; 0] = [];
    assert_eq!(with("use std::b; use ::b::X; use other::b::Y;"), nothing);
    assert_eq!(with("//! [`crate::b`]\n/// [`crate::b::X`]\npub(in crate::b) fn f() { let text = \"crate::b::X\"; }"), nothing);
    assert_eq!(with("#[cfg(test)] mod tests { use crate::b; }"), nothing);
    assert_eq!(
        with("#[cfg(test)] use crate::b; #[cfg(test)] fn f() { crate::b::g() } impl X { #[cfg(test)] fn f() { crate::b::g() } }"),
        nothing
    );
    assert_eq!(with("fn f() { x.b::<u8>(); T::b(); Self::b(); }"), nothing);
    let test_file = [("lib.rs", "mod a; mod b;"), ("a.rs", "#[cfg(test)] mod tests;"), ("a/tests.rs", "use crate::b;"), ("b.rs", "")];
    assert_eq!(imports(&test_file), nothing);
    let programs = [("lib.rs", "pub mod a;"), ("a.rs", ""), ("main.rs", "use self::a::X;"), ("bin/b.rs", "use crate::a::X;")];
    assert_eq!(imports(&programs), nothing);
}

#[test]
fn a_parent_file_stands_in_its_own_folder() {
    let files = [("lib.rs", ""), ("a.rs", ""), ("a/b.rs", ""), ("c.rs", "#[cfg(test)] mod tests;"), ("c/tests.rs", "")];
    let graph = Graph::of(&sources(&files), SRC);
    let folder = |file: &str| graph.folder(&format!("{SRC}/{file}"));
    assert_eq!(folder("lib.rs"), SRC);
    assert_eq!(folder("a.rs"), format!("{SRC}/a"));
    assert_eq!(folder("a/b.rs"), format!("{SRC}/a"));
    assert_eq!(folder("c.rs"), SRC, "a folder of tests only is none");
}

#[test]
fn a_circle_between_folders_is_found() {
    let mut files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x;"),
        ("a/x.rs", "use crate::b::y::Y;"),
        ("b.rs", "mod y; mod z;"),
        ("b/y.rs", "use super::z::Z;"),
        ("b/z.rs", "use crate::a::x::X;"),
    ];
    let wrong = between_folders(&Graph::of(&sources(&files), SRC));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].contains("3 files import each other in a circle"), "{wrong:?}");
    assert!(wrong[0].contains("crates/some/src/b/z.rs imports crates/some/src/a/x.rs (crate::a::x::X)"), "{wrong:?}");
    assert!(wrong[0].contains("It spans the folders crates/some/src/a, crates/some/src/b."), "{wrong:?}");
    files[5].1 = "";
    assert!(between_folders(&Graph::of(&sources(&files), SRC)).is_empty());
}

#[test]
fn a_circle_between_the_root_and_a_folder_is_found() {
    let files = [("lib.rs", "mod a; use self::a::x::X;"), ("a.rs", "mod x;"), ("a/x.rs", "use crate::Root;")];
    assert_eq!(between_folders(&Graph::of(&sources(&files), SRC)).len(), 1);
}

#[test]
fn a_circle_inside_a_folder_must_be_listed_while_it_exists() {
    const LISTED: &[Listed] = &[Listed { files: &["crates/some/src/a/x.rs", "crates/some/src/a.rs"], reason: "they are one thing" }];
    const NO_REASON: &[Listed] = &[Listed { files: &["crates/some/src/a.rs", "crates/some/src/a/x.rs"], reason: "" }];
    let mut files = [("lib.rs", "mod a;"), ("a.rs", "mod x; pub use self::x::X;"), ("a/x.rs", "use super::A;")];
    let graph = Graph::of(&sources(&files), SRC);
    let found = inside_folders(&graph);
    assert!(between_folders(&graph).is_empty(), "a parent file and its folder are one folder");
    assert!(unlisted(&found, LISTED, 1).is_empty());
    assert!(unlisted(&found, &[], 1)[0].contains("crates/some/src/a/x.rs imports crates/some/src/a.rs (super::A)"));
    assert!(unlisted(&found, NO_REASON, 1)[0].contains("no reason"));
    assert!(unlisted(&found, LISTED, 0)[0].contains("at most 0"));
    files[2].1 = "";
    let gone = inside_folders(&Graph::of(&sources(&files), SRC));
    assert!(unlisted(&gone, LISTED, 1)[0].contains("no longer exists"));
}

#[test]
fn a_circle_inside_a_folder_is_found_beside_one_between_folders() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x; mod y;"),
        ("a/x.rs", "use super::y::Y; use crate::b::B;"),
        ("a/y.rs", "use super::x::X;"),
        ("b.rs", "use crate::a::x::X;"),
    ];
    let found = inside_folders(&Graph::of(&sources(&files), SRC));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].files.iter().collect::<Vec<_>>(), ["crates/some/src/a/x.rs", "crates/some/src/a/y.rs"]);
}

#[test]
fn an_import_against_the_layers_is_found() {
    const TABLE: &[(&str, &[&str])] = &[("http", &["flow"]), ("flow", &[])];
    let with = |flow: &str, more: (&str, &str)| {
        let files =
            [("lib.rs", "mod http; mod flow;"), ("http.rs", "use crate::flow::F;"), ("flow.rs", "mod deep;"), ("flow/deep.rs", flow), more];
        against(&Graph::of(&sources(&files), SRC), SRC, TABLE)
    };
    let nothing = ("main.rs", "");
    assert!(with("", nothing).is_empty());
    let wrong = with("fn f() { crate::http::h() }", nothing);
    assert_eq!(
        wrong,
        ["crates/some/src/flow/deep.rs imports crates/some/src/http.rs (crate::http::h), but `flow` may only import nothing. \
             Move what is needed down, or pass it in."]
    );
    assert!(with("", ("other.rs", ""))[0].contains("crates/some/src/other is in no layer"));
}

#[test]
fn a_folder_that_is_no_area_is_found() {
    let files = sources(&[("orders/x.rs", ""), ("orders/deep/y.rs", ""), ("tools/x.rs", ""), ("lib.rs", "")]);
    let check = |listed| strange_folders(&files, &[SRC], &["orders"], listed);
    assert!(check(&[])[0].contains("crates/some/src/tools is not an area (orders)"));
    assert!(check(&[("crates/some/src/tools", "every area needs them")]).is_empty());
    assert!(check(&[("crates/some/src/tools", "")])[0].contains("no reason"));
    assert!(check(&[("crates/some/src/tools", "t"), ("crates/some/src/gone", "g")])[0].contains("lists crates/some/src/gone without need"));
    assert!(strange_folders(&files, &["crates/none/src"], &[], &[])[0].contains("does not exist"));
}

#[test]
fn an_area_of_one_layer_is_found() {
    let files = sources(&[("flow/orders/x.rs", ""), ("flow/returns.rs", ""), ("http/orders.rs", "")]);
    let layers = ["crates/some/src/flow", "crates/some/src/http"];
    let check = |listed| lonely_areas(&files, &layers, &["orders", "returns", "node"], listed);
    assert_eq!(check(&[]).len(), 1);
    assert!(check(&[])[0].contains("the area returns exists only in crates/some/src/flow"));
    assert!(check(&[("returns", "nobody calls it")]).is_empty());
    assert!(check(&[("returns", "nobody calls it"), ("orders", "why")])[0].contains("lists orders without need"));
}

#[test]
fn a_signal_outside_of_the_transaction_is_found() {
    let check = |text: &str| {
        signalling(
            &sources(&[("a.rs", text), ("engine/b.rs", "fn f() { x.signals.take() }")]),
            SRC,
            &[("crates/some/src/engine", "takes them")],
        )
    };
    for bad in [
        "fn f() { app.signals.owe(owed); }",
        "fn f() { each(|owed| self.app.signals.owe(owed)) }",
        "fn f() { desk.signal(at); }",
        "fn f() { signal(at); }",
        "fn f() { select! { () = app.signals.arrived() => () } }",
    ] {
        assert!(check(bad)[0].contains("crates/some/src/a.rs signals by itself"), "{bad}");
    }
    assert!(check("struct App { signals: Signals } fn signal_of() { tokio::signal::ctrl_c() }").is_empty());
    assert!(check("fn f() { signal(SignalKind::hangup()); select! { _ = signal(SignalKind::terminate()) => () } }").is_empty());
    assert!(check("#[cfg(test)] mod tests { fn f() { app.signals.owe(owed); } }").is_empty());
    assert!(signalling(&sources(&[("a.rs", "")]), SRC, &[("crates/some/src/a.rs", "why")])[0].contains("without need"));
}

#[test]
fn a_commit_outside_of_the_transaction_is_found() {
    let check = |text: &str| committing(&sources(&[("a.rs", text), ("tx.rs", "fn f() { tx.commit() }")]), SRC, "crates/some/src/tx.rs");
    assert!(check("fn f() { commit(1); git.commit(\"message\"); }").is_empty());
    for bad in ["async fn f() { tx.commit().await?; }", "fn f() { Tx::commit(tx) }", "fn f() { join!(tx.commit()) }"] {
        assert!(check(bad)[0].contains("crates/some/src/a.rs commits by itself"), "{bad}");
    }
    assert!(committing(&sources(&[("tx.rs", "")]), SRC, "crates/some/src/tx.rs")[0].contains("commits nothing"));
}

#[test]
fn openings_with_a_question_word_are_counted() {
    let text = "//! What it is.\n//! Who reads on, is not counted.\n\n/// Whole numbers.\nfn a() {}\n    /// How long it takes.\n    b: u8,\n\
                    /// How it works.\nfn c() {}\n// What is no doc comment.\n//// Nor is this.\n";
    let openings = Openings::of(&sources(&[("lib.rs", text)]));
    assert_eq!(openings.questions, ["crates/some/src/lib.rs:1: What it is.", "crates/some/src/lib.rs:6: How long it takes."]);
    assert_eq!(openings.blocks, 4);
    assert!((openings.share() - 50.0).abs() < 0.01);
}

#[test]
fn what_is_public_without_a_comment_is_found() {
    let check = |text: &str| undocumented(&sources(&[("lib.rs", &format!("//! A crate.\n{text}"))]));
    for bad in [
        "pub fn f() {}",
        "pub async fn f() {}",
        "pub struct S;",
        "pub enum E {}",
        "pub trait T {}",
        "pub const C: u8 = 1;",
        "pub static S: u8 = 1;",
        "pub type T = u8;",
        "pub mod m {}",
        "mod m { pub fn f() {} }",
        "impl S { pub fn f() {} }",
        "impl S { pub const C: u8 = 1; }",
    ] {
        assert_eq!(check(bad).len(), 1, "{bad}");
        let good = bad.replace("pub ", "/** It is. */ pub ");
        assert!(check(&good).is_empty(), "{good}: {:?}", check(&good));
    }
    for good in [
        "/// It is.\npub struct S { pub field: u8 }",
        "/// It is.\npub enum E { Variant }",
        "impl T for S { fn f() {} }",
        "pub use std::fmt;",
        "pub(crate) fn f() {}",
        "fn f() {}",
        "#[cfg(test)] pub fn f() {}",
        "pub mod m { //! Inside.\n }",
    ] {
        assert!(check(good).is_empty(), "{good}: {:?}", check(good));
    }
}

#[test]
fn a_module_without_a_comment_is_found() {
    let check = |declared: &str, text: &str| undocumented(&sources(&[("lib.rs", &format!("//! A crate.\n{declared}")), ("a.rs", text)]));
    assert_eq!(check("pub mod a;", ""), ["crates/some/src/a.rs: the module itself has no doc comment"]);
    assert!(check("pub mod a;", "//! It is.").is_empty());
    assert!(check("/// It is.\npub mod a;", "").is_empty());
    assert!(check("#[cfg(test)]\nmod a;", "").is_empty());
}
