//! The search: over headings and the text below them, all of it in memory.
//!
//! A search reads every section once for each word. Both are bounded: the pages are those of the program, and a query has few words.

use std::cmp::Reverse;

use super::markdown::Section;
use crate::http::pages::markup::escape;

/// The longest query, in bytes.
pub(super) const LONGEST: usize = 100;
/// The most words of a query that are looked for.
const MOST_WORDS: usize = 8;
/// The most sections that are shown.
const MOST_FOUND: usize = 20;
/// The number of bytes before and after the first word that a section shows.
const AROUND: usize = 90;

/// A section that can be found.
struct Entry {
    href: String,
    title: String,
    section: Section,
    /// The texts of the three in lower case. Only ASCII letters differ, so places in them are places in the texts.
    low_title: String,
    low_heading: String,
    low_text: String,
}

/// Everything that can be found.
#[derive(Default)]
pub(super) struct Index(Vec<Entry>);

/// A section that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) heading: String,
    /// The text around the first word, as HTML, with the words marked.
    pub(super) excerpt: String,
}

impl Index {
    /// Adds the sections of a page.
    pub(super) fn add(&mut self, path: &str, title: &str, sections: &[Section]) {
        self.0.extend(sections.iter().map(|section| Entry {
            href: if section.anchor.is_empty() { path.to_owned() } else { format!("{path}#{}", section.anchor) },
            title: title.to_owned(),
            low_title: title.to_ascii_lowercase(),
            low_heading: section.heading.to_ascii_lowercase(),
            low_text: section.text.to_ascii_lowercase(),
            section: section.clone(),
        }));
    }

    /// The sections with all words of the query, the best first.
    pub(super) fn find(&self, query: &str) -> Vec<Found> {
        let low = query.to_ascii_lowercase();
        let words: Vec<&str> = low.split_whitespace().take(MOST_WORDS).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, &Entry)> = self.0.iter().filter_map(|entry| Some((entry.weight(&words)?, entry))).collect();
        // Sections of the same weight stay in the order of the menu.
        found.sort_by_key(|(weight, _)| Reverse(*weight));
        found.into_iter().take(MOST_FOUND).map(|(_, entry)| entry.shown(&words)).collect()
    }
}

impl Entry {
    /// How well the section fits; none if it lacks a word.
    fn weight(&self, words: &[&str]) -> Option<usize> {
        let phrase = words.join(" ");
        let mut weight = 0;
        for word in words {
            let heading = self.low_heading.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == *word);
            let times = self.low_text.matches(word).take(4).count();
            let of_word = usize::from(heading) * 6
                + usize::from(self.low_heading.contains(word)) * 6
                + usize::from(self.low_title.contains(word)) * 4
                + times;
            if of_word == 0 {
                return None;
            }
            weight += of_word;
        }
        weight += usize::from(self.low_heading == phrase) * 20 + usize::from(self.low_title == phrase) * 20;
        Some(weight + usize::from(words.len() > 1 && self.low_text.contains(&phrase)) * 8)
    }

    fn shown(&self, words: &[&str]) -> Found {
        let first = words.iter().filter_map(|word| self.low_text.find(word)).min().unwrap_or_default();
        let begins = self.section.text.floor_char_boundary(first.saturating_sub(AROUND));
        let ends = self.section.text.floor_char_boundary(first + AROUND);
        let part = |text: &'_ str| text.get(begins..ends).unwrap_or_default().to_owned();
        let marked = marked(&part(&self.section.text), &part(&self.low_text), words);
        let (before, after) = (if begins > 0 { "… " } else { "" }, if ends < self.section.text.len() { " …" } else { "" });
        Found {
            href: self.href.clone(),
            title: self.title.clone(),
            heading: self.section.heading.clone(),
            excerpt: format!("{before}{}{after}", marked.trim()),
        }
    }
}

/// A text as HTML, with the words marked. `low` is the same text in lower case.
fn marked(text: &str, low: &str, words: &[&str]) -> String {
    let (mut html, mut at) = (String::new(), 0);
    loop {
        let rest = low.get(at..).unwrap_or_default();
        let next =
            words.iter().filter_map(|word| Some((rest.find(word)?, word.len()))).min_by_key(|(place, length)| (*place, Reverse(*length)));
        let Some((place, length)) = next else {
            html.push_str(&escape(text.get(at..).unwrap_or_default()));
            return html;
        };
        let (begins, ends) = (at + place, at + place + length);
        html.push_str(&escape(text.get(at..begins).unwrap_or_default()));
        html.push_str("<mark>");
        html.push_str(&escape(text.get(begins..ends).unwrap_or_default()));
        html.push_str("</mark>");
        at = ends;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let section =
            |anchor: &str, heading: &str, text: &str| Section { anchor: anchor.into(), heading: heading.into(), text: text.into() };
        let mut index = Index::default();
        index.add(
            "/docs/orders",
            "Pushing orders",
            &[
                section("", "Pushing orders", "Send an order message."),
                section("a-token", "A token", "A Token works for 25 hours. <b>Keep it.</b> ΑΒΓ"),
            ],
        );
        index.add("/docs/returns", "Returns", &[section("by-http", "By HTTP", "These calls need a token of the scope orders.")]);
        index
    }

    #[test]
    fn headings_count_more_than_texts() {
        let found = index().find("token");
        assert_eq!(found.iter().map(|found| found.href.as_str()).collect::<Vec<_>>(), ["/docs/orders#a-token", "/docs/returns#by-http"]);
        assert_eq!(index().find("Returns")[0].title, "Returns");
    }

    #[test]
    fn all_words_have_to_be_there_and_are_marked_in_escaped_text() {
        let found = index().find("KEEP hours");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].excerpt, "A Token works for 25 <mark>hours</mark>. &lt;b&gt;<mark>Keep</mark> it.&lt;/b&gt; ΑΒΓ");
        assert_eq!(index().find("token nothing"), []);
        assert_eq!(index().find("  "), []);
    }

    #[test]
    fn no_query_cuts_a_letter_in_two() {
        let mut index = Index::default();
        let text = "é".repeat(200) + " token " + &"ü".repeat(200);
        index.add("/x", "X", &[Section { anchor: String::new(), heading: "X".to_owned(), text }]);
        let found = index.find("token");
        assert!(found[0].excerpt.starts_with("… é") && found[0].excerpt.ends_with("ü …"), "{found:?}");
        assert_eq!(index.find("é ü").len(), 1);
    }
}
