// A gift: whoever was given it sends it back, sees no price, and gets a gift card. The order's number and postcode show nobody else.

import { POSTCODE, order, refunded, shoes } from "../orders.mjs";
import { answersReason, confirms, findsOrder, takes } from "../steps.mjs";

const GIFTEE = "lin@example.com";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ offers: ["mail-back", "express-returns"] });
  const sold = { ...order(stage.now(), [shoes("L1")]), tags: ["gift"] };
  await merchant.sells(sold);

  await findsOrder(shopper, merchant, POSTCODE);
  await shopper.reads("This was a gift, so you see no prices. What you get goes to you, and the buyer hears nothing from us.");
  await shopper.sees("What would you like to send back?", "items-gift");
  await shopper.ticks("Running shoe");
  await shopper.presses("Continue");
  await shopper.reads("Enter your e-mail, such as name@example.com");
  await shopper.sees("What would you like to send back?", "items-gift-error");
  await shopper.types("Your e-mail", GIFTEE);
  await shopper.presses("Continue");
  await answersReason(shopper);
  await takes(shopper, "Send it with a label");
  await shopper.reads("It goes to", GIFTEE, "Gift card for what it is worth");
  await shopper.sees("Check before you confirm", "check-gift");
  const rma = await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "done-gift");
  await shopper.follows("Follow this return");
  await shopper.sees("Waiting for you to send it", "status-gift");
  await merchant.publishes(refunded(sold, stage.now(), rma, 1, 5400));
  await shopper.reloads();
  await shopper.sees("Your return is complete", "status-gift-complete");
};
