// Several units of several lines in one return, the rest in another, and a refund of a part.

import { order, refunded, shoes } from "../orders.mjs";
import { answersReason, confirms, findsOrder, givesReason, sendsBack, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ bonus_cents: 0, managed_receiving: true });
  const sold = order(stage.now(), [shoes("L1", { quantity: 3 }), shoes("L2", { title: "Trail boot, brown, 41" })]);
  await merchant.sells(sold);

  await findsOrder(shopper, merchant);
  await shopper.ticks("Running shoe");
  await shopper.selects("How many go back?", "2 of 3");
  await shopper.ticks("Trail boot");
  await shopper.sees("What would you like to send back?", "items-ticked");
  await shopper.presses("Continue");
  await shopper.reads("Step 2 of 5 · item 1 of 2");
  await shopper.sees("Why is it going back?", "reason-first");
  await answersReason(shopper);
  await takes(shopper, "Refund");
  await shopper.reads("Step 2 of 5 · item 2 of 2");
  await answersReason(shopper, "Damaged or faulty");
  await takes(shopper, "Gift card");
  await takes(shopper, "Send it with a label");
  await shopper.reads("2 of 3", "Estimated refund $108.00", "Gift card $54.00");
  await shopper.sees("Check before you confirm", "check-several");
  const rma = await confirms(shopper, merchant);

  await shopper.opens(merchant, "items");
  await shopper.reads("1 of 3 can come back. Already in another return.");
  // An order is exchanged once, and a gift card counts as an exchange, so there is nothing to choose.
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.opens(merchant, "returns");
  await shopper.sees("You have 2 returns for this order", "returns");
  await merchant.publishes(refunded(sold, stage.now(), rma, 1, 5400));
  await merchant.closesReceiving(rma);
  await shopper.opens(merchant, `returns/${rma}`);
  await shopper.reads("So far: $54.00, to the way you paid.", "Not arrived");
  await shopper.sees("We refunded a part", "status-partly-refunded");
};
