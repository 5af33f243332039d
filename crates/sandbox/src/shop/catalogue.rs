//! What the shops sell, and to whom. None of it exists.

/// Something that can be bought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) sku: &'static str,
    pub(super) title: &'static str,
    pub(super) cents: u32,
    /// Its weight in thousandths of a pound.
    pub(super) thousandths: u32,
}

const fn product(sku: &'static str, title: &'static str, cents: u32, thousandths: u32) -> Product {
    Product { sku, title, cents, thousandths }
}

pub(super) const SHOES: [Product; 7] = [
    product("RUN-42", "Running shoe, blue, 42", 8_900, 1_600),
    product("RUN-43", "Running shoe, blue, 43", 8_900, 1_650),
    product("BOOT-41", "Leather boot, brown, 41", 15_900, 3_200),
    product("SANDAL-38", "Sandal, white, 38", 4_500, 900),
    product("LACE-120", "Laces, 120 cm", 490, 50),
    product("SOCK-3", "Socks, three pairs", 1_290, 300),
    product("KID-30", "Children's trainer, red, 30", 3_900, 800),
];

pub(super) const OUTDOOR: [Product; 8] = [
    product("TENT-2", "Tent for two", 24_900, 6_500),
    product("TENT-6", "Family tent", 54_900, 24_000),
    product("BAG-0", "Sleeping bag, 0 °C", 12_900, 3_900),
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
