//! `/r/{merchant}/withdraw/goods`: from which goods a shopper withdraws who keeps the others.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use domain::returns::rma::sale::SoldLine;
use wire::returns::withdrawal::{Statement, WithdrawnGoods};

use super::Withdrawing;
use super::form::{LONGEST, Side};
use crate::app::App;
use crate::flow::returns::withdraw::change_statement;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};
use crate::http::portal::view::{Goods, units_of};
use crate::show::returns::portal::PortalOrder;

#[derive(Template)]
#[template(path = "portal/withdraw_goods.html")]
struct Page {
    frame: Frame,
    side: Side,
    /// The goods to choose from; `None` if the order is not known.
    lines: Option<Vec<Line>>,
    exempt: Vec<Exempt>,
    /// The goods in the shopper's own words.
    words: String,
}

struct Line {
    identifier: String,
    goods: Goods,
    ticked: bool,
    /// Empty if there is only one unit.
    quantities: Vec<(u32, String, bool)>,
}

/// Goods from whose contract nobody can withdraw.
struct Exempt {
    goods: Goods,
    why: String,
}

/// `GET /r/{merchant}/withdraw/goods`.
pub(in crate::http::portal) async fn show(State(app): State<App>, withdrawing: Withdrawing) -> Result<Response, PageError> {
    let Some(statement) = withdrawing.statement(&app).await? else { return Ok(see(&withdrawing.reader.path("withdraw"))) };
    let order = withdrawing.order(&app, &statement).await?;
    page(&app, &withdrawing, &statement, order.as_ref(), Vec::new()).await
}

/// `POST /r/{merchant}/withdraw/goods`.
pub(in crate::http::portal) async fn answer(
    State(app): State<App>,
    withdrawing: Withdrawing,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let (Some(mut statement), Some(session)) = (withdrawing.statement(&app).await?, &withdrawing.session) else {
        return Ok(see(&reader.path("withdraw")));
    };
    let order = withdrawing.order(&app, &statement).await?;
    let field = |name: &str| fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.trim()).unwrap_or_default();
    statement.part = field("what") != "all";
    statement.words = field("words").chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    statement.goods = order.as_ref().filter(|_| statement.part).map(|order| ticked(reader, order, &fields)).unwrap_or_default();
    let nothing = statement.part && statement.words.is_empty() && statement.goods.is_empty();
    if nothing {
        let (field, key) = if order.is_some() { ("g1", "withdraw-goods-none") } else { ("words", "withdraw-goods-missing") };
        let fault = FieldFault { field: field.to_owned(), text: reader.text(key) };
        return page(&app, &withdrawing, &statement, order.as_ref(), vec![fault]).await;
    }
    let changed = change_statement(&app, withdrawing.merchant, session, &statement).await?;
    // It may have been confirmed in another window meanwhile.
    Ok(see(&reader.path(if changed { "withdraw/confirm" } else { "withdraw/done" })))
}

/// The lines from whose contract the shopper can withdraw.
fn free<'a>(reader: &'a Reader, order: &'a PortalOrder) -> impl Iterator<Item = &'a SoldLine> {
    let sale = order.sale();
    sale.lines.iter().filter(|line| line.ordered() > 0 && reader.shop.exemptions.ground(sale, line).is_none())
}

fn ticked(reader: &Reader, order: &PortalOrder, fields: &[(String, String)]) -> Vec<WithdrawnGoods> {
    let quantities: BTreeMap<&str, u32> =
        fields.iter().filter_map(|(name, value)| Some((name.strip_prefix("quantity-")?, value.parse().ok()?))).collect();
    let is_ticked = |line: &SoldLine| fields.iter().any(|(name, value)| name == "line" && *value == line.identifier);
    let goods = |(number, line): (usize, &SoldLine)| {
        let quantity = quantities.get(&*number.to_string()).copied().unwrap_or(1).clamp(1, line.ordered());
        is_ticked(line).then(|| WithdrawnGoods { order_line_item_identifier: line.identifier.clone(), quantity })
    };
    (1..).zip(free(reader, order)).filter_map(goods).collect()
}

async fn page(
    app: &App,
    withdrawing: &Withdrawing,
    statement: &Statement,
    order: Option<&PortalOrder>,
    faults: Vec<FieldFault>,
) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let shown = |order: &PortalOrder, line: &SoldLine| {
        let chosen = statement.goods.iter().find(|goods| goods.order_line_item_identifier == line.identifier);
        let quantity = chosen.map_or(0, |goods| goods.quantity);
        let quantities = (1..=line.ordered()).map(|units| (units, units_of(reader, units, line.ordered()), units == quantity));
        Line {
            identifier: line.identifier.clone(),
            goods: Goods::of(reader, order, line, String::new()),
            ticked: quantity > 0,
            quantities: if line.ordered() > 1 { quantities.collect() } else { Vec::new() },
        }
    };
    let exempt = |order: &PortalOrder, line: &SoldLine| {
        let ground = reader.shop.exemptions.ground(order.sale(), line)?;
        Some(Exempt { goods: Goods::of(reader, order, line, String::new()), why: reader.text(&format!("withdraw-exempt-{ground}")) })
    };
    let mut frame = reader.frame("withdraw-goods-title").with_faults(faults);
    frame.back = Some(reader.path("withdraw"));
    render(&Page {
        frame,
        side: Side::of(app, withdrawing).await?,
        lines: order.map(|order| free(reader, order).map(|line| shown(order, line)).collect()),
        exempt: order.map(|order| order.sale().lines.iter().filter_map(|line| exempt(order, line)).collect()).unwrap_or_default(),
        words: statement.words.clone(),
    })
}
