//! The countries in which consumers have the right of withdrawal, and their time zones.

use std::str::FromStr;

/// A member state of the European Union, or one of the three others in the European Economic Area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Country {
    Austria,
    Belgium,
    Bulgaria,
    Croatia,
    Cyprus,
    Czechia,
    Denmark,
    Estonia,
    Finland,
    France,
    Germany,
    Greece,
    Hungary,
    Iceland,
    Ireland,
    Italy,
    Latvia,
    Liechtenstein,
    Lithuania,
    Luxembourg,
    Malta,
    Netherlands,
    Norway,
    Poland,
    Portugal,
    Romania,
    Slovakia,
    Slovenia,
    Spain,
    Sweden,
}

/// The code is not one of a [`Country`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a country of the European Economic Area; write its ISO 3166 code, such as DE or DEU")]
pub struct NoCountry;

/// The time zones in which a country's days are reckoned, by their IANA names.
///
/// Most countries have one. Where there are several, an address does not tell which, so both choices are in the consumer's favour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Turns the moment of a delivery into its day: the zone of the capital, which is never behind `ends`.
    pub arrives: &'static str,
    /// Ends the last day of the period: the westernmost zone.
    pub ends: &'static str,
}

impl FromStr for Country {
    type Err = NoCountry;

    /// From an ISO 3166 code of two or three letters, in either case. Parts of a country that have a code of their own and in which
    /// EU law holds count as the country: Åland, and the French departments and Saint Martin overseas.
    fn from_str(code: &str) -> Result<Self, NoCountry> {
        Ok(match code.trim().to_ascii_uppercase().as_str() {
            "AT" | "AUT" => Self::Austria,
            "BE" | "BEL" => Self::Belgium,
            "BG" | "BGR" => Self::Bulgaria,
            "HR" | "HRV" => Self::Croatia,
            "CY" | "CYP" => Self::Cyprus,
            "CZ" | "CZE" => Self::Czechia,
            "DK" | "DNK" => Self::Denmark,
            "EE" | "EST" => Self::Estonia,
            "FI" | "FIN" | "AX" | "ALA" => Self::Finland,
            "FR" | "FRA" | "GF" | "GUF" | "GP" | "GLP" | "MF" | "MAF" | "MQ" | "MTQ" | "RE" | "REU" | "YT" | "MYT" => Self::France,
            "DE" | "DEU" => Self::Germany,
            // EL is the European Union's own code for Greece.
            "GR" | "GRC" | "EL" => Self::Greece,
            "HU" | "HUN" => Self::Hungary,
            "IS" | "ISL" => Self::Iceland,
            "IE" | "IRL" => Self::Ireland,
            "IT" | "ITA" => Self::Italy,
            "LV" | "LVA" => Self::Latvia,
            "LI" | "LIE" => Self::Liechtenstein,
            "LT" | "LTU" => Self::Lithuania,
            "LU" | "LUX" => Self::Luxembourg,
            "MT" | "MLT" => Self::Malta,
            "NL" | "NLD" => Self::Netherlands,
            "NO" | "NOR" => Self::Norway,
            "PL" | "POL" => Self::Poland,
            "PT" | "PRT" => Self::Portugal,
            "RO" | "ROU" => Self::Romania,
            "SK" | "SVK" => Self::Slovakia,
            "SI" | "SVN" => Self::Slovenia,
            "ES" | "ESP" => Self::Spain,
            "SE" | "SWE" => Self::Sweden,
            _ => return Err(NoCountry),
        })
    }
}

impl Country {
    /// Every country, in the order of their English names.
    pub const ALL: [Self; 30] = [
        Self::Austria,
        Self::Belgium,
        Self::Bulgaria,
        Self::Croatia,
        Self::Cyprus,
        Self::Czechia,
        Self::Denmark,
        Self::Estonia,
        Self::Finland,
        Self::France,
        Self::Germany,
        Self::Greece,
        Self::Hungary,
        Self::Iceland,
        Self::Ireland,
        Self::Italy,
        Self::Latvia,
        Self::Liechtenstein,
        Self::Lithuania,
        Self::Luxembourg,
        Self::Malta,
        Self::Netherlands,
        Self::Norway,
        Self::Poland,
        Self::Portugal,
        Self::Romania,
        Self::Slovakia,
        Self::Slovenia,
        Self::Spain,
        Self::Sweden,
    ];

    /// The time zones in which days arrive and end.
    #[must_use]
    pub const fn zones(self) -> Zones {
        let arrives = match self {
            Self::Austria => "Europe/Vienna",
            Self::Belgium => "Europe/Brussels",
            Self::Bulgaria => "Europe/Sofia",
            Self::Croatia => "Europe/Zagreb",
            Self::Cyprus => "Asia/Nicosia",
            Self::Czechia => "Europe/Prague",
            Self::Denmark => "Europe/Copenhagen",
            Self::Estonia => "Europe/Tallinn",
            Self::Finland => "Europe/Helsinki",
            Self::France => "Europe/Paris",
            Self::Germany => "Europe/Berlin",
            Self::Greece => "Europe/Athens",
            Self::Hungary => "Europe/Budapest",
            Self::Iceland => "Atlantic/Reykjavik",
            Self::Ireland => "Europe/Dublin",
            Self::Italy => "Europe/Rome",
            Self::Latvia => "Europe/Riga",
            Self::Liechtenstein => "Europe/Vaduz",
            Self::Lithuania => "Europe/Vilnius",
            Self::Luxembourg => "Europe/Luxembourg",
            Self::Malta => "Europe/Malta",
            Self::Netherlands => "Europe/Amsterdam",
            Self::Norway => "Europe/Oslo",
            Self::Poland => "Europe/Warsaw",
            Self::Portugal => "Europe/Lisbon",
            Self::Romania => "Europe/Bucharest",
            Self::Slovakia => "Europe/Bratislava",
            Self::Slovenia => "Europe/Ljubljana",
            Self::Spain => "Europe/Madrid",
            Self::Sweden => "Europe/Stockholm",
        };
        let ends = match self {
            Self::France => "America/Martinique",
            Self::Portugal => "Atlantic/Azores",
            Self::Spain => "Atlantic/Canary",
            _ => arrives,
        };
        Zones { arrives, ends }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const CODES: &str = "AT BE BG HR CY CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT NL NO PL PT RO SK SI ES SE";

    #[test]
    fn every_country_has_a_code_in_either_case() {
        let read = |codes: &str| codes.split(' ').map(str::parse).collect::<Result<Vec<Country>, _>>();
        assert_eq!(read(CODES), Ok(Country::ALL.to_vec()));
        assert_eq!(read(&CODES.to_lowercase()), Ok(Country::ALL.to_vec()));
        assert_eq!(read("DEU el AX mtq"), Ok(vec![Country::Germany, Country::Greece, Country::Finland, Country::France]));
        assert_eq!(" nl\n".parse(), Ok(Country::Netherlands));
    }

    #[test]
    fn others_are_not_concerned() {
        for code in ["", "D", "US", "USA", "GB", "CH", "UA", "TR", "GL", "FO", "AW", "PF", "SJ", "Germany"] {
            assert_eq!(code.parse::<Country>(), Err(NoCountry), "{code}");
        }
    }

    #[test]
    fn every_country_has_a_zone_of_its_own() {
        let zones: BTreeSet<&str> = Country::ALL.into_iter().map(|country| country.zones().arrives).collect();
        assert_eq!(zones.len(), Country::ALL.len());
        let several: Vec<Country> = Country::ALL.into_iter().filter(|country| country.zones().arrives != country.zones().ends).collect();
        assert_eq!(several, [Country::France, Country::Portugal, Country::Spain]);
    }
}
