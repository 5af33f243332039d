// Pages that are not there, and too many attempts to find an order.

import { order, shoes } from "../orders.mjs";

/** One more than are allowed from one address in a quarter of an hour. */
const ATTEMPTS = 11;

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await shopper.opens(merchant, "no-such-page", 404);
  await shopper.sees("We can’t find this page", "not-found");
  await shopper.opens(merchant, "items", 401);
  await shopper.sees("You were away for a while", "not-signed-in");
  await shopper.opens({ portal: `${stage.portal}/r/nobody` }, "", 404);
  await shopper.sees("We can’t find this page", "no-shop");
  await shopper.opens(merchant);
  await shopper.types("Order number", "DS-1");
  await shopper.types("E-mail or postcode", "sam@example.com");
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) await shopper.presses("Find my order");
  await shopper.presses("Find my order", 429);
  await shopper.sees("Let’s take a short break", "too-many");
};
