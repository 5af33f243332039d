// An administrator looks at every page, while there is something to see on each.

import { failingMerchant } from "../failing.mjs";
import { faultyIntake } from "../intake.mjs";
import { stockedWarehouse } from "../warehouse.mjs";

export const isLong = true;

const AT = "/merchants/demo-shoes";
/** Pages, their headings, and the names of their pictures. */
const PAGES = [
  ["/failures/jobs", "Retry jobs", "jobs"],
  ["/messages", "Messages", "messages"],
  ["/messages?state=failed&merchant=nobody", "Messages", "messages-none"],
  ["/messages?state=late", "Late messages: 0", "messages-late"],
  ["/returns", "Returns", "returns"],
  ["/orders?merchant=demo-shoes", "Orders", "orders"],
  [`${AT}/orders/DS-1`, "Order DS-1", "order"],
  ["/merchants", "Merchants", "merchants"],
  ["/reports?merchant=demo-shoes", "Reports", "reports"],
  ["/reports", "Reports", "reports-all"],
  ["/system", "System", "system"],
  ["/system/carriers", "Carrier accounts", "system-carriers"],
  ["/system/retention", "Retention", "system-retention"],
  ["/system/limits/requests-per-minute", "Requests of one address within a minute", "system-limit"],
  ["/system/clock", "Move the sandbox's clock", "system-clock"],
  ["/audit", "Audit", "audit"],
  ["/reports/intake?merchant=demo-shoes", "Reports", "reports-intake"],
  ["/reports/returns?merchant=demo-shoes", "Reports", "reports-returns"],
  [AT, "Demo Shoes", "merchant"],
  [`${AT}/contact`, "Demo Shoes", "contact"],
  [`${AT}/pause`, "Pause Demo Shoes?", "merchant-pause"],
  [`${AT}/onboarding`, "Demo Shoes", "onboarding"],
  [`${AT}/credentials`, "Demo Shoes", "credentials"],
  [`${AT}/endpoints`, "Demo Shoes", "endpoints"],
  [`${AT}/check`, "Demo Shoes", "check"],
  [`${AT}/endpoints/rma`, "Demo Shoes · rma", "endpoint"],
  [`${AT}/endpoints/rma/set`, "Demo Shoes · rma", "endpoint-change"],
  [`${AT}/endpoints/rma/pause`, "Pause Demo Shoes · rma?", "endpoint-pause"],
  [`${AT}/endpoints/rma/secret`, "Make a new signing secret for Demo Shoes · rma?", "endpoint-secret"],
  [`${AT}/endpoints/rma/replay`, "Demo Shoes · rma", "replay"],
  [`${AT}/policy?order=DS-1`, "Demo Shoes", "policy"],
  [`${AT}/policy/change`, "Demo Shoes", "policy-change"],
  [`${AT}/policy/0`, "Demo Shoes", "policy-former"],
  [`${AT}/brand`, "Demo Shoes", "brand"],
  [`${AT}/mails`, "Demo Shoes", "mails"],
  [`${AT}/mails?mail=refunded&language=de`, "Demo Shoes", "mails-german"],
  ["/refunds", "Refunds overdue…", "refunds"],
  ["/cases", "…", "cases"],
  ["/intake", "Refused messages", "refused"],
  ["/intake/warnings", "Warnings", "warnings"],
  ["/intake/warnings?merchant=demo-shoes", "Warnings", "warnings-merchant"],
  ["/intake/imports", "Imports", "imports"],
  ["/warehouse", "Inbound ASNs", "warehouse"],
  ["/warehouse?state=closed", "Inbound ASNs", "warehouse-none"],
  [`${AT}/asns/ASN-1`, "ASN ASN-1", "asn"],
  ["/exceptions", "Receiving exceptions: 2", "exceptions"],
  ["/exceptions?show=resolved", "Resolved receiving exceptions", "exceptions-resolved"],
  ["/warehouse/returns", "Expected returns", "expected-returns"],
  ["/warehouse/shipments", "Outbound shipments", "shipments"],
  [`${AT}/shipments/SHIP-1`, "Shipment SHIP-1", "shipment"],
  ["/warehouse/drop-ship", "Drop-ship orders", "drop-ships"],
  [`${AT}/drop-ship/DROP-1`, "Drop-ship order DROP-1", "drop-ship"],
  ["/operators", "Operators", "operators"],
  ["/operators/invite", "Invite somebody", "invite"],
  ["/requests", "Second person", "requests"],
  ["/requests/erase", "Erase a shopper", "erase"],
  ["/account", "Your account", "account"],
  ["/account/tokens", "Your tokens", "tokens"],
  ["/help", "Keyboard", "help"],
];

export default async ({ stage, operator }) => {
  const { systems, merchant } = await failingMerchant(stage);
  await stockedWarehouse(stage, merchant);
  const imported = await faultyIntake(stage, merchant);
  try {
    await operator.begins("admin");
    await operator.waitsFor("3 messages are in the failure queue");
    await operator.sees("Today", "today");
    // Each page is looked at, whatever is wrong with others.
    const faults = [];
    for (const [path, heading, name] of PAGES) {
      await operator.opens(path);
      await operator.sees(heading, name).catch((error) => faults.push(`${path}: ${error.message}`));
    }
    if (faults.length > 0) throw new Error(faults.join("\n"));
    await operator.opens("/account/tokens");
    await operator.types("Name", "onboarding");
    await operator.presses("Make the token");
    await operator.sees("The token is shown once", "token-made");
    await operator.follows("Your tokens");
    await operator.sees("Your tokens", "tokens-one");
    await operator.opens("/nowhere", 404);
    await operator.sees("There is no such page", "no-such-page");

    await operator.opens("/intake");
    await operator.follows("returns_portal_order.orders[0].currency");
    await operator.sees("Refused message", "refused-message");
    await operator.opens(`${AT}/imports/${imported}`);
    await operator.sees("Import of Demo Shoes", "import");
    await operator.opens("/exceptions");
    await operator.follows("unknown_asn");
    await operator.sees("Receiving exception unknown_asn", "exception");
    await operator.follows("Resolve…");
    await operator.sees("Resolve this exception?", "exception-resolve");

    await operator.opens("/failures");
    await operator.follows("Demo Shoes");
    await operator.follows("Discard 3");
    await operator.sees("Discard 3 messages?", "discard");
    await operator.opens("/messages");
    await operator.follows("rma.created");
    await operator.sees("rma.created", "message");

    await operator.searches("DS-1");
    await operator.reads("Demo Shoes");
    await operator.sees("…", "search");
    await operator.searches("pat@example.com");
    await operator.reads("Demo Shoes");
    await operator.sees("…", "search-email");
    await operator.searches("nothing-has-this");
    await operator.reads("Nothing was found");
    await operator.sees("…", "search-none");

    if (operator.scripted) {
      await operator.typesKeys("g", "f");
      await operator.sees("Failure queue: 3", "by-keys");
      await operator.typesKeys("?");
      await operator.sees("Keyboard", "help-by-key");
    }
  } finally {
    systems.stop();
  }
};
