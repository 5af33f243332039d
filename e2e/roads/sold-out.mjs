// Everything is sold out; and what was chosen turns out to be sold out when the merchant orders it.

import { order, shoes } from "../orders.mjs";
import { confirms, findsOrder, givesReason, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  const shelf = (left) => [
    ["BLUE-41", "41", null, 0],
    ["BLUE-43", "43", null, left],
  ];
  await merchant.shelves(shelf(0));
  await merchant.sells(order(stage.now(), [shoes("L1", { exchangeable: true })]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await shopper.reads("Everything we could exchange it for is sold out.");
  await shopper.sees("What would you like instead?", "instead-sold-out");

  await merchant.shelves(shelf(1));
  await merchant.refusesExchanges();
  await shopper.reloads();
  await takes(shopper, "Another size or colour");
  await takes(shopper, "43");
  await takes(shopper, "Send it with a label");
  await confirms(shopper, merchant, "BLUE-43");
  await shopper.follows("Follow this return");
  await shopper.reloadsUntil("What changes");
  await shopper.sees("Sold out. You get a refund instead", "status-sold-out");
};
