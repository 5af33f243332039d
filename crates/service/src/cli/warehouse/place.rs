//! Addresses of warehouses and vendors: options and output.

use clap::Args;
use domain::warehouse::place::Address;
use serde::Serialize;

/// The address options of a place.
#[derive(Args)]
pub(in crate::cli) struct AddressArgs {
    /// The address, as `name; street; city; state; postal code`.
    #[arg(long)]
    address: Option<String>,
    /// The company, together with `--address`.
    #[arg(long, requires = "address")]
    company: Option<String>,
    /// A second street line, together with `--address`.
    #[arg(long, requires = "address")]
    street2: Option<String>,
}

impl AddressArgs {
    /// Parses the address, if one was given.
    pub(in crate::cli) fn address(self) -> anyhow::Result<Option<Address>> {
        let Some(text) = self.address else { return Ok(None) };
        let words: Vec<String> = text.split(';').map(|word| word.trim().to_owned()).collect();
        let Ok([name, street, city, state, zip]) = <[String; 5]>::try_from(words) else {
            anyhow::bail!("--address has the wrong number of parts; write `name; street; city; state; postal code`");
        };
        Ok(Some(Address { name, company: self.company, street, street2: self.street2, city, state, zip }))
    }
}

/// An address in JSON output.
#[derive(Serialize)]
pub(in crate::cli) struct AddressOut {
    name: String,
    company: Option<String>,
    street: String,
    street2: Option<String>,
    city: String,
    state: String,
    zip: String,
}

impl From<Address> for AddressOut {
    fn from(address: Address) -> Self {
        let Address { name, company, street, street2, city, state, zip } = address;
        Self { name, company, street, street2, city, state, zip }
    }
}

/// An address in one line, for tables.
pub(in crate::cli) fn line(address: &Address) -> String {
    let Address { name, company, street, street2, city, state, zip } = address;
    let words = [Some(name), company.as_ref(), Some(street), street2.as_ref(), Some(city), Some(state), Some(zip)];
    words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("; ")
}
