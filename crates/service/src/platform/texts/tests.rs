use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

/// The texts of a file by key, as they are written.
fn written(source: &str) -> BTreeMap<&str, String> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut current = "";
    for line in source.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(" =") {
            Some((key, text)) if !key.contains(' ') => {
                assert!(texts.insert(key, text.to_owned()).is_none(), "{key} is there twice");
                current = key;
            }
            _ => *texts.entry(current).or_default() += line,
        }
    }
    texts.retain(|key, _| !key.is_empty());
    texts
}

/// What a translation must keep: the names of values, and markup.
fn fixed(text: &str) -> BTreeSet<String> {
    let word = |rest: &str| rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '/').collect::<String>();
    let after = |mark: char| text.split(mark).skip(1).map(move |rest| format!("{mark}{}", word(rest)));
    after('$').chain(after('<')).collect()
}

fn english() -> BTreeMap<&'static str, String> {
    written(SOURCES.iter().find(|(code, _)| *code == DEFAULT).expect("English").1)
}

#[test]
fn every_file_is_valid_fluent() {
    for (code, source) in SOURCES {
        if let Err((_, errors)) = FluentResource::try_new((*source).to_owned()) {
            panic!("{code}: {errors:?}");
        }
    }
}

#[test]
fn every_language_has_the_texts_of_english_with_the_same_values_and_markup() {
    let english = english();
    let mut flaws = Vec::new();
    for (code, source) in SOURCES {
        let texts = written(source);
        flaws.extend(english.keys().filter(|key| !texts.contains_key(*key)).map(|key| format!("{code}.ftl: {key} is missing")));
        for (key, text) in &texts {
            match english.get(key) {
                None => flaws.push(format!("{code}.ftl: {key} is not in en.ftl")),
                Some(original) if fixed(original) != fixed(text) => {
                    flaws.push(format!("{code}.ftl: {key} has {:?}, not {:?}", fixed(text), fixed(original)));
                }
                Some(_) => {}
            }
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn legal_wording_is_marked_for_counsel_in_every_language() {
    const MARK: &str = "# Legal wording: for review by counsel.\n";
    let marked =
        |source: &'static str| -> BTreeSet<&str> { source.split(MARK).skip(1).filter_map(|rest| rest.split(" =").next()).collect() };
    let english = marked(SOURCES.iter().find(|(code, _)| *code == DEFAULT).expect("English").1);
    assert!(!english.is_empty());
    for (code, source) in SOURCES {
        assert_eq!(marked(source), english, "{code}");
    }
}

#[test]
fn french_puts_a_space_that_does_not_break_before_high_punctuation() {
    let (_, source) = SOURCES.iter().find(|(code, _)| *code == "fr").expect("French");
    for (key, text) in written(source) {
        for (at, mark) in text.char_indices().filter(|(_, letter)| matches!(letter, ':' | ';' | '?' | '!')) {
            let before = text[..at].chars().next_back();
            assert!(matches!(before, Some('\u{a0}' | '\u{202f}')), "{key}: before {mark} in {text:?}");
        }
    }
}

/// Everything that names texts: the sources and templates of pages and mails.
fn sources() -> Vec<String> {
    fn read(path: &Path, sources: &mut Vec<String>) {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).expect("a folder of sources").flatten();
            entries.for_each(|entry| read(&entry.path(), sources));
        } else {
            sources.push(std::fs::read_to_string(path).expect("a source"));
        }
    }
    let mut sources = Vec::new();
    // The console speaks English only, and has no texts.
    for path in [
        "templates/portal",
        "templates/mails",
        "src/http/portal",
        "src/http/pages",
        "src/flow/returns",
        "src/show",
        "src/delivery/mails",
        "src/platform/words.rs",
    ] {
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &mut sources);
    }
    sources
}

/// The literals that follow one of these beginnings of a call.
fn literals<'s>(sources: &'s [String], calls: &[&str]) -> BTreeSet<&'s str> {
    let of_call = |call: &str| sources.iter().flat_map(|source| source.split(call).skip(1)).collect::<Vec<_>>();
    calls.iter().flat_map(|call| of_call(&format!("{call}\""))).filter_map(|rest| rest.split('"').next()).collect()
}

/// The texts whose keys begin with a value: those of errors, and of steps without a deadline.
fn composed_keys() -> impl Iterator<Item = String> {
    let errors = [
        "missing",
        "foreign",
        "over",
        "one-return",
        "return-link-over",
        "statement-link-over",
        "shop-link-over",
        "gone",
        "busy",
        "trouble",
    ];
    let of_error = |error: &str| ["title", "heading", "lede"].map(|part| format!("{error}-{part}"));
    errors.into_iter().flat_map(of_error).chain(["next-drop-off-open", "next-send-open"].map(ToOwned::to_owned))
}

#[test]
fn every_text_is_used() {
    let sources = sources();
    let quoted: BTreeSet<&str> = sources.iter().flat_map(|source| source.split('"')).collect();
    // `held-{}` stands for every key that begins so, and `status-{}-heading` for those that also end so.
    let composed = literals(&sources, &["text(&format!(", "text_with(&format!(", "key = format!(", "say(&format!("]);
    let patterns: Vec<(&str, &str)> = composed
        .iter()
        .filter_map(|key| Some((key.split_once('{')?.0, key.rsplit_once('}')?.1)))
        .filter(|(start, _)| !start.is_empty())
        .collect();
    let errors: BTreeSet<String> = composed_keys().collect();
    let is_used = |key: &str| {
        let is_composed = patterns.iter().any(|(start, end)| key.starts_with(start) && key.ends_with(end));
        key == "language-name" || quoted.contains(key) || errors.contains(key) || is_composed
    };
    let unused: Vec<&str> = english().into_keys().filter(|key| !is_used(key)).collect();
    assert!(unused.is_empty(), "nothing uses {unused:?}");
}

#[test]
fn every_text_that_a_page_names_is_there() {
    let (sources, english, composed) = (sources(), english(), composed_keys().collect::<Vec<_>>());
    let named = literals(&sources, &["text(", "text_with(", "rich(", "text_of_shop(", "frame(", "say(", "row("]);
    assert!(named.len() > 100, "{named:?}");
    let keys = named.into_iter().chain(composed.iter().map(String::as_str));
    let missing: Vec<&str> = keys.filter(|key| !english.contains_key(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_browser_gets_the_language_it_asks_for() {
    let accepted = |header: &str| Languages::default().accepted(header).map(Language::code);
    assert_eq!(accepted("en-GB,en;q=0.9"), Some("en"));
    assert_eq!(accepted("tlh, en;q=0.1"), Some("en"));
    assert_eq!(accepted("de-AT,de;q=0.9,en;q=0.8"), Some("de"));
    assert_eq!(accepted("en;q=0.5, fr-CA;q=0.7, es;q=0.6"), Some("fr"));
    assert_eq!(accepted("tlh"), None);
    assert_eq!(accepted("en;q=0"), None);
    assert_eq!(accepted(""), None);
}

#[test]
fn languages_are_named_by_their_files_and_the_default_comes_first() {
    let named: Vec<(&str, &str)> = Languages::default().iter().map(|language| (language.code(), language.name())).collect();
    assert_eq!(named, [("en", "English"), ("de", "Deutsch"), ("es", "Español"), ("fr", "Français")]);
    assert!(Languages::default().iter().all(|language| language.direction() == "ltr"));
}

#[test]
fn a_text_takes_values_and_a_missing_one_shows_its_key() {
    let english = Language::default();
    assert_eq!(english.text_with("brand-label", [("shop", "Demo Shoes".into())]), "Demo Shoes returns, start");
    assert_eq!(english.text("no-such-text"), "no-such-text");
}

#[test]
fn numbers_are_counted_by_the_rules_of_each_language() {
    let units = |code: &str, units: u32| Languages::default().find(code).unwrap().text_with("units", [("units", units.into())]);
    assert_eq!(["en", "de", "es", "fr"].map(|code| units(code, 1)), ["1 piece", "1 Stück", "1 unidad", "1 article"]);
    assert_eq!(["en", "de", "es", "fr"].map(|code| units(code, 2)), ["2 pieces", "2 Stück", "2 unidades", "2 articles"]);
}

#[test]
fn the_made_up_language_is_longer_runs_from_the_right_and_keeps_values() {
    assert!(Languages::default().find("en-XB").is_some_and(|language| language.code() == "en"), "it is offered in tests only");
    let pseudo = Languages { pseudo: true }.find("en-XB").unwrap();
    assert_eq!((pseudo.code(), pseudo.direction(), pseudo.name()), ("en-XB", "rtl", "ÉÉññglííššh"));
    assert_eq!(pseudo.text_with("order-heading", [("order", "DS-1".into())]), "ÖÖrdéér \u{2068}DS-1\u{2069}");
    assert_eq!(pseudo.plain_text_with("order-heading", [("order", "DS-1".into())]), "ÖÖrdéér DS-1");
    // A value that selects a text is none of the reader's business.
    assert_eq!(pseudo.text_with("time-exchange-pending", [("what", "card".into())]), "Wéé ááréé öördéérííññg yööüür gííft cáárd");
    let length = |language: Language| english().keys().map(|key| language.text(key).chars().count()).sum::<usize>();
    assert!(length(pseudo) * 10 >= length(Language::default()) * 13);
}
