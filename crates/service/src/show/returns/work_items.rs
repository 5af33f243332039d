//! Views of the work list.

use store::returns::work_items::WorkItem;
use wire::returns::work::WorkItemOut;
use wire::time;

/// A case of the work list.
pub(crate) fn shown(item: WorkItem) -> WorkItemOut {
    WorkItemOut {
        work_item_id: item.id.to_string(),
        kind: item.kind.as_str(),
        subject: item.subject,
        reason: item.reason,
        opened_at: time::write(item.opened_at),
    }
}
