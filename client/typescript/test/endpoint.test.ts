/** Targets, and whether plain text may be spoken to them. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { endpointOf, isLocal } from "../src/endpoint.js";
import { connect, InvalidField } from "../src/index.js";

describe("an endpoint", () => {
  for (const target of [
    "127.0.0.1:50051",
    "127.9.9.9:1",
    "localhost:50051",
    "LOCALHOST:1",
    "[::1]:50051",
    "dns:///localhost:1",
    "ipv4:127.0.0.1:1",
    "unix:/run/lockstitch.sock",
  ]) {
    test(`${target} is spoken to in plain text, since it can't leave this machine`, () => {
      assert.ok(isLocal(target));
      assert.match(endpointOf(target, undefined).baseUrl, /^http:/);
    });
  }

  for (const target of [
    "store.example.org:443",
    "10.0.0.1:50051",
    "[2001:db8::1]:1",
    "dns:///store.example.org:443",
    "localhost.example.org:1",
    "128.0.0.1:1",
  ]) {
    test(`${target} is spoken to by TLS, unless plain text is asked for by name`, () => {
      assert.ok(!isLocal(target));
      assert.match(endpointOf(target, undefined).baseUrl, /^https:/);
      assert.match(endpointOf(target, false).baseUrl, /^http:/);
    });
  }

  test("TLS can be had on this machine too, with roots of one's own", () => {
    assert.deepEqual(endpointOf("127.0.0.1:1", { ca: "roots" }), {
      baseUrl: "https://127.0.0.1:1",
      socketPath: undefined,
      tls: { ca: "roots" },
    });
  });

  test("a Unix socket is a path", () => {
    assert.equal(endpointOf("unix:/run/a.sock", undefined).socketPath, "/run/a.sock");
    assert.equal(endpointOf("unix:///run/a.sock", undefined).socketPath, "/run/a.sock");
  });

  for (const target of ["", "127.0.0.1:50051/path", "http://127.0.0.1:1", "a b:1"]) {
    test(`${JSON.stringify(target)} is no target`, () => {
      assert.throws(() => connect(target), InvalidField);
    });
  }
});
