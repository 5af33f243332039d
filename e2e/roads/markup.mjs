// HTML in what the merchant and the shopper write is shown as text, and a word that is wider than the screen is broken.

import { EMAIL, order, shoes } from "../orders.mjs";
import { answersReason, confirms, takes } from "../steps.mjs";

const TITLE = `<img src=/x onerror=alert(1)> "Shoe" & <b>Weatherproof-${"hiking".repeat(8)}shoe</b>`;
const SIZE = "<i>43</i>";
const COLOUR = "<script>alert(2)</script>";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ name: "Demo <b>Shoes</b>" });
  await merchant.shelves([
    ["BLUE-43", SIZE, COLOUR, 9],
    ["SAND-44", "44", "Sand", 9],
  ]);
  await merchant.sells(order(stage.now(), [shoes("L1", { title: TITLE, exchangeable: true })]));

  await shopper.opens(merchant);
  await shopper.types("Order number", `"><b>DS</b>`);
  await shopper.types("E-mail or postcode", "<b>@example.com");
  await shopper.presses("Find my order");
  await shopper.sees("Return or exchange something", "find-markup");
  await shopper.types("Order number", "DS-10482");
  await shopper.types("E-mail or postcode", EMAIL);
  await shopper.presses("Find my order");
  await shopper.reads(TITLE);
  await shopper.sees("What would you like to send back?", "items-markup");
  await shopper.ticks(TITLE);
  await shopper.presses("Continue");
  await shopper.reads(TITLE);
  await answersReason(shopper);
  await shopper.reads(TITLE);
  await takes(shopper, "Another size or colour");
  await shopper.reads(TITLE, SIZE, COLOUR);
  await shopper.sees("Which one would you like?", "exchange-markup");
  await takes(shopper, SIZE);
  await takes(shopper, "Send it with a label");
  await shopper.reads(TITLE, `Exchange for ${SIZE}, ${COLOUR}`);
  await shopper.sees("Check before you confirm", "check-markup");
  await confirms(shopper, merchant);
  await shopper.getsTheLabel();
  await shopper.follows("Follow this return");
  await shopper.reads(TITLE);
  await shopper.sees("Waiting for you to send it", "status-markup");
};
