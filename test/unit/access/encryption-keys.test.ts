// Sealing of providers' secrets: choice of the key, bound data, and errors.

import { describe, expect, test } from "vitest";
import { variableOf } from "../../../src/config.ts";
import { createEncryptionKeys } from "../../../src/access/encryption-keys.ts";
import {
  type Binding,
  bindingOf,
} from "../../../src/generation/connections/credentials/secrets.ts";
import { anEncryptionKey } from "../../support/credentials.ts";

const secrets = { api_key: "sk-of-a-test", session_token: "séance" };

const row: Binding = {
  id: "c1",
  level: "project",
  scopeId: "p1",
  provider: "openai",
  baseUrl: "https://models.example.org/v1",
  resourceName: null,
  region: null,
};

const place = bindingOf(row);

const [older, newer] = [anEncryptionKey("older"), anEncryptionKey("newer")];

describe("createEncryptionKeys", () => {
  test("opens what it sealed, which holds nothing in the clear", () => {
    const keys = createEncryptionKeys([older]);

    const { sealed, keyId } = keys.seal(secrets, place);

    expect(keyId).toBe("older");
    expect(Buffer.from(sealed).toString("latin1")).not.toContain("sk-of");
    expect(keys.open({ sealed, keyId }, place)).toEqual(secrets);
  });

  test("seals the same secrets to other bytes each time", () => {
    const keys = createEncryptionKeys([older]);

    const first = keys.seal(secrets, place).sealed;
    const second = keys.seal(secrets, place).sealed;

    expect(Buffer.from(first).equals(second)).toBe(false);
  });

  test("seals under the first key and opens under every one", () => {
    const before = createEncryptionKeys([older]).seal(secrets, place);
    const keys = createEncryptionKeys([newer, older]);

    expect(keys.sealingKeyId).toBe("newer");
    expect(keys.seal(secrets, place).keyId).toBe("newer");
    expect(keys.open(before, place)).toEqual(secrets);
  });

  test.each<{ name: string; elsewhere: Partial<Binding> }>([
    { name: "another row", elsewhere: { id: "c2" } },
    { name: "another scope", elsewhere: { scopeId: "p2" } },
    { name: "another level", elsewhere: { level: "org" } },
    { name: "another provider", elsewhere: { provider: "openai_compatible" } },
    { name: "another address", elsewhere: { baseUrl: "https://thief.example.org/v1" } },
    { name: "the provider's own address", elsewhere: { baseUrl: null } },
    { name: "another resource", elsewhere: { resourceName: "thief" } },
    { name: "another region", elsewhere: { region: "eu-west-1" } },
  ])("does not open what was moved to $name", ({ elsewhere }) => {
    const keys = createEncryptionKeys([older]);
    const sealed = keys.seal(secrets, place);

    const open = () => keys.open(sealed, bindingOf({ ...row, ...elsewhere }));

    expect(open).toThrow("the encryption key older does not open them");
  });

  test("does not open what had any of its bits changed", () => {
    const keys = createEncryptionKeys([older]);
    const { sealed, keyId } = keys.seal(secrets, place);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;

      expect(() => keys.open({ sealed: changed, keyId }, place)).toThrow("does not open them");
    }
    for (const length of [0, 12, 27, sealed.length - 1]) {
      const cut = { sealed: sealed.subarray(0, length), keyId };

      expect(() => keys.open(cut, place)).toThrow("does not open them");
    }
  });

  test("says which key is missing, and which one is another than its id says", () => {
    const sealed = createEncryptionKeys([older]).seal(secrets, place);
    const impostor = anEncryptionKey("older");

    const withoutIt = () => createEncryptionKeys([newer]).open(sealed, place);
    const withAnother = () => createEncryptionKeys([impostor]).open(sealed, place);

    expect(withoutIt).toThrow("no encryption key older is configured");
    expect(withAnother).toThrow("the encryption key older does not open them");
  });

  test("without a key says which variable names one", () => {
    const keys = createEncryptionKeys([]);

    expect(keys.sealingKeyId).toBe(undefined);
    expect(() => keys.seal(secrets, place)).toThrow(
      expect.objectContaining({
        reason: "ENCRYPTION_KEY_ABSENT",
        message: expect.stringContaining(variableOf("encryption-keys")) as string,
      }),
    );
  });
});
