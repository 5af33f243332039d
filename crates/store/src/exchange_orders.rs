//! Exchange orders: one for each order, from the moment that a merchant is owed it.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::rma::ExchangeState;
use domain::rma::choice::Standing;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// An exchange order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The order that is exchanged.
    pub original_order: String,
    /// The return that brings its units back.
    pub rma: Uuid,
    /// The message that asks for it.
    pub message: Uuid,
    /// How far it has come.
    pub state: ExchangeState,
    /// What a gift card in it is worth, and what the merchant adds to that.
    pub gift_card: Option<(Cents, Cents)>,
    /// What the merchant answered, once it is placed.
    pub placed: Option<Placed>,
}

/// What a merchant answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its identifier of the order.
    pub order_identifier: String,
    /// The order's total, where told.
    pub total: Option<Cents>,
    /// The price of the goods, where told.
    pub product: Option<Cents>,
    /// The tax, where told.
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

/// Reads exchange orders: the statement's end, and its arguments.
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
            state: self.state.parse().map_err(|_| Failed::Refused("a stored state of an exchange is unknown".to_owned()))?,
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

/// Whether units of the order `order` can be exchanged, and which order it is itself the exchange order of.
pub async fn standing(tx: &mut Tx, order: &str) -> Result<(Standing, Option<String>), Failed> {
    let merchant = tx.merchant();
    look(tx.connection(), merchant, order).await
}

/// Whether units of the order `order` of `merchant` can be exchanged, as of now.
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

/// Writes down that an exchange order is owed. The order is locked, and was not exchanged before.
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

/// The exchange order of the order `order`, locked until the transaction ends. Its return is locked before.
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

/// Writes down how an exchange ended: placed, with what the merchant answered, or converted. It is locked, and pending.
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
