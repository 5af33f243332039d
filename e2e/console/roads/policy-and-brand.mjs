// A manager changes a policy and rolls it back, and sees a brand before it is saved.

import { failingMerchant } from "../failing.mjs";

const AT = "/merchants/demo-shoes";

export default async ({ stage, operator }) => {
  const { systems } = await failingMerchant(stage);
  try {
    await operator.begins("manager");
    await operator.opens(`${AT}/policy/change`);
    await operator.types("Days after shipping", "45");
    await operator.types("Order", "DS-1");
    await operator.presses("Try it with these changes");
    await operator.sees("Demo Shoes", "policy-tried");
    await operator.presses("Change the policy…");
    await operator.sees("Change the return policy of Demo Shoes?", "policy-preview");
    await operator.presses("Change the policy");
    await operator.reads("45 days");
    await operator.sees("Demo Shoes", "policy-changed");
    await operator.follows("default");
    await operator.follows("Roll back to it…");
    await operator.sees("Roll the return policy of Demo Shoes back to policy 0?", "policy-restore");
    await operator.presses("Roll back to policy 0");
    await operator.opens(`${AT}/brand`);
    await operator.types("Accent", "#b3261e");
    await operator.types("Phone number", "+353 1 555 0100");
    // With scripts, the portal beside the form follows what is typed.
    if (operator.scripted) await operator.page.waitForFunction(() => document.getElementById("preview").src.includes("b3261e"));
    await operator.presses("Preview");
    await operator.sees("Demo Shoes", "brand-edited");
    await operator.presses("Change the brand…");
    await operator.sees("Change the brand of Demo Shoes?", "brand-preview");
    await operator.presses("Change the brand");
    await operator.follows("Remove it…");
    await operator.sees("Remove the brand of Demo Shoes?", "brand-remove");
  } finally {
    systems.stop();
  }
};
