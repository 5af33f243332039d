// An identity provider for single sign-on to the console: npm's oidc-provider in a process of its own.
//
//   PORT=9400 BACK=http://127.0.0.1:9092/sign-in/single/back [FAULT=audience|nonce|key] node provider.mjs
//
// Whoever comes is let in as the person that PERSON names, in the groups that GROUPS names, separated by commas. With FAULT, the ID
// token is altered on its way out: it is for another client, answers another sign-in, or is signed with a key that is not published.

import { createServer } from "node:http";

import { SignJWT, decodeJwt, exportJWK, generateKeyPair, importJWK } from "jose";
import Provider from "oidc-provider";

const { PORT = "9400", BACK, FAULT = "", PERSON = "desk.one@ops.example.com", GROUPS = "desk" } = process.env;
const CLIENT = "backhaul-console";
const SECRET = "known-to-the-provider";
const issuer = `http://127.0.0.1:${PORT}`;

async function newKey(kid) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

const published = await newKey("published");
const another = await newKey("published");

const provider = new Provider(issuer, {
  clients: [{ client_id: CLIENT, client_secret: SECRET, redirect_uris: [BACK], response_types: ["code"], grant_types: ["authorization_code"] }],
  jwks: { keys: [published] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  cookies: { keys: ["only for tests"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: PERSON, email_verified: true, name: "Desk One", groups: GROUPS.split(",") }),
  }),
});

/** Lets somebody in without asking: signs them in, and grants the client what it asked for. */
async function letIn(request, response) {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: PERSON, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { login: { accountId: PERSON }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** The token with the fault that was asked for. */
async function altered(token) {
  const claims = decodeJwt(token);
  if (FAULT === "audience") claims.aud = "another-client";
  if (FAULT === "nonce") claims.nonce = "of-another-sign-in";
  const key = await importJWK(FAULT === "key" ? another : published, "RS256");
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "published", typ: "JWT" }).sign(key);
}

provider.use(async (context, next) => {
  await next();
  if (FAULT && context.path === "/token" && context.body?.id_token) context.body.id_token = await altered(context.body.id_token);
});

const answer = provider.callback();
createServer((request, response) => {
  if (request.url.startsWith("/interaction/")) letIn(request, response).catch((error) => response.writeHead(500).end(String(error)));
  else answer(request, response);
}).listen(Number(PORT), "127.0.0.1", () => console.log(JSON.stringify({ issuer, client_id: CLIENT, client_secret: SECRET })));
