// A merchant is set up, from nothing to live.

import { order, shoes } from "../../orders.mjs";
import { Systems } from "../systems.mjs";

const SECRET = ".notice .cmd .mono";

export default async ({ stage, operator }) => {
  const systems = await Systems.start();
  try {
    await operator.begins();
    await operator.follows("Merchants");
    await operator.follows("Add a merchant");
    await operator.sees("Add a merchant", "new");
    await operator.types("Name", "Demo Shoes");
    await operator.types("Handle", "Demo Shoes");
    await operator.presses("Add the merchant", 422);
    await operator.sees("Add a merchant", "new-wrong");
    await operator.types("Handle", "demo-shoes");
    await operator.types("Technical contact", "tech@demo-shoes.example.com");
    await operator.presses("Add the merchant");
    await operator.reads("0 of 5 done");
    await operator.sees("Demo Shoes", "begun");

    await operator.follows("Credentials");
    await operator.reads("No credential yet");
    await operator.ticks("orders");
    await operator.types("What it is for", "Their order system");
    await operator.presses("Issue a credential…");
    await operator.reads("Nothing happens until you press the button below.", "Their order system", "none: it is the only one");
    await operator.sees("Issue a credential for Demo Shoes?", "credential-preview");
    await operator.presses("Issue the credential");
    await operator.reads("Copy its secret now: it is not shown again.");
    await operator.sees("Demo Shoes", "credential");
    const client_id = await operator.shown("th code");
    const merchant = stage.merchant({ merchant: "demo-shoes", client_id, client_secret: await operator.shown(SECRET) });
    await operator.opens("/merchants/demo-shoes/credentials");
    await operator.reads("In use", "never");
    if ((await operator.page.locator(SECRET).count()) > 0) throw new Error("the secret is shown again");

    await merchant.calls("POST", "/returns_portal_orders", { returns_portal_order: { orders: [order(stage.now(), [shoes("L1")])] } });
    await operator.follows("Onboarding");
    await operator.reads("3 of 5 done", "No endpoint is set.");
    await operator.sees("Demo Shoes", "orders-arrive");

    await operator.follows("Endpoints");
    await operator.sees("Demo Shoes", "endpoints");
    await operator.follows("Set it");
    await operator.sees("Demo Shoes · rma", "endpoint-set");
    await operator.types("URL", "demo-shoes");
    await operator.presses("Add the endpoint…", 422);
    await operator.reads("Nothing was changed.");
    await operator.sees("Demo Shoes · rma", "endpoint-set-wrong");
    await operator.types("URL", systems.url("/rmas"));
    await operator.presses("Add the endpoint…");
    await operator.reads(systems.url("/rmas"), "A new one is made, and shown once, on the next page.");
    await operator.sees("Add the endpoint rma of Demo Shoes?", "endpoint-preview");
    await operator.presses("Add the endpoint");
    await operator.reads("This is the signing secret. Copy it now: it is not shown again.");
    await operator.sees("Demo Shoes · rma", "endpoint-secret");
    systems.secret = await operator.shown(SECRET);

    await operator.follows("Send a test");
    await operator.sees("Demo Shoes · rma", "test");
    systems.answers(503);
    await operator.presses("Send the test");
    await operator.waitsFor("ended with 503");
    await operator.reads("maintenance", "A real message would be tried again");
    await operator.sees("Demo Shoes · rma", "test-failed");
    systems.answers(200);
    await operator.presses("Send another");
    await operator.waitsFor("ended with 200");
    await operator.reads("A real message would count as delivered.", `POST ${systems.url("/rmas")}`, "webhook-signature", "endpoint.test");
    await operator.sees("Demo Shoes · rma", "test-passed");
    if (systems.faults.length > 0) throw new Error(systems.faults.join("\n"));
    if (systems.received.length !== 1) throw new Error(`the merchant received ${systems.received.length} tests`);

    await operator.opens("/merchants/demo-shoes/onboarding");
    await operator.reads("4 of 5 done");
    await operator.follows("Check the endpoints");
    await operator.reads("A paused endpoint is called too.", "endpoint.test");
    await operator.sees("Demo Shoes", "check");
    await operator.presses("Check the endpoints");
    await operator.reads("Not ready: 1 check failed.", "The system does not verify signatures.", "What to do");
    await operator.sees("Demo Shoes", "check-failed");
    if (systems.faults.length !== 1) throw new Error(`the check sent ${systems.faults.length} wrong signatures`);
    systems.refuses = true;
    await operator.presses("Check again");
    await operator.reads("The endpoints are fit to go live.");
    await operator.sees("Demo Shoes", "check-passed");

    await operator.follows("To onboarding");
    await operator.follows("Go live");
    await operator.reads("none: every step is done");
    await operator.sees("Declare Demo Shoes live?", "go-live");
    await operator.presses("Go live");
    await operator.reads("5 of 5 done", "Decided by operator:manager@ops.example.com.");
    await operator.sees("Demo Shoes", "live");
  } finally {
    systems.stop();
  }
};
