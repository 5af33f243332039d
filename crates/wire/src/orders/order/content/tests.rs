use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn spelled(text: &str) -> String {
    String::from_utf8(canonical(text).unwrap_or_else(|| panic!("{text} is JSON"))).expect("UTF-8")
}

#[test]
fn there_is_one_spelling() {
    for (text, expected) in [
        (r#" { "b" : [ 1 , null ] , "a" : { } , "ab":[]} "#, r#"{"a":{},"ab":[],"b":[1,null]}"#),
        (r#"{"z":{"y":1,"x":{"b":true,"a":false}},"a":"x"}"#, r#"{"a":"x","z":{"x":{"a":false,"b":true},"y":1}}"#),
        (r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#),
        (r#""K\u00f6ln \ud83d\ude00 \/ \" \\ \n \u001f""#, r#""Köln 😀 / \" \\ \n \u001f""#),
        (r#""ends in a backslash\\""#, r#""ends in a backslash\\""#),
        (r#"["a\\","b"]"#, r#"["a\\","b"]"#),
    ] {
        assert_eq!(spelled(text), expected, "{text}");
        assert_eq!(spelled(expected), expected);
    }
}

#[test]
fn a_number_is_its_value() {
    for (expected, spellings) in [
        ("0", vec!["0", "-0", "0.0", "-0.00e9", "0e99999999999999999999999"]),
        ("10", vec!["10", "10.0", "1e1", "1E+1", "100e-1", "0.1e2", "10.00e00"]),
        ("-25e-1", vec!["-2.5", "-2.50", "-25E-1", "-0.25e1"]),
        ("16200", vec!["16200", "1.62e4", "162e2", "16200.000"]),
        ("1e-99999", vec!["1e-99999", "0.1e-99998", "10e-100000"]),
        ("18446744073709551617", vec!["18446744073709551617", "18446744073709551617.0"]),
    ] {
        for spelling in spellings {
            assert_eq!(spelled(spelling), expected, "{spelling}");
        }
    }
    for (one, other) in [
        ("1", "-1"),
        ("1", "10"),
        ("1e300", "1e301"),
        ("2.5", "2.51"),
        ("18446744073709551616", "18446744073709551617"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("1e-99999999999999999999", "1e-99999999999999999998"),
    ] {
        assert_ne!(spelled(one), spelled(other));
    }
    // Whole numbers around the longest that is copied.
    for zeros in [MOST_ZEROS - 2, MOST_ZEROS - 1, MOST_ZEROS, MOST_ZEROS + 1] {
        let plain = format!("7{}", "0".repeat(zeros));
        assert_eq!(spelled(&plain), spelled(&format!("7e{zeros}")), "{zeros}");
        assert_eq!(spelled(&plain), spelled(&format!("{plain}.0")), "{zeros}");
    }
}

#[test]
fn a_digest_of_a_content_is_marked_and_one_of_bytes_is_not() {
    assert_eq!(digest("{}"), digest(" { } "));
    assert_eq!(digest("{}"), of_content(blake3::hash(b"{}").into()));
    let too_deep = "[".repeat(DEEPEST + 1) + &"]".repeat(DEEPEST + 1);
    for broken in ["", "{", "{,}", r#"{"a":1,}"#, r#"{"a" 1}"#, "{a:1}", "[1,]", "[1 2]", "{} {}", "\"\\", "[", "?", &too_deep] {
        assert_eq!(digest(broken), <[u8; 32]>::from(Sha256::digest(broken)), "{broken}");
    }
}

#[test]
fn a_content_with_very_many_values_has_the_digest_of_its_bytes() {
    let list = |length: usize| format!("[{}]", vec!["1"; length].join(","));
    // The list is a value too.
    let (most, more) = (list(MOST_VALUES - 1), list(MOST_VALUES));
    assert_eq!(digest(&most), digest(&most.replace(',', " , ")));
    assert_eq!(digest(&more), <[u8; 32]>::from(Sha256::digest(&more)));
}

/// Objects in a list, in which somebody could send very many.
#[test]
fn small_objects_take_no_memory_for_members_that_they_do_not_have() {
    let mut reader = Reader { rest: br#"[{},{"a":1},{"a":{"b":2}}]"#, values_left: MOST_VALUES, members: Vec::new() };
    let Some(super::Value::Array(objects)) = reader.value(DEEPEST) else { panic!("it is a list") };
    for object in objects {
        let super::Value::Object(members) = object else { panic!("it is an object") };
        assert_eq!(members.capacity(), members.len());
    }
}

/// Numbers that a double holds exactly, so that values can be compared.
fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        (-100_i64..100).prop_map(Value::from),
        (-10_000_i32..10_000).prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers(),
        "[a-cäß€😀/\"\\\\\n\t \u{1f}]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"ä]{0,2}", inner, 0..5).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// Writes `value` with choices that `choose` makes: white space, the order of names, the spelling of numbers and characters.
fn spell(value: &Value, choose: &mut impl FnMut(usize) -> usize) -> String {
    let space = |choose: &mut dyn FnMut(usize) -> usize| [" ", "", "\n\t", "\r"][choose(4)];
    match value {
        Value::Object(fields) => {
            let mut parts: Vec<String> = Vec::new();
            for (name, value) in fields {
                let (before, after) = (space(choose), space(choose));
                let part = format!("{before}{}{after}:{}", spell_text(name, choose), spell(value, choose));
                parts.insert(choose(parts.len() + 1), part);
            }
            format!("{}{{{}{}}}", space(choose), parts.join(","), space(choose))
        }
        Value::Array(elements) => {
            let parts: Vec<String> = elements.iter().map(|element| spell(element, choose)).collect();
            format!("[{}{}]{}", parts.join(","), space(choose), space(choose))
        }
        Value::String(text) => spell_text(text, choose),
        Value::Number(number) => {
            let text = number.to_string();
            match choose(4) {
                0 if !text.contains('.') => format!("{text}.00"),
                1 => format!("{text}e0"),
                2 if text.contains('.') => format!("{text}0E+00"),
                3 if !text.contains('.') => format!("{text}00e-2"),
                _ => text,
            }
        }
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

fn spell_text(text: &str, choose: &mut impl FnMut(usize) -> usize) -> String {
    let mut spelled = String::from("\"");
    for character in text.chars() {
        if choose(3) == 0 {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(spelled, "\\u{unit:04x}").expect("a string takes everything");
            }
        } else {
            let quoted = Value::from(character.to_string()).to_string();
            spelled.push_str(&quoted[1..quoted.len() - 1]);
        }
    }
    spelled.push('"');
    spelled
}

/// Equality of content: numbers by their value, everything else as JSON compares.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one == other,
            // Those that are written with a fraction are small, so doubles hold both.
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Array(one), Value::Array(other)) => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other)),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|(name, value)| other.get(name).is_some_and(|found| same(value, found)))
        }
        _ => one == other,
    }
}

proptest! {
    #[test]
    fn two_spellings_of_one_content_have_one_digest(value in values(), choices in prop::collection::vec(any::<prop::sample::Index>(), 200)) {
        let mut choices = choices.iter().cycle();
        let mut choose = |most: usize| choices.next().map_or(0, |choice| choice.index(most));
        let (one, other) = (spell(&value, &mut choose), spell(&value, &mut choose));
        prop_assert_eq!(spelled(&one), spelled(&other), "{} and {}", one, other);
        prop_assert_eq!(digest(&one), digest(&value.to_string()));
    }

    #[test]
    fn different_contents_have_different_digests(one in values(), other in values()) {
        prop_assert_eq!(digest(&one.to_string()) == digest(&other.to_string()), same(&one, &other), "{} and {}", one, other);
    }

    #[test]
    fn the_one_spelling_has_the_same_content(value in values()) {
        let read: Value = serde_json::from_str(&spelled(&value.to_string())).expect("JSON");
        prop_assert!(same(&read, &value), "{} became {}", value, read);
    }
}
