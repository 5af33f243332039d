// The carrier takes its time over the label. The return is confirmed at once, and the label follows.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

/** A purchase takes several calls, each of which is late. */
const LATE = 3_000;

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.late(LATE);
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.reads("Your label is being made.");
  await shopper.sees("Your return is confirmed", "done-pending");
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "done-arrived");
};
