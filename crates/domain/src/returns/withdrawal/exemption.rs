//! Goods from whose contract a consumer cannot withdraw. **For review by counsel:** Directive 2011/83/EU, Articles 3 and 16.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::super::rma::policy::Tag;
use super::super::rma::sale::{Sale, SoldLine};
use super::super::rma::word::words;

words! {
    /// The legal ground of an exemption.
    Ground, "legal ground" {
        /// Article 16 (c): made to the consumer's specifications or clearly personalised.
        MadeToOrder = "made_to_order",
        /// Article 16 (d): deteriorates or expires rapidly.
        Perishable = "perishable",
        /// Article 16 (e): sealed for health or hygiene, and unsealed after delivery.
        Hygiene = "hygiene",
        /// Article 16 (f): inseparably mixed with other items after delivery.
        Mixed = "mixed",
        /// Article 16 (g): alcohol whose price was agreed long before its delivery.
        Alcohol = "alcohol",
        /// Article 16 (i): sealed recordings or software, unsealed after delivery.
        Recording = "recording",
        /// Article 16 (j): a newspaper, periodical or magazine.
        Press = "press",
        /// Article 3: the shop sells to businesses only.
        NoConsumers = "no_consumers",
        /// The shop sells to no country in which consumers have the right.
        NoCountry = "no_country",
    }
}

/// The goods that a merchant exempts, each with its ground.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exemptions {
    /// The ground for everything that the shop sells.
    pub shop: Option<Ground>,
    /// The grounds for goods with a tag.
    pub tags: BTreeMap<Tag, Ground>,
}

/// An exemption as operators write it, and as it is stored: `made_to_order=custom` for goods with a tag, `no_consumers` for the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exemption {
    pub ground: Ground,
    /// `None` for everything that the shop sells.
    pub tag: Option<Tag>,
}

/// The text is not a valid [`Exemption`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "name the legal ground, and the tag of the goods unless it holds for the whole shop, such as made_to_order=custom or no_consumers; the grounds are made_to_order, perishable, hygiene, mixed, alcohol, recording, press, no_consumers and no_country"
)]
pub struct NoExemption;

impl FromStr for Exemption {
    type Err = NoExemption;

    fn from_str(text: &str) -> Result<Self, NoExemption> {
        let (ground, tag) = text.trim().split_once('=').map_or((text.trim(), None), |(ground, tag)| (ground.trim(), Some(Tag::new(tag))));
        let ground: Ground = ground.replace('-', "_").parse().map_err(|_| NoExemption)?;
        match &tag {
            Some(tag) if tag.as_str().is_empty() => Err(NoExemption),
            _ => Ok(Self { ground, tag }),
        }
    }
}

impl fmt::Display for Exemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            Some(tag) => write!(f, "{}={}", self.ground, tag.as_str()),
            None => write!(f, "{}", self.ground),
        }
    }
}

impl Exemptions {
    /// Adds an exemption; of two for the same goods the last holds.
    pub fn insert(&mut self, exemption: Exemption) {
        match exemption.tag {
            Some(tag) => _ = self.tags.insert(tag, exemption.ground),
            None => self.shop = Some(exemption.ground),
        }
    }

    /// Each exemption, that of the shop first.
    pub fn iter(&self) -> impl Iterator<Item = Exemption> {
        let shop = self.shop.map(|ground| Exemption { ground, tag: None });
        shop.into_iter().chain(self.tags.iter().map(|(tag, ground)| Exemption { ground: *ground, tag: Some(tag.clone()) }))
    }

    /// The ground on which a line's goods are exempt, if they are.
    #[must_use]
    pub fn ground(&self, sale: &Sale, line: &SoldLine) -> Option<Ground> {
        self.shop.or_else(|| line.tags.iter().chain(&sale.tags).find_map(|tag| self.tags.get(tag).copied()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::rma::sale::tests::{line, sale};
    use super::*;

    #[test]
    fn an_exemption_names_its_ground_and_perhaps_a_tag() {
        let custom = Exemption { ground: Ground::MadeToOrder, tag: Some(Tag::new("custom")) };
        assert_eq!(" made-to-order = Custom ".parse(), Ok(custom));
        assert_eq!("no_consumers".parse(), Ok(Exemption { ground: Ground::NoConsumers, tag: None }));
        for wrong in ["", "custom", "=custom", "made_to_order=", "because=custom"] {
            assert_eq!(wrong.parse::<Exemption>(), Err(NoExemption), "{wrong}");
        }
    }

    #[test]
    fn goods_are_exempt_by_a_tag_of_their_line_or_order_or_with_the_whole_shop() {
        let mut custom = line();
        custom.tags = vec![Tag::new("Custom")];
        let sale = sale(vec![custom, line()]);
        let mut exemptions = Exemptions::default();
        exemptions.insert("made_to_order=custom".parse().expect("an exemption"));
        let grounds = |exemptions: &Exemptions| sale.lines.iter().map(|line| exemptions.ground(&sale, line)).collect::<Vec<_>>();
        assert_eq!(grounds(&exemptions), [Some(Ground::MadeToOrder), None]);
        exemptions.insert("no_country".parse().expect("an exemption"));
        assert_eq!(grounds(&exemptions), [Some(Ground::NoCountry); 2]);
    }

    proptest! {
        #[test]
        fn an_exemption_is_read_as_it_is_written(at in 0..Ground::ALL.len(), tag in proptest::option::of("[a-z0-9]{1,9}")) {
            let exemption = Exemption { ground: Ground::ALL[at], tag: tag.as_deref().map(Tag::new) };
            prop_assert_eq!(exemption.to_string().parse(), Ok(exemption));
        }
    }
}
