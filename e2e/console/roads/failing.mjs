// An endpoint fails. It is found from Today, somebody takes it over, the merchant mends it, and everything arrives.

import { failingMerchant } from "../failing.mjs";

export default async ({ stage, operator }) => {
  const { systems } = await failingMerchant(stage);
  try {
    const { email } = await operator.begins("support");
    await operator.waitsFor("Demo Shoes · rma");
    await operator.waitsFor("3 messages are in the failure queue");
    await operator.waitsFor("3 given up");
    await operator.sees("Today", "today");
    await operator.follows("Demo Shoes · rma");
    await operator.reads("Failing", "503");
    await operator.sees("Demo Shoes · rma", "endpoint");

    await operator.follows("Failure queue");
    await operator.reads("3 messages were given up and wait for somebody");
    await operator.sees("Failure queue: 3", "queue");
    await operator.follows("Demo Shoes");
    await operator.sees("Demo Shoes · rma", "group");
    await operator.types("Owner", "Robin Example");
    await operator.types("Note", "Their gateway is down; they call back at noon.");
    await operator.ticks("The merchant was contacted");
    await operator.presses("Save for all 3");
    await operator.reads("Contacted", "Their gateway is down; they call back at noon.", email);
    await operator.sees("Demo Shoes · rma", "noted");

    systems.answers(200);
    await operator.follows("Retry 3");
    await operator.reads("with the same ids and bytes");
    await operator.sees("Retry 3 messages?", "preview");
    await operator.types("Messages a second", "1");
    await operator.presses("Retry 3 messages");
    await operator.sees("Retry of Demo Shoes · rma", "job");
    await operator.waitsFor("3 of 3 released");
    await operator.waitsFor("Delivered 3");
    await operator.waitsFor("Done");
    await operator.sees("Retry of Demo Shoes · rma", "job-done");
    if (systems.received.length !== 3) throw new Error(`the merchant received ${systems.received.length} messages`);

    await operator.follows("Failure queue");
    await operator.reads("The failure queue is empty");
    await operator.sees("Failure queue", "queue-empty");
  } finally {
    systems.stop();
  }
};
