// The shopper keeps the goods and is refunded all the same.

import { order, shoes } from "../orders.mjs";
import { confirms, findsOrder, givesReason, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ offers: ["mail-back", "customer-keep"] });
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe", "Damaged or faulty");
  await shopper.sees("Send it back, or keep it?", "how-keep");
  await takes(shopper, "Keep it");
  await shopper.sees("Check before you confirm", "check-keep");
  await confirms(shopper, merchant);
  await shopper.reads("$54.00");
  await shopper.sees("All done. It is yours to keep", "done-keep");
  await shopper.follows("Follow this return");
  await shopper.sees("It is yours to keep", "status-kept");
};
