// A gift card with something on top instead of a refund.

import { order, shoes } from "../orders.mjs";
import { answersReason, confirms, findsOrder, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ bonus_cents: 500 });
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await shopper.ticks("Running shoe");
  await shopper.presses("Continue");
  await answersReason(shopper, "I’d rather not say");
  await shopper.presses("Continue");
  await shopper.reads("Choose what you would like instead");
  await shopper.sees("What would you like instead?", "instead-error");
  await shopper.reads("Gift card $59.00");
  await takes(shopper, "Gift card");
  await takes(shopper, "Send it with a label");
  await shopper.reads("Gift card, with $5.00 on top $59.00");
  await shopper.sees("Check before you confirm", "check-gift-card");
  await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "done");
  await shopper.follows("Follow this return");
  await shopper.reloadsUntil("Your gift card is ordered");
  await shopper.sees("Waiting for you to send it", "status-gift-card");
};
