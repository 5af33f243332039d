//! Exchange orders: at most one per order, recorded as soon as it is owed to the merchant.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::ExchangeState;
use domain::returns::rma::choice::Standing;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The time after which an order without an identifier comes on the work list.
pub const LISTED_AFTER: TimeDelta = TimeDelta::hours(24);

/// An exchange order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The order whose units are exchanged.
    pub original_order: String,
    /// The return that brings the units back.
    pub rma: Uuid,
    /// The message that asks the merchant to place it.
    pub message: Uuid,
    pub state: ExchangeState,
    /// The value of a gift card in it, and the merchant's bonus on top.
    pub gift_card: Option<(Cents, Cents)>,
    /// The order that the merchant has placed; possibly although the exchange was converted.
    pub placed: Option<Placed>,
}

/// An order that the merchant has placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The merchant's identifier of the new order; `None` until it is known.
    pub order_identifier: Option<String>,
    /// `None` if the merchant did not tell it, as with the fields below.
    pub total: Option<Cents>,
    /// The price of the goods.
    pub product: Option<Cents>,
    pub tax: Option<Cents>,
}

struct Row {
    rma_id: Uuid,
    message_id: Uuid,
    gift_card_cents: Option<i64>,
    bonus_cents: Option<i64>,
    total_cents: Option<i64>,
    product_cents: Option<i64>,
    tax_cents: Option<i64>,
    state: String,
    original_order_identifier: String,
    order_identifier: Option<String>,
}

/// Selects exchange orders: the conditions, then the arguments.
macro_rules! exchanges {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select rma_id, message_id, gift_card_cents, bonus_cents, total_cents, product_cents, tax_cents, state, "
                + "original_order_identifier, order_identifier from exchange_order "
                + $end,
            $($argument),*
        )
    };
}

impl Row {
    fn exchange(self) -> Result<Exchange, Failed> {
        let cents = |amount: Option<i64>| amount.and_then(Cents::new);
        let state = self.state.parse().map_err(|_| Failed::Internal("a stored exchange state is unknown"))?;
        Ok(Exchange {
            original_order: self.original_order_identifier,
            rma: self.rma_id,
            message: self.message_id,
            state,
            gift_card: cents(self.gift_card_cents).zip(cents(self.bonus_cents)),
            placed: (state == ExchangeState::Placed || self.order_identifier.is_some()).then_some(Placed {
                order_identifier: self.order_identifier,
                total: cents(self.total_cents),
                product: cents(self.product_cents),
                tax: cents(self.tax_cents),
            }),
        })
    }
}

/// Tells whether units of an order can be exchanged.
pub(super) fn standing_from(offered: bool, exchanged: bool) -> Standing {
    match (exchanged, offered) {
        (true, _) => Standing::ExchangedBefore,
        (false, true) => Standing::Offered,
        (false, false) => Standing::NotOffered,
    }
}

/// Records that an exchange order is owed. The order must be locked and not exchanged before.
pub async fn insert(tx: &mut Tx, new: &Exchange, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into exchange_order (
            merchant_id, original_order_identifier, rma_id, message_id, created_at, state, gift_card_cents, bonus_cents
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        "#,
        tx.merchant().0,
        new.original_order,
        new.rma,
        new.message,
        now,
        new.state.as_str(),
        new.gift_card.map(|(value, _)| value.get()),
        new.gift_card.map(|(_, bonus)| bonus.get()),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The exchange order that `message` asks for.
pub async fn of_message(tx: &mut Tx, message: Uuid) -> Result<Option<Exchange>, Failed> {
    let merchant = tx.merchant().0;
    let row = exchanges!("where merchant_id = $1 and message_id = $2", merchant, message).fetch_optional(tx.connection()).await?;
    row.map(Row::exchange).transpose()
}

/// The state of the exchange order that `message` asks for, if it asks for one. It does not change until the transaction ends.
pub async fn hold(tx: &mut Tx, message: Uuid) -> Result<Option<ExchangeState>, Failed> {
    let state = sqlx::query_scalar!(
        "select state from exchange_order where merchant_id = $1 and message_id = $2 for share",
        tx.merchant().0,
        message,
    )
    .fetch_optional(tx.connection())
    .await?;
    state.map(|state| state.parse().map_err(|_| Failed::Internal("a stored exchange state is unknown"))).transpose()
}

/// The exchange order of the order `order`. It is not locked.
pub async fn of_order(tx: &mut Tx, order: &str) -> Result<Option<Exchange>, Failed> {
    let merchant = tx.merchant().0;
    let row = exchanges!("where merchant_id = $1 and original_order_identifier = $2", merchant, order);
    row.fetch_optional(tx.connection()).await?.map(Row::exchange).transpose()
}

/// The exchange order of the order `order`, locked until the transaction ends. Its return must be locked first.
pub async fn lock(tx: &mut Tx, order: &str) -> Result<Option<Exchange>, Failed> {
    let merchant = tx.merchant().0;
    let row = exchanges!("where merchant_id = $1 and original_order_identifier = $2 for update", merchant, order);
    row.fetch_optional(tx.connection()).await?.map(Row::exchange).transpose()
}

/// The exchange order of the order `order` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, order: &str) -> Result<Option<Exchange>, Failed> {
    let row = exchanges!("where merchant_id = $1 and original_order_identifier = $2", merchant.0, order);
    row.fetch_optional(&store.pool).await?.map(Row::exchange).transpose()
}

/// Records that the merchant has placed the order. It must be locked and pending. Without an identifier, it comes on the work list
/// after a while.
pub async fn place(tx: &mut Tx, order: &str, placed: &Placed, now: DateTime<Utc>) -> Result<(), Failed> {
    let cents = |amount: Option<Cents>| amount.map(Cents::get);
    sqlx::query!(
        r#"
        update exchange_order
        set state = 'placed', ended_at = $3, order_identifier = $4, total_cents = $5, product_cents = $6, tax_cents = $7, listed_from = $8
        where merchant_id = $1 and original_order_identifier = $2
        "#,
        tx.merchant().0,
        order,
        now,
        placed.order_identifier,
        cents(placed.total),
        cents(placed.product),
        cents(placed.tax),
        placed.order_identifier.is_none().then_some(now + LISTED_AFTER),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Records the identifier of an order that was placed without one, or although the exchange was converted. It must be locked.
pub async fn identify(tx: &mut Tx, order: &str, order_identifier: &str) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update exchange_order
        set order_identifier = $3, listed_from = null
        where merchant_id = $1 and original_order_identifier = $2
        "#,
        tx.merchant().0,
        order,
        order_identifier,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Records that another message asks the merchant for the order from now on. It must be locked and pending.
pub async fn ask_anew(tx: &mut Tx, order: &str, message: Uuid) -> Result<(), Failed> {
    sqlx::query!(
        "update exchange_order set message_id = $3 where merchant_id = $1 and original_order_identifier = $2",
        tx.merchant().0,
        order,
        message,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Records that the units are refunded instead. It must be locked, and pending or without an identifier.
pub async fn convert(tx: &mut Tx, order: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update exchange_order
        set state = 'converted', ended_at = $3, listed_from = null
        where merchant_id = $1 and original_order_identifier = $2
        "#,
        tx.merchant().0,
        order,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The orders of all merchants whose exchange order comes on the work list by `now` because its identifier is unknown.
pub async fn list_unidentified(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, String)>, Failed> {
    let rows = sqlx::query!(
        r#"
        -- Across merchants: few rows, by an index of their own.
        select merchant_id, original_order_identifier
        from exchange_order
        where listed_from <= $1
        order by listed_from
        limit $2
        "#,
        now,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.original_order_identifier)).collect())
}

/// Takes the exchange order of `order` as listed, unless its identifier has become known or it was listed before. Returns the
/// identifier of its return.
pub async fn mark_listed(tx: &mut Tx, order: &str, now: DateTime<Utc>) -> Result<Option<String>, Failed> {
    let rma = sqlx::query_scalar!(
        r#"
        update exchange_order
        set listed_from = null
        from rma
        where exchange_order.merchant_id = $1 and exchange_order.original_order_identifier = $2 and exchange_order.listed_from <= $3
            and rma.merchant_id = $1 and rma.rma_id = exchange_order.rma_id
        returning rma.identifier
        "#,
        tx.merchant().0,
        order,
        now,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(rma)
}
