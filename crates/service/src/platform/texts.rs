//! The texts of pages and mails, in every language: one Fluent file each, built into the program.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

/// A language that people can read pages and mails in.
#[derive(Clone, Copy)]
pub struct Language(&'static Bundle);

struct Bundle {
    /// As in `lang` attributes.
    code: &'static str,
    /// In the language itself.
    name: &'static str,
    texts: FluentBundle<FluentResource>,
}

/// Code, own name and texts of each language. The first is the default.
const SOURCES: [(&str, &str, &str); 1] = [("en", "English", include_str!("../../texts/en.ftl"))];

static BUNDLES: LazyLock<Vec<Bundle>> = LazyLock::new(|| {
    let bundle = |(code, name, source): (&'static str, &'static str, &str)| {
        let language: LanguageIdentifier = code.parse().unwrap_or_default();
        let mut texts = FluentBundle::new_concurrent(vec![language]);
        // Templates isolate what runs in another direction themselves; the marks would end up in copied codes.
        texts.set_use_isolating(false);
        // A flawed entry is left out; a test finds it.
        let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, _)| resource);
        texts.add_resource_overriding(resource);
        Bundle { code, name, texts }
    };
    SOURCES.into_iter().map(bundle).collect()
});

/// Every language, the default first.
pub fn languages() -> impl ExactSizeIterator<Item = Language> {
    BUNDLES.iter().map(Language)
}

impl Language {
    /// The language with this code, if there is one; the region does not matter.
    #[must_use]
    pub fn find(code: &str) -> Option<Self> {
        let wanted = code.split(['-', '_']).next().unwrap_or_default();
        languages().find(|language| language.code().eq_ignore_ascii_case(wanted))
    }

    /// The best language for an `Accept-Language` header.
    #[must_use]
    pub fn accepted(header: &str) -> Option<Self> {
        let weigh = |entry: &str| {
            let (code, weight) = entry.split_once(';').unwrap_or((entry, "q=1"));
            let weight: f32 = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(0.0);
            Some((Self::find(code.trim())?, weight)).filter(|(_, weight)| *weight > 0.0)
        };
        // Of equal weights the first wins.
        let best = header.split(',').filter_map(weigh).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(language, _)| language)
    }

    /// The code, as in `lang` attributes.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// The language's own name for itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The direction of the script, as in `dir` attributes.
    #[must_use]
    pub fn direction(self) -> &'static str {
        match self.0.code {
            "ar" | "fa" | "he" | "ur" => "rtl",
            _ => "ltr",
        }
    }

    /// The text `key`.
    #[must_use]
    pub fn text(self, key: &str) -> String {
        self.format(key, None)
    }

    /// The text `key` with these values.
    #[must_use]
    pub fn text_with<'a>(self, key: &str, values: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> String {
        let mut args = FluentArgs::new();
        values.into_iter().for_each(|(name, value)| args.set(name, value));
        self.format(key, Some(&args))
    }

    /// A text that is missing in this language is shown in the default one.
    fn format(self, key: &str, args: Option<&FluentArgs<'_>>) -> String {
        let mut own = std::iter::once(self.0).chain(BUNDLES.first());
        let found = own.find_map(|bundle| Some((bundle, bundle.texts.get_message(key)?.value()?)));
        let Some((bundle, pattern)) = found else { return key.to_owned() };
        bundle.texts.format_pattern(pattern, args, &mut Vec::new()).into_owned()
    }
}

impl Default for Language {
    fn default() -> Self {
        BUNDLES.first().map_or_else(|| unreachable!("there is always a default language"), Language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_valid_fluent() {
        for (code, _, source) in SOURCES {
            if let Err((_, errors)) = FluentResource::try_new(source.to_owned()) {
                panic!("{code}: {errors:?}");
            }
        }
    }

    /// The texts that sources and templates name literally.
    fn named(folder: &std::path::Path, keys: &mut std::collections::BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
            if entry.path().is_dir() {
                named(&entry.path(), keys);
                continue;
            }
            let source = std::fs::read_to_string(entry.path()).expect("a source");
            for call in ["text(\"", "text_with(\"", "rich(\"", "text_of_shop(\"", "frame(\""] {
                keys.extend(source.split(call).skip(1).filter_map(|rest| rest.split('"').next()).map(ToOwned::to_owned));
            }
        }
    }

    #[test]
    fn every_text_that_a_page_names_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut keys = std::collections::BTreeSet::new();
        for folder in ["templates/portal", "src/http/portal", "src/http/pages"] {
            named(&root.join(folder), &mut keys);
        }
        assert!(keys.len() > 100, "{keys:?}");
        let missing: Vec<&String> = keys.iter().filter(|key| Language::default().text(key) == **key).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_browser_gets_the_language_it_asks_for() {
        let accepted = |header: &str| Language::accepted(header).map(Language::code);
        assert_eq!(accepted("en-GB,en;q=0.9"), Some("en"));
        assert_eq!(accepted("tlh, en;q=0.1"), Some("en"));
        assert_eq!(accepted("tlh"), None);
        assert_eq!(accepted("en;q=0"), None);
        assert_eq!(accepted(""), None);
    }

    #[test]
    fn a_text_takes_values_and_a_missing_one_shows_its_key() {
        let english = Language::default();
        assert_eq!(english.text_with("brand-label", [("shop", "Demo Shoes".into())]), "Demo Shoes returns, start");
        assert_eq!(english.text("no-such-text"), "no-such-text");
    }
}
