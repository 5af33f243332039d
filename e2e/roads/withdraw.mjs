// The shopper withdraws from a part of the contract and sends it back; then somebody withdraws from an order that nobody knows.

import { EMAIL, order, shoes } from "../orders.mjs";
import { confirms, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ offers: ["mail-back", "express-returns"] });
  const sold = order(stage.now(), [shoes("L1", { quantity: 2 }), shoes("L2", { title: "Trail boot, brown, 41" })]);
  sold.shipping_address.country_code = "DE";
  await merchant.sells(sold);

  await shopper.opens(merchant);
  await shopper.follows("Withdraw from contract here");
  await shopper.sees("Withdraw from contract", "form");
  await shopper.presses("Continue");
  await shopper.reads("Enter your name", "Enter the order number, or what you ordered and when", "Enter an e-mail address, like name@example.com");
  await shopper.sees("Withdraw from contract", "form-error");
  await shopper.types("Your name", "Pat Example");
  await shopper.types("Order number", "ds-10482");
  await shopper.types("E-mail", EMAIL);
  await shopper.chooses("Some of the items");
  await shopper.presses("Continue");
  await shopper.presses("Continue");
  await shopper.reads("Choose at least one item, or the whole order");
  await shopper.sees("Which goods do you withdraw from?", "goods-error");
  await shopper.ticks("Running shoe");
  await shopper.sees("Which goods do you withdraw from?", "goods");
  await shopper.presses("Continue");
  await shopper.reads("Statement of withdrawal", "Pat Example", "Running shoe, blue, 42", EMAIL);
  await shopper.sees("Confirm your withdrawal", "confirm");
  const confirmed = Date.now();
  await shopper.presses("Confirm withdrawal");
  await merchant.mailedLink();
  if (Date.now() - confirmed > 10_000) throw new Error("the acknowledgement took more than 10 s");
  await shopper.reads("Acknowledgement of receipt", "Running shoe, blue, 42");
  await shopper.sees("We have received your withdrawal", "done");
  await shopper.reloads();
  await shopper.presses("Choose how to send it back");
  await takes(shopper, "Send it with a label");
  await shopper.sees("Check before you confirm", "check");
  await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "return");

  await shopper.opens(merchant, "withdraw");
  await shopper.types("Your name", "Sam Example");
  await shopper.types("Order number", "Blue shoes, beginning of the month");
  await shopper.types("E-mail", "sam@example.com");
  await shopper.chooses("The whole order");
  await shopper.presses("Continue");
  await shopper.presses("Confirm withdrawal");
  await shopper.reads("We could not match it to an order by ourselves. It still counts from now, if it is in time. The acknowledgement is on its way to sam@example.com.");
  await shopper.sees("We have received your withdrawal", "unknown");
};
