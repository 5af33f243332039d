//! `GET /llms.txt`: the pages as a list in Markdown, for programs that read on behalf of people.

use std::fmt::Write as _;

use super::guides::Group;
use super::page::Page;

/// The list of these pages, each with its path.
pub(super) fn text<'a>(pages: impl Iterator<Item = (&'a str, &'a Page)>) -> String {
    let pages: Vec<(&str, &Page)> = pages.collect();
    let mut text = "# Backhaul\n\n> Returns, exchange and fulfilment integration: merchants send orders, and Backhaul notifies their systems of \
        returns, exchanges and shipments.\n\nThe whole interface is described by the OpenAPI 3.1 document at [/openapi.json](/openapi.json), with the \
        requests that Backhaul sends to merchants under `webhooks`.\n"
        .to_owned();
    for group in Group::ALL {
        let _ = write!(text, "\n## {}\n\n", group.name());
        for (path, page) in pages.iter().filter(|(_, page)| page.group == group) {
            let _ = writeln!(text, "- [{}]({path}): {}", page.title, page.lede.replace('\n', " "));
        }
    }
    text
}
