//! Notes when the first order of a merchant that is being set up came. Orders themselves only keep when they last came.

use store::Failed;
use store::merchants::onboarding;

use crate::app::App;

/// The most merchants of one run.
const MOST: i64 = 100;

/// Notes first orders. Returns whether there may be more.
pub async fn note_first_orders(app: &App) -> Result<bool, Failed> {
    let first = onboarding::list_first_orders(app.cell(), MOST).await?;
    let more = i64::try_from(first.len()).is_ok_and(|found| found == MOST);
    for (merchant, at) in first {
        let Some(mut tx) = app.begin_here(merchant).await? else { continue };
        onboarding::note_first_order(&mut tx, at).await?;
        app.commit(tx).await?;
    }
    Ok(more)
}
