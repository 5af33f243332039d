//! Texts with markup: the markup is ours, the values in it are escaped.

use std::fmt;

use askama::filters::HtmlSafe;
use fluent_bundle::FluentValue;

use crate::platform::texts::Language;

/// HTML that needs no escaping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

impl Markup {
    /// The text `key` with these values.
    pub(crate) fn of<'a>(language: Language, key: &str, values: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> Self {
        let escaped = values.into_iter().map(|(name, value)| match value {
            FluentValue::String(text) => (name, FluentValue::from(escape(&text))),
            other => (name, other),
        });
        Self(language.text_with(key, escaped))
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// The text with what HTML would read as markup written out.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markup_of_a_text_stays_and_that_of_a_value_does_not() {
        let shown = Markup::of(Language::default(), "promise-window", [("days", "<script>alert('1')</script>&\"".into())]);
        assert!(shown.0.starts_with("<b>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot; days"), "{shown}");
    }
}
