// Where base URLs of tenants may lead. Names are resolved by what each test says.

import type { LookupAddress } from "node:dns";
import { describe, expect, test } from "vitest";
import { createAddressGuard, isPublic } from "../../../src/base/address-guard.ts";

const publicAddress = "93.184.215.14";

function guardOf(names: Readonly<Record<string, readonly string[]>>, ...privateHosts: string[]) {
  const asked: string[] = [];
  const resolve = (name: string) => {
    asked.push(name);
    const addresses = names[name];
    const error = Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return addresses ? Promise.resolve(addresses) : Promise.reject(error);
  };
  return { guard: createAddressGuard({ privateHosts, resolve }), asked };
}

type Guard = ReturnType<typeof guardOf>["guard"];

function lookUp(guard: Guard, host: string, port = "443"): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    guard.lookupFor(port)(host, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses as LookupAddress[]);
    });
  });
}

const refused = {
  reason: "INVALID_ARGUMENT",
  message: expect.stringMatching(/^base_url: .*not public/) as string,
};

describe("isPublic", () => {
  test.each([
    "8.8.8.8",
    publicAddress,
    "2606:4700:4700::1111",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
  ])("takes %s", (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test.each([
    { name: "this network", addresses: ["0.0.0.0", "0.1.2.3", "::"] },
    { name: "loopback", addresses: ["127.0.0.1", "127.255.255.254", "::1"] },
    { name: "private", addresses: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"] },
    { name: "link-local, where metadata is", addresses: ["169.254.169.254", "fe80::1"] },
    { name: "metadata elsewhere", addresses: ["100.100.100.200", "192.0.0.192", "fd00:ec2::254"] },
    { name: "a cloud's own at a public address", addresses: ["168.63.129.16"] },
    { name: "shared by a carrier", addresses: ["100.64.0.1", "100.127.255.255"] },
    { name: "unique local, site-local", addresses: ["fc00::1", "fdff::1", "fec0::1"] },
    { name: "multicast, broadcast", addresses: ["224.0.0.1", "255.255.255.255", "ff02::1"] },
    { name: "documentation", addresses: ["192.0.2.1", "203.0.113.1", "2001:db8::1", "3fff::1"] },
    { name: "benchmarks", addresses: ["198.18.0.1", "2001:2::1"] },
    { name: "reserved", addresses: ["240.0.0.1", "192.88.99.1", "100::1", "5f00::1"] },
    { name: "IPv4-mapped, even a public one", addresses: ["::ffff:127.0.0.1", "::ffff:8.8.8.8"] },
    { name: "IPv4-compatible", addresses: ["::127.0.0.1", "::7f00:1"] },
    { name: "NAT64", addresses: ["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1"] },
    { name: "6to4", addresses: ["2002:7f00:1::1"] },
    { name: "Teredo", addresses: ["2001:0:4136:e378:8000:63bf:3fff:fdd2"] },
    { name: "no address", addresses: ["", "localhost", "1.2.3", "0x7f.1"] },
  ])("refuses what is $name", ({ addresses }) => {
    expect(addresses.filter(isPublic)).toEqual([]);
  });
});

describe("assertAllowed", () => {
  const names = {
    "models.example.org": [publicAddress],
    "mixed.example.org": ["10.0.0.1", publicAddress],
    "rebound.example.org": ["127.0.0.1", "::1", "169.254.169.254"],
    localhost: [publicAddress],
    "metadata.google.internal": [publicAddress],
  };
  const { guard } = guardOf(names, "10.1.1.1", "vllm.internal:8000", "[::1]:9000");

  test.each([
    "https://models.example.org/v1",
    "https://mixed.example.org/v1",
    `https://${publicAddress}/v1`,
    "https://[2606:4700:4700::1111]/v1",
    "https://not-there.example.org/v1",
    "http://10.1.1.1/v1",
    "http://10.1.1.1:8000/v1",
    "http://VLLM.internal:8000/v1",
    "http://[::1]:9000/v1",
  ])("takes %s", async (url) => {
    await expect(guard.assertAllowed("base_url", url)).resolves.toBeUndefined();
  });

  test.each([
    { url: "https://rebound.example.org/v1", why: "resolves to private addresses only" },
    { url: "http://127.0.0.1:8000/v1", why: "loopback" },
    { url: "http://2130706433/v1", why: "loopback as one number" },
    { url: "http://0x7f.1/v1", why: "loopback in hexadecimal" },
    { url: "http://0177.0.0.1/v1", why: "loopback in octal" },
    { url: "http://127.0.0.1./v1", why: "loopback with a dot" },
    { url: "http://①②⑦.0.0.1/v1", why: "loopback in other digits" },
    { url: "http://[::ffff:7f00:1]/v1", why: "loopback inside IPv6" },
    { url: "http://[::1]:9001/v1", why: "another port than the operator's" },
    { url: "http://169.254.169.254/latest", why: "metadata" },
    { url: "http://metadata.google.internal/", why: "metadata by name" },
    { url: "http://localhost:8000/v1", why: "localhost, whatever a resolver says" },
    { url: "http://localhost./v1", why: "localhost with the root's dot" },
    { url: "http://a.localhost/v1", why: "below localhost" },
    { url: "http://postgres:5432/", why: "a name without a dot" },
    { url: "http://db.cluster.local/", why: "a name of the local network" },
    { url: "http://vllm.internal/v1", why: "the default port, where another is the operator's" },
  ])("refuses $url: $why", async ({ url }) => {
    await expect(guard.assertAllowed("base_url", url)).rejects.toMatchObject(refused);
  });
});

describe("lookupFor", () => {
  test("gives sockets the public addresses of a name alone", async () => {
    const { guard } = guardOf({ "m.example.org": ["10.0.0.1", publicAddress, "::1"] });

    const got = await lookUp(guard, "m.example.org");

    expect(got).toEqual([{ address: publicAddress, family: 4 }]);
  });

  test("resolves once for what it gives", async () => {
    const { guard, asked } = guardOf({ "m.example.org": [publicAddress] });

    await lookUp(guard, "M.example.org.");

    expect(asked).toEqual(["m.example.org"]);
  });

  test("gives one address where one is asked for", async () => {
    const { guard } = guardOf({ "m.example.org": ["2606:4700:4700::1111", publicAddress] });

    const got = await new Promise((resolve) => {
      guard.lookupFor("443")("m.example.org", {}, (...all) => resolve(all));
    });

    expect(got).toEqual([null, "2606:4700:4700::1111", 6]);
  });

  test("fails where a name has private addresses alone", async () => {
    const { guard } = guardOf({ "m.example.org": ["127.0.0.1"] });

    await expect(lookUp(guard, "m.example.org")).rejects.toMatchObject({ name: "AddressError" });
  });

  test("asks no resolver about internal names", async () => {
    const { guard, asked } = guardOf({});

    await expect(lookUp(guard, "localhost")).rejects.toMatchObject({ name: "AddressError" });
    expect(asked).toEqual([]);
  });

  test("fails as the resolver does", async () => {
    const { guard } = guardOf({});

    await expect(lookUp(guard, "m.example.org")).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  test("lets the system resolve what the operator names, for that port", async () => {
    const { guard } = guardOf({}, "localhost:8000");

    const got = await lookUp(guard, "localhost", "8000");

    expect(["127.0.0.1", "::1"]).toContain(got[0]?.address);
    await expect(lookUp(guard, "localhost", "8001")).rejects.toMatchObject({
      name: "AddressError",
    });
  });
});
