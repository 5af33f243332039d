//! The shops' products and customers. All of them are fictitious.

/// A product on sale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) sku: &'static str,
    pub(super) title: &'static str,
    pub(super) cents: u32,
    /// The weight in thousandths of a pound.
    pub(super) thousandths: u32,
    /// All its sizes have the same price.
    pub(super) sizes: Option<&'static Sizes>,
}

/// The sizes of a product.
#[derive(Debug)]
pub(super) struct Sizes {
    pub(super) variant_identifier: &'static str,
    /// SKU and size.
    pub(super) skus: &'static [(&'static str, &'static str)],
}

const fn product(sku: &'static str, title: &'static str, cents: u32, thousandths: u32) -> Product {
    Product { sku, title, cents, thousandths, sizes: None }
}

const fn sized(product: Product, sizes: &'static Sizes) -> Product {
    Product { sizes: Some(sizes), ..product }
}

static RUNNING: Sizes =
    Sizes { variant_identifier: "RUN", skus: &[("RUN-41", "41"), ("RUN-42", "42"), ("RUN-43", "43"), ("RUN-44", "44")] };
static BOOTS: Sizes = Sizes { variant_identifier: "BOOT", skus: &[("BOOT-40", "40"), ("BOOT-41", "41"), ("BOOT-42", "42")] };
static SANDALS: Sizes = Sizes { variant_identifier: "SANDAL", skus: &[("SANDAL-37", "37"), ("SANDAL-38", "38"), ("SANDAL-39", "39")] };
static BAGS: Sizes = Sizes { variant_identifier: "BAG", skus: &[("BAG-0", "regular"), ("BAG-0-L", "long")] };

pub(super) const SHOES: [Product; 7] = [
    sized(product("RUN-42", "Running shoe, blue, 42", 8_900, 1_600), &RUNNING),
    sized(product("RUN-43", "Running shoe, blue, 43", 8_900, 1_650), &RUNNING),
    sized(product("BOOT-41", "Leather boot, brown, 41", 15_900, 3_200), &BOOTS),
    sized(product("SANDAL-38", "Sandal, white, 38", 4_500, 900), &SANDALS),
    product("LACE-120", "Laces, 120 cm", 490, 50),
    product("SOCK-3", "Socks, three pairs", 1_290, 300),
    product("KID-30", "Children's trainer, red, 30", 3_900, 800),
];

pub(super) const OUTDOOR: [Product; 8] = [
    product("TENT-2", "Tent for two", 24_900, 6_500),
    product("TENT-6", "Family tent", 54_900, 24_000),
    sized(product("BAG-0", "Sleeping bag, 0 °C", 12_900, 3_900), &BAGS),
    product("STOVE-1", "Gas stove", 5_900, 1_200),
    product("LAMP-H", "Head lamp", 3_490, 250),
    product("PACK-45", "Backpack, 45 l", 13_900, 3_100),
    product("BOTTLE-1", "Bottle, 1 l", 1_890, 400),
    product("ROPE-30", "Rope, 30 m", 7_900, 4_800),
];

pub(super) const PEOPLE: [(&str, &str); 10] = [
    ("Ada", "Example"),
    ("Ben", "Sample"),
    ("Carla", "Instance"),
    ("Dario", "Specimen"),
    ("Elif", "Placeholder"),
    ("Femi", "Sample"),
    ("Grace", "Example"),
    ("Hiro", "Instance"),
    ("Ines", "Specimen"),
    ("Jonas", "Placeholder"),
];

pub(super) const CITIES: [(&str, &str, &str); 5] = [
    ("Exampleton", "OH", "43001"),
    ("Sampleville", "NY", "12001"),
    ("Placeholder Springs", "CO", "80901"),
    ("Specimen City", "CA", "90001"),
    ("Instance Harbor", "ME", "04101"),
];
