//! How places are written on the command line, and shown.

use clap::Args;
use domain::place::Address;
use serde::Serialize;

/// Where a place is.
#[derive(Args)]
pub(super) struct Where {
    /// Where it is, as `name; street; city; state; postal code`.
    #[arg(long)]
    address: Option<String>,
    /// Of which company, with `--address`.
    #[arg(long, requires = "address")]
    company: Option<String>,
    /// A second line of the street, with `--address`.
    #[arg(long, requires = "address")]
    street2: Option<String>,
}

impl Where {
    /// The address that was given, if one was.
    pub(super) fn address(self) -> anyhow::Result<Option<Address>> {
        let Some(text) = self.address else { return Ok(None) };
        let words: Vec<String> = text.split(';').map(|word| word.trim().to_owned()).collect();
        let Ok([name, street, city, state, zip]) = <[String; 5]>::try_from(words) else {
            anyhow::bail!("an address is written `name; street; city; state; postal code`");
        };
        Ok(Some(Address { name, company: self.company, street, street2: self.street2, city, state, zip }))
    }
}

/// An address for scripts.
#[derive(Serialize)]
pub(super) struct ShownAddress {
    name: String,
    company: Option<String>,
    street: String,
    street2: Option<String>,
    city: String,
    state: String,
    zip: String,
}

impl From<Address> for ShownAddress {
    fn from(address: Address) -> Self {
        let Address { name, company, street, street2, city, state, zip } = address;
        Self { name, company, street, street2, city, state, zip }
    }
}

/// An address for people, in one line.
pub(super) fn line(address: &Address) -> String {
    let Address { name, company, street, street2, city, state, zip } = address;
    let words = [Some(name), company.as_ref(), Some(street), street2.as_ref(), Some(city), Some(state), Some(zip)];
    words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("; ")
}
