// The carrier makes no label, because the address of the order has no street. The shopper chooses another way back.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

export const movesClock = true;

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")], { street: "" }));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.reads("Your label is being made.");
  // A refusal is believed when it is repeated: after 5 and after 40 seconds.
  await stage.advance("10s");
  await stage.advance("1m");
  await shopper.reloadsUntil("The carrier refused to make a label for the address of this order. Choose another way back, or write to us.");
  await shopper.sees("Your return is confirmed, but the carrier makes no label", "done-refused");
  await shopper.presses("Choose another way back");
  await shopper.sees("How would you like to send it back?", "how-after-refusal");
};
