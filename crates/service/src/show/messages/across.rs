//! The newest messages of all merchants, for the console and the command line.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use futures::future::try_join_all;
use store::Failed;
use store::messages::log::State;
use store::messages::message_pages::Listed;
use store::messages::recent::{self, Account};
use uuid::Uuid;

use crate::node::cell::Cell;
use crate::node::{Node, each_cell};
use crate::show::merchants::handles::by_handle;

/// The merchants that one statement looks at.
const AT_A_TIME: usize = 50;

/// The messages that are wanted. What a filter leaves out makes a page shorter.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) state: Option<State>,
    pub(crate) interface: Option<&'a str>,
    pub(crate) event: Option<&'a str>,
    /// Written at this time or later.
    pub(crate) from: Option<DateTime<Utc>>,
    /// Written before this time.
    pub(crate) to: Option<DateTime<Utc>>,
}

impl Wanted<'_> {
    fn fits(&self, message: &Listed) -> bool {
        self.state.is_none_or(|state| state == message.state)
            && self.interface.is_none_or(|interface| interface == message.kind)
            && self.event.is_none_or(|event| event == message.event)
    }
}

/// A page of messages with their merchants.
pub(crate) struct Page {
    pub(crate) messages: Vec<(Account, Listed)>,
    /// Continue before this message. `None` on the last page.
    pub(crate) next: Option<Uuid>,
    /// Not every merchant was looked at.
    pub(crate) some_merchants: bool,
}

/// The newest messages before the message `before`: of the first `merchants` by handle, at most `most` are examined.
pub(crate) async fn newest(
    node: &Node,
    wanted: &Wanted<'_>,
    before: Option<Uuid>,
    (merchants, most): (usize, usize),
) -> Result<Page, Failed> {
    let looked_at = i64::try_from(merchants + 1).unwrap_or(i64::MAX);
    let of_cells = each_cell::each(node, |store| recent::merchants(store, None, looked_at)).await?;
    let of_cells = each_cell::placed(node.cells(), of_cells);
    let mut accounts: Vec<(&Cell, Account)> = by_handle(node, of_cells, |(_, account)| &account.handle).await?;
    let some_merchants = accounts.len() > merchants;
    accounts.truncate(merchants);
    // Nothing is written later, so the partitions of the coming weeks are left alone.
    let range = (wanted.from, Some(wanted.to.unwrap_or(node.now() + TimeDelta::hours(1))));
    let in_cell = async |cell: &Cell| {
        let ids: Vec<MerchantId> = accounts.iter().filter(|(of, _)| of.name() == cell.name()).map(|(_, account)| account.id).collect();
        let (mut found, mut complete_from) = (Vec::new(), None);
        for some in ids.chunks(AT_A_TIME) {
            let (page, next) = recent::newest(&cell.store, some, range, before, i64::try_from(most).unwrap_or(i64::MAX)).await?;
            found.extend(page);
            // Older ones of these merchants may be missing.
            complete_from = complete_from.max(next);
        }
        Ok::<_, Failed>((found, complete_from))
    };
    let (mut found, mut complete_from) = (Vec::new(), None);
    for (messages, next) in try_join_all(node.cells().iter().map(in_cell)).await? {
        found.extend(messages);
        complete_from = complete_from.max(next);
    }
    found.retain(|(_, message)| complete_from.is_none_or(|from| message.id >= from));
    found.sort_by_key(|(_, message)| std::cmp::Reverse(message.id));
    let next = if found.len() > most { found.get(most - 1).map(|(_, message)| message.id) } else { complete_from };
    found.truncate(most);
    let with_account = |(merchant, message): (MerchantId, Listed)| {
        let (_, account) = accounts.iter().find(|(_, account)| account.id == merchant)?.clone();
        wanted.fits(&message).then_some((account, message))
    };
    Ok(Page { messages: found.into_iter().filter_map(with_account).collect(), next, some_merchants })
}
