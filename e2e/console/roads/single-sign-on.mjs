// People come through the identity provider, whose groups give them their roles. What it says is taken only if it is for us, answers
// this sign-in, and is signed with one of its keys.

import { IdentityProvider } from "../provider.mjs";
import { freePort } from "../stage.mjs";

export async function settings() {
  const [port, provider] = [await freePort(), await freePort()];
  const environment = {
    BACKHAUL__CONSOLE__OIDC__ISSUER: `http://127.0.0.1:${provider}`,
    BACKHAUL__CONSOLE__OIDC__CLIENT_ID: "backhaul-console",
    BACKHAUL__CONSOLE__OIDC__CLIENT_SECRET: "known-to-the-provider",
    BACKHAUL__CONSOLE__OIDC__GROUPS__DESK: "support",
    BACKHAUL__CONSOLE__OIDC__GROUPS__LEADS: "manager",
  };
  return { port, provider, environment };
}

const WAY = "Go on with single sign-on";

export default async ({ stage, operator }) => {
  const { provider: port } = stage.settings;
  const back = `${stage.console}/sign-in/single/back`;
  /** Lets somebody come through a provider like this. */
  const comes = async (environment, status) => {
    const provider = await IdentityProvider.start(port, back, environment);
    try {
      await operator.follows(WAY, status);
    } finally {
      await provider.stop();
    }
  };

  await operator.opens("/merchants");
  await operator.sees("Sign in to the console", "sign-in");
  for (const fault of ["audience", "nonce", "key"]) {
    await comes({ FAULT: fault }, 422);
    await operator.reads("The single sign-on did not succeed.", "answer was not accepted", "sign in with a password");
    await operator.sees("This cannot be done", `refused-${fault}`);
    await operator.follows("Sign in");
  }
  await comes({ GROUPS: "elsewhere" }, 422);
  await operator.reads("None of your groups has a role here.");
  await operator.sees("This cannot be done", "refused-group");
  await operator.opens("/merchants");

  await comes({ GROUPS: "desk" });
  await operator.sees("Merchants", "merchants");
  await operator.follows("Your account");
  await operator.reads("desk.one@ops.example.com", "Your role is support");
  await operator.sees("Your account", "account");
  await operator.opens("/merchants/new", 403);
  await operator.reads("It takes the role manager.");
  await operator.sees("Your role does not allow this", "no-permission");
  await operator.opens("/account");
  await operator.presses("Sign out");

  // The groups count at every sign-in.
  await comes({ GROUPS: "desk,leads" });
  await operator.opens("/account");
  await operator.reads("Your role is manager");
};
