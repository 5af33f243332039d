//! `/r/{merchant}/items/{item}/exchange`: chooses another size or colour.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use domain::returns::exchange::variant::Variant;
use serde::Deserialize;
use wire::returns::draft::{AnsweredItem, Wish};

use super::reason::numbered;
use super::session::Shopper;
use super::step;
use super::view::{DraftBox, Goods, units_of};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::{PortalOrder, Stock};

/// Fewer left than this are counted out to the shopper.
const FEW: u32 = 3;

#[derive(Template)]
#[template(path = "portal/exchange.html")]
struct Which {
    frame: Frame,
    draft: DraftBox,
    step: String,
    action: String,
    other: String,
    goods: Goods,
    /// The attributes that are chosen by tabs, such as colour; empty if there is nothing to choose.
    tabs_heading: String,
    tabs: Vec<Tab>,
    grid_heading: String,
    cells: Vec<Cell>,
}

struct Tab {
    words: String,
    href: String,
    current: bool,
}

struct Cell {
    sku: String,
    words: String,
    note: String,
    sold_out: bool,
    chosen: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tabbed {
    of: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    sku: String,
}

/// `GET /r/{merchant}/items/{item}/exchange`.
pub(super) async fn show(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
    Query(tabbed): Query<Tabbed>,
) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    let (number, item) = step::item(&order, &number)?;
    match order.stock(&app, shopper.merchant, item).await? {
        Stock::Variants(variants) => page(&shopper.reader, &order, number, item, &variants, tabbed.of, Vec::new()),
        Stock::NotOffered | Stock::Unknown => Ok(see(&shopper.reader.path(&format!("items/{number}/instead")))),
    }
}

/// `POST /r/{merchant}/items/{item}/exchange`.
pub(super) async fn answer(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
    Query(tabbed): Query<Tabbed>,
    Form(typed): Form<Typed>,
) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let (number, item) = step::item(&order, &number)?;
    let Stock::Variants(variants) = order.stock(&app, shopper.merchant, item).await? else {
        return Ok(see(&shopper.reader.path(&format!("items/{number}/instead"))));
    };
    let shown = order.shown(item, &variants);
    let chosen = shown.iter().find(|variant| variant.sku == typed.sku);
    if chosen.is_none_or(|variant| variant.in_stock < item.quantity) {
        let key = if chosen.is_some() { "exchange-gone" } else { "exchange-none" };
        let fault = FieldFault { field: "size".to_owned(), text: shopper.reader.text(key) };
        return page(&shopper.reader, &order, number, item, &variants, tabbed.of, vec![fault]);
    }
    if let Some(item) = order.answers.items.get_mut(number - 1) {
        item.instead = Some(Wish::Variant(typed.sku));
    }
    shopper.save(&app, &order).await?;
    Ok(see(&shopper.reader.path(&step::next(&order))))
}

fn page(
    reader: &Reader,
    order: &PortalOrder,
    number: usize,
    item: &AnsweredItem,
    variants: &[Variant],
    tab: Option<usize>,
    faults: Vec<FieldFault>,
) -> Result<Response, PageError> {
    let (sold, _) = order.line(&item.line).ok_or(PageError::NotFound)?;
    let shown = order.shown(item, variants);
    let layout = Layout::of(&shown);
    let wished = match &item.instead {
        Some(Wish::Variant(sku)) => Some(sku.as_str()),
        Some(Wish::Refund | Wish::GiftCard) | None => None,
    };
    let current = tab.filter(|tab| *tab < layout.tabs.len()).unwrap_or_else(|| layout.opens_on(&shown, wished));
    let path = reader.path(&format!("items/{number}/exchange"));
    let tab = |(at, words): (usize, &String)| Tab { words: words.clone(), href: format!("{path}?of={at}"), current: at == current };
    let cells = shown.iter().filter(|variant| layout.tabs.get(current).is_none_or(|words| *words == layout.tab_of(variant)));
    let cell = |variant: &&Variant| {
        let short = variant.in_stock < item.quantity;
        Cell {
            sku: variant.sku.clone(),
            words: layout.cell_of(variant),
            note: match variant.in_stock {
                _ if short => reader.text("sold-out"),
                left if left < FEW => reader.text_with("left", [("left", left.into())]),
                _ => reader.text("in-stock"),
            },
            sold_out: short,
            chosen: wished == Some(variant.sku.as_str()) && !short,
        }
    };
    render(&Which {
        frame: reader.frame("exchange-title").at_step(3, reader.path(&format!("items/{number}/instead"))).with_faults(faults),
        draft: DraftBox::of(reader, order),
        step: numbered(reader, 3, number, order.answers.items.len()),
        action: format!("{path}?of={current}"),
        other: reader.path(&format!("items/{number}/instead")),
        goods: Goods::of(reader, order, sold, units_of(reader, item.quantity, sold.quantity)),
        tabs_heading: layout.tabs_heading.clone(),
        tabs: if layout.tabs.len() > 1 { layout.tabs.iter().enumerate().map(tab).collect() } else { Vec::new() },
        grid_heading: if layout.grid_heading.is_empty() { reader.text("exchange-variant") } else { layout.grid_heading.clone() },
        cells: cells.map(cell).collect(),
    })
}

/// How variants are laid out: by the attributes in which they differ. The last of these makes the grid, the others make tabs.
struct Layout {
    tab_names: Vec<String>,
    grid_name: Option<String>,
    tabs_heading: String,
    grid_heading: String,
    tabs: Vec<String>,
}

impl Layout {
    fn of(variants: &[&Variant]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for attribute in variants.iter().flat_map(|variant| &variant.attributes) {
            if !names.contains(&attribute.name) {
                names.push(attribute.name.clone());
            }
        }
        let values = |name: &String| variants.iter().map(|variant| value(variant, name)).collect::<BTreeSet<_>>().len();
        names.retain(|name| values(name) > 1);
        // Sizes make the better grid, whatever comes first.
        let size = names.iter().position(|name| name.eq_ignore_ascii_case("size"));
        let grid_name = if let Some(at) = size { Some(names.remove(at)) } else { names.pop() };
        let mut layout = Self {
            tabs_heading: names.iter().map(|name| capitalised(name)).collect::<Vec<_>>().join(", "),
            grid_heading: grid_name.as_deref().map(capitalised).unwrap_or_default(),
            tab_names: names,
            grid_name,
            tabs: Vec::new(),
        };
        for variant in variants {
            let tab = layout.tab_of(variant);
            if !layout.tabs.contains(&tab) {
                layout.tabs.push(tab);
            }
        }
        layout
    }

    fn tab_of(&self, variant: &Variant) -> String {
        self.tab_names.iter().map(|name| value(variant, name)).filter(|value| !value.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn cell_of(&self, variant: &Variant) -> String {
        let own = self.grid_name.as_ref().map(|name| value(variant, name)).filter(|value| !value.is_empty());
        own.unwrap_or_else(|| variant.title.as_deref().unwrap_or(&variant.sku)).to_owned()
    }

    /// The tab of the wished variant, else the first one with something in stock.
    fn opens_on(&self, variants: &[&Variant], wished: Option<&str>) -> usize {
        let wished = variants.iter().find(|variant| wished == Some(variant.sku.as_str()));
        let first = wished.or_else(|| variants.iter().find(|variant| variant.is_available()));
        first.and_then(|variant| self.tabs.iter().position(|tab| *tab == self.tab_of(variant))).unwrap_or_default()
    }
}

/// A variant in words: its attributes, else its title or SKU.
pub(super) fn described(variant: &Variant) -> String {
    let values: Vec<&str> = variant.attributes.iter().map(|attribute| attribute.value.as_str()).collect();
    if values.is_empty() { variant.title.clone().unwrap_or_else(|| variant.sku.clone()) } else { values.join(", ") }
}

fn value<'v>(variant: &'v Variant, name: &str) -> &'v str {
    variant.attributes.iter().find(|attribute| attribute.name == name).map_or("", |attribute| &attribute.value)
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use domain::money::Cents;
    use domain::returns::exchange::variant::Attribute;

    use super::*;

    fn variant(sku: &str, attributes: &[(&str, &str)], in_stock: u32) -> Variant {
        let attributes = attributes.iter().map(|(name, value)| Attribute { name: (*name).to_owned(), value: (*value).to_owned() });
        let (attributes, unit_price) = (attributes.collect(), Cents::default());
        Variant { sku: sku.to_owned(), title: None, attributes, unit_price, in_stock, image_url: None, product_url: None }
    }

    #[test]
    fn sizes_make_the_grid_and_the_other_attributes_tabs() {
        let all = [
            variant("b42", &[("size", "42"), ("color", "Blue"), ("width", "M")], 0),
            variant("b43", &[("size", "43"), ("color", "Blue"), ("width", "M")], 0),
            variant("s43", &[("size", "43"), ("color", "Sand"), ("width", "M")], 2),
        ];
        let layout = Layout::of(&all.iter().collect::<Vec<_>>());
        assert_eq!((&*layout.tabs_heading, &*layout.grid_heading), ("Color", "Size"), "all have the same width");
        assert_eq!(layout.tabs, ["Blue", "Sand"]);
        assert_eq!(layout.opens_on(&all.iter().collect::<Vec<_>>(), None), 1, "blue is sold out");
        assert_eq!(layout.opens_on(&all.iter().collect::<Vec<_>>(), Some("b42")), 0);
    }

    #[test]
    fn variants_without_attributes_are_named_by_their_title_or_sku() {
        let all = [variant("one", &[], 1), variant("two", &[], 1)];
        let layout = Layout::of(&all.iter().collect::<Vec<_>>());
        assert_eq!(layout.tabs, [""]);
        assert_eq!(all.each_ref().map(|variant| layout.cell_of(variant)), ["one", "two"]);
    }
}
