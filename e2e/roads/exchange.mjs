// Another size in another colour, which the merchant then orders.

import { order, shoes } from "../orders.mjs";
import { confirms, findsOrder, givesReason, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.shelves([
    ["BLUE-41", "41", "Blue", 9],
    ["BLUE-43", "43", "Blue", 0],
    ["SAND-42", "42", "Sand", 2],
    ["SAND-43", "43", "Sand", 9],
  ]);
  await merchant.sells(order(stage.now(), [shoes("L1", { exchangeable: true })]));

  await findsOrder(shopper, merchant);
  await givesReason(shopper, "Running shoe");
  await shopper.sees("What would you like instead?", "instead");
  await takes(shopper, "Another size or colour");
  await shopper.reads("41 in stock", "43 sold out");
  await shopper.sees("Which one would you like?", "exchange");
  await shopper.presses("Continue");
  await shopper.reads("Choose one");
  await shopper.sees("Which one would you like?", "exchange-error");
  await shopper.follows("Sand");
  await shopper.reads("42 2 left");
  await takes(shopper, "43");
  await takes(shopper, "Drop it off");
  await shopper.reads("Exchange for 43, Sand", "Exchanged at the same price");
  await shopper.sees("Check before you confirm", "check-exchange");
  await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.sees("Your return is confirmed", "done-drop-off");
  await shopper.follows("Follow this return");
  await shopper.reloadsUntil("The new one is ordered");
  await shopper.sees("Waiting for you to drop it off", "status-exchange");
};
