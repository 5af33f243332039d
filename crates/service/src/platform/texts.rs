//! The texts of pages and mails, in every language: one Fluent file each, built into the program.
//!
//! - The made-up language for tests (`pseudo.rs`).

mod pseudo;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

/// The code and the texts of each language, by code: every file in `texts/`, listed by `build.rs`.
const SOURCES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/texts.rs"));
/// The code of the language of those for whom nothing else is known.
const DEFAULT: &str = "en";
/// The marks that Fluent puts around values in right-to-left languages.
const ISOLATING: [char; 2] = ['\u{2068}', '\u{2069}'];

/// A language that people can read pages and mails in.
#[derive(Clone, Copy)]
pub struct Language(&'static Bundle);

struct Bundle {
    /// As in `lang` attributes.
    code: &'static str,
    /// In the language itself.
    name: String,
    right_to_left: bool,
    texts: FluentBundle<FluentResource>,
}

impl Bundle {
    fn new(code: &'static str, source: &str) -> Self {
        let language: LanguageIdentifier = code.parse().unwrap_or_default();
        let right_to_left = matches!(language.language.as_str(), "ar" | "fa" | "he" | "ur") || code == pseudo::CODE;
        let mut texts = FluentBundle::new_concurrent(vec![language]);
        // A value may run in the other direction. In left-to-right languages the marks would only end up in copied codes.
        texts.set_use_isolating(right_to_left);
        // A flawed entry is left out; a test finds it.
        let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, _)| resource);
        texts.add_resource_overriding(resource);
        if code == pseudo::CODE {
            texts.set_transform(Some(pseudo::lengthen));
        }
        let mut bundle = Self { code, name: String::new(), right_to_left, texts };
        bundle.name = bundle.format("language-name", None).unwrap_or_else(|| code.to_owned());
        bundle
    }

    fn format(&self, key: &str, args: Option<&FluentArgs<'_>>) -> Option<String> {
        let pattern = self.texts.get_message(key)?.value()?;
        Some(self.texts.format_pattern(pattern, args, &mut Vec::new()).into_owned())
    }
}

/// Every language that has a file, the default first.
static BUNDLES: LazyLock<Vec<Bundle>> = LazyLock::new(|| {
    let mut bundles: Vec<Bundle> = SOURCES.iter().map(|(code, source)| Bundle::new(code, source)).collect();
    bundles.sort_by_key(|bundle| bundle.code != DEFAULT);
    bundles
});

static PSEUDO: LazyLock<Bundle> = LazyLock::new(|| {
    let english = SOURCES.iter().find(|(code, _)| *code == DEFAULT).map_or("", |(_, source)| source);
    Bundle::new(pseudo::CODE, english)
});

/// The languages that are offered: all that have a file, and the made-up one if it is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Languages {
    pub pseudo: bool,
}

impl Languages {
    /// Each language, the default first.
    pub fn iter(self) -> impl Iterator<Item = Language> {
        BUNDLES.iter().chain(self.pseudo.then(|| &*PSEUDO)).map(Language)
    }

    /// The language with this code, if there is one; else one of another region.
    #[must_use]
    pub fn find(self, code: &str) -> Option<Language> {
        let language = |code: &str| code.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let exact = self.iter().find(|offered| offered.code().eq_ignore_ascii_case(code));
        exact.or_else(|| BUNDLES.iter().map(Language).find(|offered| language(offered.code()) == language(code)))
    }

    /// The best language for an `Accept-Language` header.
    #[must_use]
    pub fn accepted(self, header: &str) -> Option<Language> {
        let weigh = |entry: &str| {
            let (code, weight) = entry.split_once(';').unwrap_or((entry, "q=1"));
            let weight: f32 = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(0.0);
            Some((self.find(code.trim())?, weight)).filter(|(_, weight)| *weight > 0.0)
        };
        // Of equal weights the first wins.
        let best = header.split(',').filter_map(weigh).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(language, _)| language)
    }
}

impl Language {
    /// The code, as in `lang` attributes.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// The language's own name for itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The direction of the script, as in `dir` attributes.
    #[must_use]
    pub fn direction(self) -> &'static str {
        if self.0.right_to_left { "rtl" } else { "ltr" }
    }

    /// The code of the locale whose dates and numbers are used.
    #[must_use]
    pub fn locale(self) -> &'static str {
        match self.0.code {
            // Most of the world writes the day first, in English too.
            "en" | pseudo::CODE => "en-GB",
            code => code,
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

    /// The text `key` with these values and no invisible marks around them, which would become part of a link.
    #[must_use]
    pub fn plain_text_with<'a>(self, key: &str, values: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> String {
        self.text_with(key, values).replace(ISOLATING, "")
    }

    /// A text that is missing in this language is shown in the default one.
    fn format(self, key: &str, args: Option<&FluentArgs<'_>>) -> String {
        let mut known = std::iter::once(self.0).chain(BUNDLES.first());
        known.find_map(|bundle| bundle.format(key, args)).unwrap_or_else(|| key.to_owned())
    }
}

impl Default for Language {
    fn default() -> Self {
        BUNDLES.first().map_or_else(|| unreachable!("there is always a default language"), Language)
    }
}
