// Sample orders, with correct sums.

const DAY = 86_400_000;
export const EMAIL = "pat@example.com";
export const POSTCODE = "10001";

const EACH = { product_amount_cents: 5000, tax_amount_cents: 400 };

/** A line of shoes at 50.00 with 4.00 tax each. With `exchangeable`, there are variants of it. */
export const shoes = (identifier, { quantity = 1, title = "Running shoe, blue, 42", exchangeable = false, tags = [] } = {}) => ({
  identifier,
  sku: "SHOE-42",
  title,
  quantity,
  quantity_shipped: quantity,
  quantity_canceled: 0,
  variant_identifier: exchangeable ? "V-SHOE" : null,
  tags,
  unit_price_amount_cents: EACH.product_amount_cents,
  product_amount_cents: EACH.product_amount_cents * quantity,
  tax_amount_cents: EACH.tax_amount_cents * quantity,
  discount_amount_cents: 0,
  weight: 1.5,
});

/** An order of these lines, shipped five days before `now`. */
export const order = (now, lines, { identifier = "DS-10482", street = "1 Example Street" } = {}) => {
  const at = (days) => new Date(now.getTime() - days * DAY).toISOString().replace(/\.\d+Z/, "Z");
  const sum = (field) => lines.reduce((sum, line) => sum + line[field], 0);
  const [product_amount_cents, tax_amount_cents] = [sum("product_amount_cents"), sum("tax_amount_cents")];
  return {
    identifier,
    status: "Shipped",
    currency: "USD",
    total_amount_cents: product_amount_cents + tax_amount_cents,
    product_amount_cents,
    tax_amount_cents,
    created_at: at(7),
    updated_at: at(5),
    tags: [],
    customer: { identifier: "C-1", first_name: "Pat", last_name: "Example", email: EMAIL },
    shipping_address: { name: "Pat Example", street1: street, city: "Sampleville", state: "NY", zip_code: POSTCODE, country_code: "US" },
    items: lines.map((line) => ({ ...line, shipped_date: at(5) })),
    transactions: [],
    refunds: [],
    discounts: [],
  };
};

/** The order as it is sent after `units` units of its first line were refunded for the return `rma`. */
export const refunded = (order, now, rma, units, cents) => ({
  ...order,
  updated_at: now.toISOString().replace(/\.\d+Z/, "Z"),
  refunds: [
    {
      identifier: `${order.identifier}-F1`,
      total_refund_amount_cents: cents,
      refund_line_items: [{ identifier: `${order.identifier}-F1-1`, quantity: units, order_item_identifier: order.items[0].identifier }],
      created_at: now.toISOString().replace(/\.\d+Z/, "Z"),
      rma_identifier: rma,
    },
  ],
});
