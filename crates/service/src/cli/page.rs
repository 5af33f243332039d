//! Pages of lists: `--limit` and `--cursor`, the same for every list, as in the merchant API.

use std::str::FromStr;

use clap::Args;
use wire::page::{BadPage, cut, read_cursor, read_limit};

/// The page of a list that is wanted.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct PageArgs {
    /// Continue the list: the `next` of the page before.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// The most items of the page, up to 100.
    #[arg(long, value_name = "COUNT", default_value = "50")]
    limit: Limit,
}

/// The most items of a page, within the bounds.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Limit(u32);

impl FromStr for Limit {
    type Err = BadPage;

    fn from_str(text: &str) -> Result<Self, BadPage> {
        read_limit(text).map(Self)
    }
}

impl PageArgs {
    /// The most items of the page.
    pub(in crate::cli) fn limit(&self) -> usize {
        self.limit.0 as usize
    }

    /// The number of items to read: one more than the page has, to see if there are more.
    pub(in crate::cli) fn most(&self) -> i64 {
        i64::from(self.limit.0) + 1
    }

    /// The place after which the page begins, as `read` understands the cursor.
    pub(in crate::cli) fn after<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, BadPage> {
        read_cursor(self.cursor.as_deref(), read)
    }

    /// The place after which the page begins, if it is written as itself.
    pub(in crate::cli) fn place<T: FromStr>(&self) -> Result<Option<T>, BadPage> {
        self.after(|text| text.parse().ok())
    }

    /// Takes what is beyond the page off `found`, and says where to read on.
    pub(in crate::cli) fn cut<T>(&self, found: &mut Vec<T>, place: impl FnOnce(&T) -> String) -> Option<String> {
        cut(found, self.limit.0, place)
    }
}
