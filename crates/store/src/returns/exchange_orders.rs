//! Exchange orders: at most one per order, recorded as soon as it is owed to the merchant.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::ExchangeState;
use domain::returns::rma::choice::Standing;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

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
    /// The merchant's response, once the order is placed.
    pub placed: Option<Placed>,
}

/// The merchant's response to an exchange order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The merchant's identifier of the new order.
    pub order_identifier: String,
    /// `None` if the response did not include it, as with the fields below.
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
        Ok(Exchange {
            original_order: self.original_order_identifier,
            rma: self.rma_id,
            message: self.message_id,
            state: self.state.parse().map_err(|_| Failed::Internal("a stored exchange state is unknown"))?,
            gift_card: cents(self.gift_card_cents).zip(cents(self.bonus_cents)),
            placed: self.order_identifier.map(|order_identifier| Placed {
                order_identifier,
                total: cents(self.total_cents),
                product: cents(self.product_cents),
                tax: cents(self.tax_cents),
            }),
        })
    }
}

/// Tells whether units of the order `order` can be exchanged, and which order it is itself the exchange order of.
pub async fn standing(tx: &mut Tx, order: &str) -> Result<(Standing, Option<String>), Failed> {
    let merchant = tx.merchant();
    look(tx.connection(), merchant, order).await
}

/// Tells whether units of the order `order` of `merchant` can be exchanged, outside of a transaction.
pub async fn standing_of(store: &Store, merchant: MerchantId, order: &str) -> Result<Standing, Failed> {
    let mut connection = store.pool.acquire().await?;
    Ok(look(&mut connection, merchant, order).await?.0)
}

async fn look(connection: &mut PgConnection, merchant: MerchantId, order: &str) -> Result<(Standing, Option<String>), Failed> {
    let row = sqlx::query!(
        r#"
        select
            exists (
                select from endpoint where merchant_id = $1 and interface = 'exchange_order' and removed_at is null
            ) as "offered!",
            exists (select from exchange_order where merchant_id = $1 and original_order_identifier = $2) as "exchanged!",
            (
                select original_order_identifier from exchange_order
                where merchant_id = $1 and order_identifier = $2
                order by created_at
                limit 1
            ) as original
        "#,
        merchant.0,
        order,
    )
    .fetch_one(connection)
    .await?;
    let standing = match (row.exchanged, row.offered) {
        (true, _) => Standing::ExchangedBefore,
        (false, true) => Standing::Offered,
        (false, false) => Standing::NotOffered,
    };
    Ok((standing, row.original))
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

/// Records how an exchange ended: placed, with the merchant's response, or converted. It must be locked and pending.
pub async fn end(tx: &mut Tx, order: &str, state: ExchangeState, placed: Option<&Placed>, now: DateTime<Utc>) -> Result<(), Failed> {
    let cents = |of: fn(&Placed) -> Option<Cents>| placed.and_then(of).map(Cents::get);
    sqlx::query!(
        r#"
        update exchange_order
        set state = $3, ended_at = $4, order_identifier = $5, total_cents = $6, product_cents = $7, tax_cents = $8
        where merchant_id = $1 and original_order_identifier = $2
        "#,
        tx.merchant().0,
        order,
        state.as_str(),
        now,
        placed.map(|placed| placed.order_identifier.as_str()),
        cents(|placed| placed.total),
        cents(|placed| placed.product),
        cents(|placed| placed.tax),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
