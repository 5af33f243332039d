//! Turns Markdown into HTML and into the text that is searched. Markup in a text is never passed through.

use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::http::pages::markup::escape;

/// A heading with the text below it, as far as the next heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading's anchor; empty for what stands above the first one.
    pub(super) anchor: String,
    pub(super) heading: String,
    pub(super) text: String,
}

/// A rendered text.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) sections: Vec<Section>,
}

impl Rendered {
    /// The first heading.
    pub(super) fn title(&self) -> &str {
        self.sections.iter().map(|section| section.heading.as_str()).find(|heading| !heading.is_empty()).unwrap_or_default()
    }

    /// The first sentence below the first heading.
    pub(super) fn lede(&self) -> String {
        let text = self.sections.iter().map(|section| section.text.trim()).find(|text| !text.is_empty()).unwrap_or_default();
        let end = text.find(". ").map_or(text.len(), |end| end + 1);
        text.get(..end).unwrap_or_default().to_owned()
    }
}

/// Renders a document. `resolve` says where the target of a link or a picture is served, if it is.
pub(super) fn render(markdown: &str, resolve: &dyn Fn(&str) -> Option<String>) -> Rendered {
    let mut writer = Writer { resolve, rendered: Rendered::default(), heading: None, links: Vec::new(), picture: None, in_head: false };
    writer.rendered.sections.push(Section::default());
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.write(event);
    }
    writer.rendered.sections.retain(|section| !section.heading.is_empty() || !section.text.trim().is_empty());
    writer.rendered
}

/// Renders a short text, such as a description in the OpenAPI document. It links nowhere.
pub(super) fn short(markdown: &str) -> String {
    render(markdown, &|_| None).html
}

/// The anchor of a heading, as GitHub makes it.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c)).collect::<String>();
    kept.replace(' ', "-")
}

/// The blocks of code below a heading, each with its language.
pub(super) fn code_below(markdown: &str, heading: &str) -> Vec<(String, String)> {
    let (mut title, mut within, mut language, mut blocks) = (None, false, None, Vec::new());
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => title = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => within = title.take().is_some_and(|title| title == heading),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) => language = within.then(|| (name.to_string(), String::new())),
            Event::End(TagEnd::CodeBlock) => blocks.extend(language.take()),
            Event::Text(text) => {
                if let Some((_, code)) = &mut language {
                    code.push_str(&text);
                } else if let Some(title) = &mut title {
                    title.push_str(&text);
                }
            }
            _ => {}
        }
    }
    blocks
}

/// A heading that is being written.
struct Heading {
    /// The place in the HTML where it begins.
    begins: usize,
    text: String,
}

struct Writer<'a> {
    resolve: &'a dyn Fn(&str) -> Option<String>,
    rendered: Rendered,
    heading: Option<Heading>,
    /// The links that are open; true for one that leads somewhere.
    links: Vec<bool>,
    /// The picture that is open: where it is served, and its text.
    picture: Option<(Option<String>, String)>,
    in_head: bool,
}

impl Writer<'_> {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            // A comment is for those who edit the text.
            Event::Html(text) if text.trim_start().starts_with("<!--") => {}
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                self.html("<code>");
                self.text(&text);
                self.html("</code>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.html("<br>"),
            Event::Rule => self.html("<hr>"),
            _ => {}
        }
    }

    /// Writes markup, unless it stands in the text of a picture.
    fn html(&mut self, markup: &str) {
        if self.picture.is_none() {
            self.rendered.html.push_str(markup);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, alternative)) = &mut self.picture {
            alternative.push_str(text);
            return;
        }
        self.rendered.html.push_str(&escape(text));
        self.searched(text);
    }

    /// Adds to the text that is searched.
    fn searched(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        } else if let Some(section) = self.rendered.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.html("<p>"),
            Tag::Heading { .. } => self.heading = Some(Heading { begins: self.rendered.html.len(), text: String::new() }),
            Tag::BlockQuote(_) => self.html("<blockquote>"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(language) => language.as_ref(),
                    CodeBlockKind::Indented => "",
                };
                let class = if language.is_empty() { String::new() } else { format!(" class=\"language-{}\"", escape(language)) };
                self.html(&format!("<div class=\"code\"><pre tabindex=\"0\"><code{class}>"));
            }
            Tag::List(Some(first)) if first != 1 => self.html(&format!("<ol start=\"{first}\">")),
            Tag::List(Some(_)) => self.html("<ol>"),
            Tag::List(None) => self.html("<ul>"),
            Tag::Item => self.html("<li>"),
            Tag::Table(_) => self.html("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table class=\"tbl\">"),
            Tag::TableHead => {
                self.in_head = true;
                self.html("<thead><tr>");
            }
            Tag::TableRow => self.html("<tr>"),
            Tag::TableCell => self.html(if self.in_head { "<th scope=\"col\">" } else { "<td>" }),
            Tag::Emphasis => self.html("<em>"),
            Tag::Strong => self.html("<strong>"),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { dest_url, .. } => self.picture = Some(((self.resolve)(&dest_url), String::new())),
            _ => {}
        }
    }

    fn open_link(&mut self, target: &CowStr<'_>) {
        let served = (self.resolve)(target);
        self.links.push(served.is_some());
        if let Some(served) = served {
            self.html(&format!("<a href=\"{}\">", escape(&served)));
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end("</p>\n"),
            TagEnd::Heading(level) => self.close_heading(level),
            TagEnd::BlockQuote(_) => self.end("</blockquote>\n"),
            TagEnd::CodeBlock => self.end("</code></pre></div>\n"),
            TagEnd::List(true) => self.end("</ol>\n"),
            TagEnd::List(false) => self.end("</ul>\n"),
            TagEnd::Item => self.end("</li>\n"),
            TagEnd::Table => self.end("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.end("</tr></thead><tbody>\n");
            }
            TagEnd::TableRow => self.end("</tr>\n"),
            TagEnd::TableCell => self.end(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.html("</em>"),
            TagEnd::Strong => self.html("</strong>"),
            TagEnd::Link if self.links.pop() == Some(true) => self.html("</a>"),
            TagEnd::Image => self.close_picture(),
            _ => {}
        }
    }

    /// Ends a block. The text that is searched must not run into that of the next one.
    fn end(&mut self, markup: &str) {
        self.html(markup);
        if self.rendered.sections.last().is_some_and(|section| !section.text.ends_with(char::is_whitespace)) {
            self.searched(" ");
        }
    }

    fn close_heading(&mut self, level: HeadingLevel) {
        let Some(Heading { begins, text }) = self.heading.take() else { return };
        let inner = self.rendered.html.split_off(begins.min(self.rendered.html.len()));
        let wanted = anchor(&text);
        let taken = |anchor: &str| self.rendered.sections.iter().any(|section| section.anchor == anchor);
        let repeated = (1..).map(|number| format!("{wanted}-{number}"));
        let anchor = std::iter::once(wanted.clone()).chain(repeated).find(|anchor| !taken(anchor)).unwrap_or_default();
        let _ = writeln!(self.rendered.html, "<{level} id=\"{anchor}\">{inner}</{level}>");
        self.rendered.sections.push(Section { anchor, heading: text, text: String::new() });
    }

    fn close_picture(&mut self) {
        let Some((served, text)) = self.picture.take() else { return };
        let shown = match served {
            Some(served) => format!("<img src=\"{}\" alt=\"{}\" loading=\"lazy\">", escape(&served), escape(&text)),
            None => format!("<em>{}</em>", escape(&text)),
        };
        self.rendered.html.push_str(&shown);
        self.searched(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A page\n\nOne *two* [three](x.md#y), [four](gone.md) & `<b>`. More.\n\n## Twice\n\n| a | b |\n| --- | --- |\n| `c` | d |\n\n\
        <!-- not run: it greets -->\n```sh\necho '<hi>'\n```\n\n## Twice\n\n1. one\n2. two\n\n<script>alert(1)</script>\n\n![A picture](p.png)\n";

    fn page() -> Rendered {
        render(PAGE, &|target| (!target.starts_with("gone")).then(|| format!("/at/{target}")))
    }

    #[test]
    fn markdown_becomes_html_without_markup_of_its_own() {
        let page = page();
        for part in [
            "<h1 id=\"a-page\">A page</h1>",
            "<p>One <em>two</em> <a href=\"/at/x.md#y\">three</a>, four &amp; <code>&lt;b&gt;</code>. More.</p>",
            "<th scope=\"col\">a</th>",
            "<td><code>c</code></td>",
            "<code class=\"language-sh\">echo &#39;&lt;hi&gt;&#39;\n</code>",
            "<h2 id=\"twice\">",
            "<h2 id=\"twice-1\">",
            "<ol><li>one</li>",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "<img src=\"/at/p.png\" alt=\"A picture\" loading=\"lazy\">",
        ] {
            assert!(page.html.contains(part), "{part} is not in {}", page.html);
        }
        assert_eq!((page.html.matches("<tbody>").count(), page.html.matches("</tbody>").count()), (1, 1));
        assert!(!page.html.contains("it greets"), "a comment is not shown");
    }

    #[test]
    fn a_page_is_searched_by_its_headings_and_the_text_below() {
        let page = page();
        assert_eq!((page.title(), page.lede().as_str()), ("A page", "One two three, four & <b>."));
        let places: Vec<(&str, &str)> = page.sections.iter().map(|section| (section.anchor.as_str(), section.heading.as_str())).collect();
        assert_eq!(places, [("a-page", "A page"), ("twice", "Twice"), ("twice-1", "Twice")]);
        assert!(page.sections[1].text.contains("a b c d"), "{:?}", page.sections[1]);
    }

    #[test]
    fn the_code_below_a_heading_is_found_by_its_language() {
        assert_eq!(code_below(PAGE, "Twice"), [("sh".to_owned(), "echo '<hi>'\n".to_owned())]);
        assert_eq!(code_below(PAGE, "A page"), []);
    }
}
