// A parcel that comes back to the shopper, and one that the carrier has trouble with.

import { order, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1"), shoes("L2", { title: "Trail boot, brown, 41" })]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  const returned = await sendsBack(shopper, merchant);
  await shopper.getsTheLabel();
  await merchant.scans(returned, "in_transit");
  await merchant.scans(returned, "return_to_sender");
  await shopper.follows("Follow this return");
  await shopper.sees("Your parcel is coming back to you", "status-coming-back");
  await shopper.follows("Return something else");
  await givesReason(shopper, "Trail boot");
  const lost = await sendsBack(shopper, merchant, "Drop it off");
  await shopper.getsTheLabel();
  await merchant.calls("POST", "/v1/carrier_events", { event: "dropped_off", rma_identifier: lost, occurred_at: stage.now().toISOString() });
  await shopper.follows("Follow this return");
  await shopper.sees("Dropped off", "status-dropped-off");
  await merchant.scans(lost, "failure");
  await shopper.reloads();
  await shopper.sees("The carrier has trouble with your parcel", "status-trouble");
};
