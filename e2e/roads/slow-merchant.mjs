// The merchant's system does not say in time what is in stock. The shopper goes on without an exchange, or tries again.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.shelves([["BLUE-43", "43", null, 9]]);
  await merchant.slow(8_000);
  await merchant.sells(order(stage.now(), [shoes("L1", { exchangeable: true })]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await shopper.reads("We can’t see what is in stock right now.");
  await shopper.sees("What would you like instead?", "instead-slow");
  await merchant.slow(0);
  await shopper.follows("Try again");
  await shopper.reads("Another size or colour Free");
  await takes(shopper, "Refund");
  await sendsBack(shopper, merchant);
};
