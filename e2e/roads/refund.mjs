// One item for a refund, with every mistake that can be made on the way, to the money.

import { EMAIL, POSTCODE, order, refunded, shoes } from "../orders.mjs";
import { confirms, givesReason } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ offers: ["mail-back:499:deducted", "express-returns"] });
  const sold = order(stage.now(), [shoes("L1")]);
  await merchant.sells(sold);

  await shopper.opens(merchant);
  await shopper.sees("Return or exchange something", "find");
  await shopper.presses("Find my order");
  if ((await shopper.isToldWhatIsWrong()) !== shopper.scripted) throw new Error("the summary has the focus exactly if there are scripts");
  await shopper.reads("Enter your order number", "Enter the e-mail or the postcode of the order");
  await shopper.sees("Return or exchange something", "find-error");
  await shopper.types("Order number", "DS-10482");
  await shopper.types("E-mail or postcode", "sam@example.com");
  await shopper.presses("Find my order");
  await shopper.reads("We can’t find that order");
  await shopper.sees("Return or exchange something", "find-miss");
  await shopper.types("E-mail or postcode", EMAIL);
  await shopper.presses("Find my order");

  await shopper.sees("What would you like to send back?", "items");
  await shopper.reads("Running shoe, blue, 42", "$54.00", "Return by");
  await shopper.presses("Continue");
  await shopper.reads("Tick at least one item");
  await shopper.sees("What would you like to send back?", "items-error");
  await givesReason(shopper, "Running shoe");

  await shopper.sees("How would you like to send it back?", "how");
  await shopper.presses("Continue");
  await shopper.reads("Choose how to send it back");
  await shopper.sees("How would you like to send it back?", "how-error");
  await shopper.follows("Back");
  await shopper.sees("Why is it going back?", "reason");
  await shopper.presses("Continue");
  await shopper.chooses("Send it with a label");
  await shopper.presses("Continue");

  await shopper.sees("Check before you confirm", "check");
  await shopper.reads("Price $50.00", "Tax $4.00", "Fee for the way back −$4.99", "Estimated refund $49.01");
  const rma = await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "done");

  await shopper.follows("Open the label (PDF)");
  await shopper.sees("Enter the postcode to see the label", "postcode");
  await shopper.types("Postcode", "99999");
  await shopper.presses("Show the label");
  await shopper.sees("Enter the postcode to see the label", "postcode-error");
  await shopper.types("Postcode", POSTCODE);
  await shopper.opensPdf("Show the label");

  await shopper.opens(merchant, "returns");
  await shopper.sees("Waiting for you to send it", "status-waiting");
  await shopper.unfolds("How your refund is made up");
  await shopper.sees("Waiting for you to send it", "status-bill");
  await merchant.scans(rma, "in_transit");
  await shopper.reloads();
  await shopper.sees("Your parcel is on its way to us", "status-on-its-way");
  await shopper.opens(merchant, `returns/${rma}/cancel`);
  await shopper.sees("It can’t be cancelled any more", "cancel-too-late");
  await shopper.follows("See the return");
  await merchant.scans(rma, "delivered");
  await shopper.reloads();
  await shopper.sees("We got your parcel", "status-arrived");
  await merchant.publishes(refunded(sold, stage.now(), rma, 1, 4901));
  await shopper.reloads();
  await shopper.reads("Refunded $49.01");
  await shopper.sees("Your return is complete", "status-refunded");
};
