// A return is cancelled, and the item can be returned again. The merchant gives no address for questions.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ help_email: null });
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.follows("Follow this return");
  await shopper.follows("Cancel this return");
  await shopper.sees("Cancel this return?", "cancel");
  await shopper.follows("No, keep the return");
  await shopper.follows("Cancel this return");
  await shopper.presses("Yes, cancel it");
  await shopper.sees("This return is cancelled", "status-cancelled");
  await shopper.follows("Start a new return");
  await givesReason(shopper, "Running shoe");
  await shopper.sees("How would you like to send it back?", "how-again");
};
