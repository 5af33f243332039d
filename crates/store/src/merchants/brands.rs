//! Merchants' brands in the portal: look, logos, contacts, links and texts.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::brand::{Brand, Colour, Radius};

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// A merchant's brand without its pictures and texts. Whatever is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrandSettings {
    /// A colour, written as `#rrggbb`.
    pub accent: Option<String>,
    /// Of corners, in pixels.
    pub radius: Option<i16>,
    pub pill_buttons: bool,
    /// The hash that names the logo in its path; likewise that of the logo for dark pages.
    pub logo_hash: Option<String>,
    pub dark_logo_hash: Option<String>,
    /// The phone number that shoppers can turn to.
    pub help_phone: Option<String>,
    /// The merchant's own pages.
    pub shop_url: Option<String>,
    pub privacy_url: Option<String>,
    pub terms_url: Option<String>,
}

impl BrandSettings {
    /// The look of the brand, with the portal's own where nothing is set.
    pub fn look(&self) -> Result<Brand, Failed> {
        let own = Brand::default();
        let accent = self.accent.as_deref().map(str::parse::<Colour>).transpose();
        let radius = self.radius.map(|radius| u8::try_from(radius).ok().and_then(Radius::new).ok_or(())).transpose();
        Ok(Brand {
            accent: accent.map_err(|_| Failed::Internal("a stored accent is no colour"))?.unwrap_or(own.accent),
            radius: radius.map_err(|()| Failed::Internal("a stored radius is out of range"))?.unwrap_or(own.radius),
            pill_buttons: self.pill_buttons,
        })
    }
}

/// A merchant's logos, as PNGs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logos {
    pub light: Option<Vec<u8>>,
    pub dark: Option<Vec<u8>>,
}

/// A text that a merchant words itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandText {
    /// The code of the language.
    pub language: String,
    /// The text's name, of [`Wording`](domain::merchants::brand::Wording).
    pub name: String,
    pub wording: String,
}

/// The merchant's brand.
pub async fn get(tx: &mut Tx) -> Result<BrandSettings, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant).await
}

/// [`get`] outside of a transaction.
pub async fn current(store: &Store, merchant: MerchantId) -> Result<BrandSettings, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant).await
}

async fn read(connection: &mut Connection, merchant: MerchantId) -> Result<BrandSettings, Failed> {
    let settings = sqlx::query_as!(
        BrandSettings,
        r#"
        select accent, radius, pill_buttons, logo_hash, dark_logo_hash, help_phone, shop_url, privacy_url, terms_url
        from brand
        where merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_optional(connection)
    .await?;
    Ok(settings.unwrap_or_default())
}

/// The merchant's logos.
pub async fn logos(tx: &mut Tx) -> Result<Logos, Failed> {
    let merchant = tx.merchant();
    let logos = sqlx::query_as!(Logos, "select logo as light, dark_logo as dark from brand where merchant_id = $1", merchant.0)
        .fetch_optional(tx.connection())
        .await?;
    Ok(logos.unwrap_or_default())
}

/// The merchant's logo with this hash.
pub async fn find_logo(store: &Store, merchant: MerchantId, hash: &str) -> Result<Option<Vec<u8>>, Failed> {
    let logo = sqlx::query_scalar!(
        r#"
        select case when logo_hash = $2 then logo else dark_logo end as "logo!"
        from brand
        where merchant_id = $1 and $2 in (logo_hash, dark_logo_hash)
        "#,
        merchant.0,
        hash,
    );
    Ok(logo.fetch_optional(&store.pool).await?)
}

/// The heads of the merchant's logos, as far as the size of a PNG. No more of them is read.
pub async fn logo_heads(store: &Store, merchant: MerchantId) -> Result<Logos, Failed> {
    let heads = sqlx::query_as!(
        Logos,
        "select substring(logo for 24) as light, substring(dark_logo for 24) as dark from brand where merchant_id = $1",
        merchant.0,
    );
    Ok(heads.fetch_optional(&store.pool).await?.unwrap_or_default())
}

/// Inserts or replaces the merchant's brand. The settings have the hashes of the logos.
pub async fn save(tx: &mut Tx, settings: &BrandSettings, logos: &Logos, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into brand (
            merchant_id, accent, radius, pill_buttons, logo, logo_hash, dark_logo, dark_logo_hash, help_phone, shop_url, privacy_url,
            terms_url, changed_at
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        on conflict (merchant_id) do update set
            accent = excluded.accent, radius = excluded.radius, pill_buttons = excluded.pill_buttons, logo = excluded.logo,
            logo_hash = excluded.logo_hash, dark_logo = excluded.dark_logo, dark_logo_hash = excluded.dark_logo_hash,
            help_phone = excluded.help_phone, shop_url = excluded.shop_url, privacy_url = excluded.privacy_url,
            terms_url = excluded.terms_url, changed_at = excluded.changed_at
        "#,
        tx.merchant().0,
        settings.accent.as_deref(),
        settings.radius,
        settings.pill_buttons,
        logos.light.as_deref(),
        settings.logo_hash.as_deref(),
        logos.dark.as_deref(),
        settings.dark_logo_hash.as_deref(),
        settings.help_phone.as_deref(),
        settings.shop_url.as_deref(),
        settings.privacy_url.as_deref(),
        settings.terms_url.as_deref(),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The texts that `merchant` words itself, by language and name.
pub async fn list_texts(store: &Store, merchant: MerchantId) -> Result<Vec<BrandText>, Failed> {
    let texts = sqlx::query_as!(
        BrandText,
        "select language, name, wording from brand_text where merchant_id = $1 order by language, name",
        merchant.0,
    );
    Ok(texts.fetch_all(&store.pool).await?)
}

/// Inserts or replaces a text.
pub async fn save_text(tx: &mut Tx, text: &BrandText) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into brand_text (merchant_id, language, name, wording)
        values ($1, $2, $3, $4)
        on conflict (merchant_id, language, name) do update set wording = excluded.wording
        "#,
        tx.merchant().0,
        text.language,
        text.name,
        text.wording,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes a text, if it is there.
pub async fn remove_text(tx: &mut Tx, language: &str, name: &str) -> Result<(), Failed> {
    sqlx::query!("delete from brand_text where merchant_id = $1 and language = $2 and name = $3", tx.merchant().0, language, name)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Deletes the merchant's brand with its texts. Returns false if it has none.
pub async fn remove(tx: &mut Tx) -> Result<bool, Failed> {
    let removed = sqlx::query!("delete from brand where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    sqlx::query!("delete from brand_text where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    Ok(removed.rows_affected() > 0)
}
