// Nothing was sent in time, so the return has run out, and the time for returns is over.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

export const movesClock = true;

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.getsTheLabel();
  await stage.advance("31d");
  await findsOrder(shopper, merchant);
  await shopper.reloadsUntil("This return has run out");
  await shopper.sees("This return has run out", "status-expired");
  await shopper.opens(merchant, "items");
  await shopper.reads("The time for returns ended on ….");
  await shopper.sees("Nothing in this order can come back", "items-window-over");
};
