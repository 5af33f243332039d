//! Merchants as shoppers see them, looked up by handle or by host name. A look-up is remembered for a moment, so that most pages
//! are shown without a statement.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use domain::id::{Handle, MerchantId};
use domain::merchants::brand::{Brand, Wording};
use domain::returns::withdrawal::TRANSIT_DAYS;
use domain::returns::withdrawal::exemption::Exemptions;
use futures::future::join_all;
use store::Failed;
use store::merchants::accounts::{self, Merchant};
use store::merchants::brands::{self, BrandSettings, BrandText};
use store::merchants::portals;

use crate::node::Node;
use crate::node::directory::first_found;
use crate::platform::content_hash::content_hash;
use crate::platform::host_name::HostName;
use crate::platform::texts::Language;

/// The time for which a look-up is trusted. A change takes effect within 5 seconds on every node; the rest is for the look-up.
const TRUSTED_FOR: Duration = Duration::from_secs(4);
/// The most handles, and the most host names, that are remembered, whether somebody has them or not.
const MOST_REMEMBERED: usize = 10_000;

/// A merchant as shoppers see it.
#[derive(Clone, Debug)]
pub struct Shop {
    /// Also while it is paused.
    pub merchant: Merchant,
    pub name: String,
    /// The address that shoppers can turn to.
    pub help_email: Option<String>,
    pub zone: Tz,
    /// The public URL of the portal's first page, at the merchant's own host name if it has one.
    pub address: Option<String>,
    /// The start of order numbers, which shoppers may leave out.
    pub number_prefix: Option<String>,
    pub brand: ShopBrand,
    /// Days from shipping to delivery, where nobody reports the delivery.
    pub transit_days: u16,
    /// Goods from whose contract shoppers cannot withdraw.
    pub exemptions: Exemptions,
}

/// A merchant's brand, with its style sheet and logos as the names of their files.
#[derive(Clone, Debug, Default)]
pub struct ShopBrand {
    pub settings: BrandSettings,
    /// The texts that the merchant words itself.
    pub texts: Vec<BrandText>,
    /// The name of the style sheet's file; `None` if the brand looks like the portal itself.
    pub style: Option<String>,
}

/// The style sheet of a brand.
#[derive(Debug)]
pub struct StyleSheet {
    /// The name of its file, which has its hash.
    pub name: String,
    pub css: String,
}

impl StyleSheet {
    /// The style sheet of a brand; `None` if it looks like the portal itself.
    pub fn of(settings: &BrandSettings) -> Result<Option<Self>, Failed> {
        let brand = settings.look()?;
        if brand == Brand::default() {
            return Ok(None);
        }
        let css = brand.style_sheet();
        Ok(Some(Self { name: format!("{}.css", content_hash(&css)), css }))
    }
}

impl ShopBrand {
    /// The merchant's own wording of a text.
    #[must_use]
    pub fn text(&self, language: Language, text: Wording) -> Option<&str> {
        let own = self.texts.iter().find(|own| own.language == language.code() && own.name == text.as_str());
        own.map(|own| &*own.wording)
    }
}

/// The shops and host names that were looked up a moment ago.
#[derive(Default)]
pub struct ShopCache {
    shops: Recent<Arc<Shop>>,
    /// The handle of the merchant to whom a host name belongs.
    handles: Recent<Arc<str>>,
}

impl ShopCache {
    /// The shop with this handle.
    pub async fn find_by_handle(&self, node: &Node, handle: &str) -> Result<Option<Arc<Shop>>, Failed> {
        let Ok(handle) = handle.parse::<Handle>() else { return Ok(None) };
        self.shops.find(handle.as_str(), node.clock.uptime(), look_up(node, &handle)).await
    }

    /// The handle of the merchant to whose portal this host name leads, in whatever cell it lives.
    pub async fn find_by_host(&self, node: &Node, host: &HostName) -> Result<Option<Arc<str>>, Failed> {
        self.handles.find(host.as_str(), node.clock.uptime(), find_handle(node, host)).await
    }
}

/// Asks each cell whether it has the host name. While one of them does not answer, nobody knows that no merchant has it.
async fn find_handle(node: &Node, host: &HostName) -> Result<Option<Arc<str>>, Failed> {
    let asked = node.cells().iter().map(|cell| {
        let (store, host) = (cell.store.clone(), host.clone());
        async move { portals::find_handle(&store, host.as_str()).await }
    });
    Ok(first_found(join_all(asked).await)?.map(Arc::from))
}

async fn look_up(node: &Node, handle: &Handle) -> Result<Option<Arc<Shop>>, Failed> {
    let Some(merchant) = accounts::find(node.cell(), handle).await? else { return Ok(None) };
    let settings = portals::current(node.store(merchant.id), merchant.id).await?;
    let hosts = portals::list_hosts(node.store(merchant.id), merchant.id).await?;
    let brand = brand_of(node, merchant.id).await?;
    let shared = || Some(format!("{}/r/{}", node.settings.portal.url()?, merchant.handle));
    let address = hosts.first().map(|host| format!("https://{host}")).or_else(shared);
    let zone = settings.time_zone.map_or(Ok(Tz::UTC), |zone| zone.parse());
    Ok(Some(Arc::new(Shop {
        name: settings.shop_name.unwrap_or_else(|| merchant.name.clone()),
        help_email: settings.help_email,
        zone: zone.map_err(|_| Failed::Internal("a stored time zone is unknown"))?,
        number_prefix: settings.number_prefix,
        address,
        brand,
        transit_days: settings.transit_days.and_then(|days| u16::try_from(days).ok()).unwrap_or(TRANSIT_DAYS),
        exemptions: exemptions(&settings.exemptions)?,
        merchant,
    })))
}

fn exemptions(stored: &[String]) -> Result<Exemptions, Failed> {
    let mut exemptions = Exemptions::default();
    for text in stored {
        exemptions.insert(text.parse().map_err(|_| Failed::Internal("a stored exemption cannot be read"))?);
    }
    Ok(exemptions)
}

/// The merchant's brand as it is now.
pub(crate) async fn brand_of(node: &Node, merchant: MerchantId) -> Result<ShopBrand, Failed> {
    let settings = brands::current(node.store(merchant), merchant).await?;
    let texts = brands::list_texts(node.store(merchant), merchant).await?;
    let style = StyleSheet::of(&settings)?.map(|style| style.name);
    Ok(ShopBrand { settings, texts, style })
}

/// Look-ups of a moment ago, by the text that was looked up. Misses are remembered too, so that they cost no more than hits.
struct Recent<T>(quick_cache::sync::Cache<String, Remembered<T>>);

#[derive(Clone)]
struct Remembered<T> {
    found: Option<T>,
    looked_up: Duration,
}

impl<T: Clone> Default for Recent<T> {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(MOST_REMEMBERED))
    }
}

impl<T: Clone> Recent<T> {
    /// The result for `key`, remembered or from `look_up`.
    async fn find(&self, key: &str, now: Duration, look_up: impl Future<Output = Result<Option<T>, Failed>>) -> Result<Option<T>, Failed> {
        if let Some(Remembered { found, looked_up }) = self.0.get(key)
            && now.saturating_sub(looked_up) < TRUSTED_FOR
        {
            return Ok(found);
        }
        let found = look_up.await?;
        self.0.insert(key.to_owned(), Remembered { found: found.clone(), looked_up: now });
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_000);

    #[tokio::test]
    async fn a_look_up_is_trusted_for_four_seconds_whether_it_found_anything_or_not() {
        let recent = Recent::<u8>::default();
        for first in [Some(1), None] {
            let key = format!("{first:?}");
            let find = async |after, found| recent.find(&key, NOW + Duration::from_millis(after), async move { Ok(found) }).await;
            assert_eq!(find(0, first).await.unwrap(), first);
            assert_eq!(find(3_999, Some(2)).await.unwrap(), first, "remembered");
            assert_eq!(find(4_000, Some(2)).await.unwrap(), Some(2), "looked up again");
        }
    }

    #[tokio::test]
    async fn a_failure_is_not_remembered() {
        let recent = Recent::<u8>::default();
        assert!(recent.find("acme", NOW, async { Err(Failed::took_too_long()) }).await.is_err());
        assert_eq!(recent.find("acme", NOW, async { Ok(Some(1)) }).await.unwrap(), Some(1));
    }

    #[tokio::test]
    async fn names_that_nobody_has_do_not_fill_the_memory() {
        let recent = Recent::<u8>::default();
        for name in 0..3 * MOST_REMEMBERED {
            recent.find(&format!("nobody-{name}"), NOW, async { Ok(None) }).await.unwrap();
        }
        assert!(recent.0.len() < 2 * MOST_REMEMBERED, "{} are remembered", recent.0.len());
    }
}
