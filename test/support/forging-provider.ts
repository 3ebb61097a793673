// An identity provider that signs any ID token with a key that it publishes, as a faulty or hostile
// provider would. It signs each browser in at once.

import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { clientId } from "./identity-provider.ts";

export type ForgingProvider = {
  readonly issuer: string;
  /**
   * Sets claims of the next ID tokens, in place of the valid ones; undefined leaves one out. Claims
   * are JSON texts, since JSON.stringify cannot write `1e999`, which is a JSON number.
   */
  forge(claims: Readonly<Record<string, string | undefined>>): void;
  stop(): Promise<void>;
};

const keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const header = { alg: "RS256", typ: "JWT", kid: "one" };

export async function startForgingProvider(): Promise<ForgingProvider> {
  let forged: Readonly<Record<string, string | undefined>> = {};
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const idToken = (nonce: string): string => {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const good = {
      iss: issuer,
      aud: clientId,
      sub: "ana",
      nonce,
      iat: nowSeconds,
      exp: nowSeconds + 3_600,
      email: "ana@example.org",
      email_verified: true,
      groups: [],
    };
    const texts = Object.entries(good).map(([name, value]) => [name, JSON.stringify(value)]);
    const claims = { ...(Object.fromEntries(texts) as Record<string, string>), ...forged };
    const members = Object.entries(claims).filter(([, text]) => text !== undefined);
    const payload = `{${members.map(([name, text]) => `"${name}":${text ?? ""}`).join(",")}}`;
    return sign(payload);
  };

  /** Answers by path. The code is the nonce, which the token has to repeat. */
  const answers: Readonly<Record<string, (url: URL, body: string) => object | URL>> = {
    "/.well-known/openid-configuration": () => ({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ["code"],
      id_token_signing_alg_values_supported: ["RS256"],
    }),
    "/jwks": () => ({
      keys: [{ ...keys.publicKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "one" }],
    }),
    "/auth": ({ searchParams }) => {
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", searchParams.get("nonce") ?? "");
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return back;
    },
    "/token": (_url, body) => ({
      access_token: "an access token",
      token_type: "Bearer",
      id_token: idToken(new URLSearchParams(body).get("code") ?? ""),
    }),
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", issuer);
    const body = Buffer.concat(await request.toArray()).toString();
    const answer = answers[url.pathname]?.(url, body);
    if (!answer) response.writeHead(404).end();
    else if (answer instanceof URL) response.writeHead(303, { location: answer.href }).end();
    else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    }
  };
  server.on("request", (request, response) => void respond(request, response));

  return {
    issuer,
    forge(claims) {
      forged = claims;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function sign(payload: string): string {
  const parts = [JSON.stringify(header), payload].map((text) =>
    Buffer.from(text).toString("base64url"),
  );
  const signature = createSign("RSA-SHA256").update(parts.join(".")).sign(keys.privateKey);
  return `${parts.join(".")}.${signature.toString("base64url")}`;
}
