// The shopper was away for too long, finds the order again and goes on where they were.

import { EMAIL, order, shoes } from "../orders.mjs";
import { findsOrder, sendsBack, takes } from "../steps.mjs";

export const movesClock = true;

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await shopper.ticks("Running shoe");
  await shopper.presses("Continue");
  await shopper.chooses("Too small");
  await stage.advance("31m");
  await shopper.presses("Continue", 401);
  await shopper.sees("You were away for a while", "session-over");
  await shopper.types("Order number", "DS-10482");
  await shopper.types("E-mail or postcode", EMAIL);
  await shopper.presses("Go on");
  await shopper.sees("Why is it going back?", "reason-kept");
  await takes(shopper, "Too small");
  await sendsBack(shopper, merchant);
};
