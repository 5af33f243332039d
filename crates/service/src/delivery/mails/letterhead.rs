//! The letterhead of a merchant's mails: sender, brand, and the address of the portal.

use domain::id::MerchantId;
use domain::merchants::brand::{Brand, Wording};
use store::Failed;
use store::merchants::brands::{self, BrandSettings, BrandText};
use store::merchants::mail_settings::{self, Sender};

use crate::node::Node;
use crate::platform::texts::Language;

/// The height of a logo, and its greatest width, in pixels.
const LOGO: (u32, u32) = (30, 160);

/// Everything that a merchant's mails show of the merchant.
#[derive(Clone, Debug)]
pub struct Letterhead {
    pub sender: Sender,
    pub(super) look: Brand,
    pub(super) settings: BrandSettings,
    /// The texts that the merchant words itself.
    pub(super) texts: Vec<BrandText>,
    pub(super) logo: Option<Logo>,
    /// For dark pages.
    pub(super) dark_logo: Option<Logo>,
}

/// A logo at the portal's address. It is the same for every mail, so it tells nobody who opens one.
#[derive(Clone, Debug)]
pub(super) struct Logo {
    pub(super) url: String,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Letterhead {
    /// The letterhead that the merchant has now.
    pub async fn current(node: &Node, merchant: MerchantId) -> Result<Self, Failed> {
        Self::at(node, merchant, |sender| portal_address(node, sender)).await
    }

    /// The same, with logos below the address that `portal` names.
    pub(crate) async fn at(node: &Node, merchant: MerchantId, portal: impl FnOnce(&Sender) -> Option<String>) -> Result<Self, Failed> {
        let sender = mail_settings::current_sender(node.store(merchant), merchant).await?;
        let settings = brands::current(node.store(merchant), merchant).await?;
        let texts = brands::list_texts(node.store(merchant), merchant).await?;
        let portal = portal(&sender).filter(|_| settings.logo_hash.is_some());
        let (logo, dark_logo) = match portal {
            Some(portal) => {
                let heads = brands::logo_heads(node.store(merchant), merchant).await?;
                let logo = |hash: Option<&String>, head: Option<Vec<u8>>| {
                    Logo::shown(format!("{portal}/brand/{}.png", hash?), size_of_png(&head?)?)
                };
                (logo(settings.logo_hash.as_ref(), heads.light), logo(settings.dark_logo_hash.as_ref(), heads.dark))
            }
            None => (None, None),
        };
        Ok(Self { look: settings.look()?, sender, settings, texts, logo, dark_logo })
    }

    /// The merchant's own wording of a text.
    pub(super) fn text(&self, language: Language, text: Wording) -> Option<&str> {
        let own = self.texts.iter().find(|own| own.language == language.code() && own.name == text.as_str());
        own.map(|own| &*own.wording)
    }
}

impl Logo {
    /// A logo of this size, as large as it is shown. Mail programs do not scale pictures by style sheets alone.
    pub(super) fn shown(url: String, (width, height): (u32, u32)) -> Option<Self> {
        let (high, widest) = LOGO;
        let wide = width.checked_mul(high)?.checked_div(height)?.max(1);
        if wide <= widest {
            return Some(Self { url, width: wide, height: high });
        }
        let high = height.checked_mul(widest)?.checked_div(width)?.max(1);
        Some(Self { url, width: widest, height: high })
    }
}

/// Width and height of a PNG, from the first chunk of its file.
fn size_of_png(head: &[u8]) -> Option<(u32, u32)> {
    let number = |from: usize| Some(u32::from_be_bytes(head.get(from..from + 4)?.try_into().ok()?));
    Some((number(16)?, number(20)?))
}

/// The public URL of the portal's first page, at the merchant's own host name if it has one.
pub(crate) fn portal_address(node: &Node, sender: &Sender) -> Option<String> {
    let shared = || Some(format!("{}/r/{}", node.settings.portal.url()?, sender.handle));
    sender.host.as_ref().map(|host| format!("https://{host}")).or_else(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logo_is_thirty_pixels_high_unless_it_is_too_wide() {
        let shown = |size| Logo::shown(String::new(), size).map(|logo| (logo.width, logo.height));
        assert_eq!(shown((240, 90)), Some((80, 30)));
        assert_eq!(shown((20, 10)), Some((60, 30)));
        assert_eq!(shown((480, 45)), Some((160, 15)));
        assert_eq!(shown((1, 90)), Some((1, 30)));
        assert_eq!(shown((90, 0)), None);
        assert_eq!(size_of_png(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\xe0\0\0\0Z"), Some((480, 90)));
        assert_eq!(size_of_png(b"short"), None);
    }
}
