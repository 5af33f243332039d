//! A JSON tree that can hold what a parsed value cannot: repeated names, the spelling of numbers, broken literals.

use std::fmt::Write as _;

use rand::prelude::*;

/// A JSON text under construction.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// Written verbatim: null, true, false, numbers, and text that is not JSON.
    Literal(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn literal(text: &str) -> Self {
        Self::Literal(text.to_owned())
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn null() -> Self {
        Self::literal("null")
    }

    pub(crate) fn object<const N: usize>(fields: [(&str, Json); N]) -> Self {
        Self::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The value at `pointer`; the last one of a repeated name.
    pub(crate) fn at(&mut self, pointer: &[Step]) -> &mut Self {
        pointer.iter().fold(self, |value, step| match (value, step) {
            (Self::Object(fields), Step::Field(wanted)) => {
                &mut fields.iter_mut().rfind(|(name, _)| name == wanted).expect("the pointer was made from this tree").1
            }
            (Self::Array(values), Step::Index(at)) => &mut values[*at],
            (value, step) => panic!("{step:?} does not lead into {value:?}"),
        })
    }

    /// The text, in one of many equivalent spellings.
    pub(crate) fn write(&self, rng: &mut StdRng) -> String {
        let style = Style { spaces: one_in(rng, 4), escapes: one_in(rng, 4) };
        let mut out = String::new();
        self.write_to(&style, rng, &mut out);
        out
    }

    fn write_to(&self, style: &Style, rng: &mut StdRng, out: &mut String) {
        style.space(rng, out);
        match self {
            Self::Literal(literal) => out.push_str(literal),
            Self::Text(text) => style.quote(text, rng, out),
            Self::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    value.write_to(style, rng, out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    style.space(rng, out);
                    style.quote(name, rng, out);
                    style.space(rng, out);
                    out.push(':');
                    value.write_to(style, rng, out);
                }
                style.space(rng, out);
                out.push('}');
            }
        }
        style.space(rng, out);
    }
}

struct Style {
    spaces: bool,
    escapes: bool,
}

impl Style {
    fn space(&self, rng: &mut StdRng, out: &mut String) {
        if self.spaces {
            out.push_str(["", "", " ", "\n", "\t", "\r\n  "].choose(rng).expect("there are some"));
        }
    }

    fn quote(&self, text: &str, rng: &mut StdRng, out: &mut String) {
        out.push('"');
        if !self.escapes && !text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            out.push_str(text);
            out.push('"');
            return;
        }
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '/' if self.escapes => out.push_str("\\/"),
                '\n' if self.escapes => out.push_str("\\n"),
                c if c < ' ' || (self.escapes && one_in(rng, 3)) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = if unit.is_multiple_of(2) { write!(out, "\\u{unit:04x}") } else { write!(out, "\\u{unit:04X}") };
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

/// One step down the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Field(String),
    Index(usize),
}

/// The steps from the root to a value.
pub(crate) type Pointer = Vec<Step>;

/// The field `name` in `parent`.
pub(crate) fn field(parent: &[Step], name: &str) -> Pointer {
    parent.iter().cloned().chain([Step::Field(name.to_owned())]).collect()
}

/// The path in a fault at `pointer`; implemented again here, so that the code is not compared with itself.
pub(crate) fn path(pointer: &[Step]) -> String {
    let steps = pointer.iter().map(|step| match step {
        Step::Index(at) => format!("[{at}]"),
        Step::Field(name) if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)) => format!(".{name}"),
        Step::Field(name) => format!("[{}]", serde_json::to_string(name).expect("a string is JSON")),
    });
    let path: String = steps.collect();
    path.strip_prefix('.').unwrap_or(&path).to_owned()
}

/// True once in `times`.
pub(crate) fn one_in(rng: &mut StdRng, times: u32) -> bool {
    rng.random_ratio(1, times)
}
