//! What a request covers, as it is stored: a list of texts.

use chrono::{DateTime, SecondsFormat, Utc};
use domain::id::EndpointId;
use domain::merchants::operator::OperatorId;
use domain::merchants::operator::request::Wanted;
use store::merchants::operator_requests::Request;
use store::messages::failure_selection::Selection;

use super::asked::Asked;
use crate::flow::merchants::erase_shopper::ErasureTarget;

const ORDER: &str = "order:";
const DROP_SHIP_ORDER: &str = "drop_ship_order:";
const MESSAGES: &str = "messages";
const GROUP: &str = "group";

/// Writes what is asked for.
pub(super) fn write(asked: &Asked) -> Vec<String> {
    match asked {
        Asked::EraseShopper { orders, .. } => {
            let text = |target: &ErasureTarget| match target {
                ErasureTarget::Order(order) => format!("{ORDER}{order}"),
                ErasureTarget::DropShipOrder(order) => format!("{DROP_SHIP_ORDER}{order}"),
            };
            orders.iter().map(text).collect()
        }
        Asked::DiscardFailures { selection: Selection::Messages(messages), .. } => {
            std::iter::once(MESSAGES.to_owned()).chain(messages.iter().map(ToString::to_string)).collect()
        }
        Asked::DiscardFailures { selection: Selection::Group { endpoint, reason, since, until }, .. } => {
            let time = |time: &DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Micros, true);
            let since = since.as_ref().map(time).unwrap_or_default();
            vec![GROUP.to_owned(), endpoint.to_string(), reason.clone(), since, time(until)]
        }
        Asked::MakeAdmin(operator) => vec![operator.to_string()],
        Asked::RotateKeys(kind) => vec![kind.as_str().to_owned()],
    }
}

/// Reads what was asked for.
pub(super) fn read(request: &Request) -> Option<Asked> {
    match request.wanted {
        Wanted::EraseShopper => {
            let target = |text: &String| {
                let order = text.strip_prefix(ORDER).map(|order| ErasureTarget::Order(order.to_owned()));
                order.or_else(|| text.strip_prefix(DROP_SHIP_ORDER).map(|order| ErasureTarget::DropShipOrder(order.to_owned())))
            };
            let orders = request.covers.iter().map(target).collect::<Option<_>>()?;
            Some(Asked::EraseShopper { merchant: request.merchant?, orders })
        }
        Wanted::DiscardFailures => {
            let selection = selection(&request.covers)?;
            Some(Asked::DiscardFailures { merchant: request.merchant?, selection, count: request.things })
        }
        Wanted::RotateKeys => Some(Asked::RotateKeys(request.covers.first()?.parse().ok()?)),
        Wanted::MakeAdmin => Some(Asked::MakeAdmin(OperatorId(request.covers.first()?.parse().ok()?))),
    }
}

fn selection(covers: &[String]) -> Option<Selection> {
    let time = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
    match covers.split_first()? {
        (kind, messages) if kind == MESSAGES => {
            Some(Selection::Messages(messages.iter().map(|message| message.parse().ok()).collect::<Option<_>>()?))
        }
        (kind, [endpoint, reason, since, until]) if kind == GROUP => Some(Selection::Group {
            endpoint: EndpointId(endpoint.parse().ok()?),
            reason: reason.clone(),
            since: if since.is_empty() { None } else { Some(time(since)?) },
            until: time(until)?,
        }),
        _ => None,
    }
}
