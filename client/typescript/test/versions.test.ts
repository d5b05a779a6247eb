/** Which servers this client fits. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Code, ServerTooNew, ServerTooOld } from "../src/index.js";
import { refuseOtherVersions } from "../src/versions.js";

describe("a server's version", () => {
  for (const version of ["0.1.0", "0.1.1-rc.1", "0.10.0+build.5", "0.99.99999999999999999999"]) {
    test(`${version} fits`, () => {
      refuseOtherVersions(version);
    });
  }

  for (const version of ["", "banana", "0.0.99", "0.1", "0.1.0.4", "0.1.x", "v0.1.0", "٠.١.٠"]) {
    test(`${JSON.stringify(version)} is too old, or no version`, () => {
      assert.throws(() => refuseOtherVersions(version), ServerTooOld);
    });
  }

  test("1.0.0 is too new, and the error says which would do", () => {
    assert.throws(
      () => refuseOtherVersions("1.0.0-rc.1"),
      (error: unknown) => {
        assert.ok(error instanceof ServerTooNew);
        assert.deepEqual(error.metadata, { server_version: "1.0.0-rc.1", from: "0.1.0", before: "1.0.0" });
        assert.deepEqual([error.code, error.reason, error.serverVersion], [Code.Unimplemented, "", "1.0.0-rc.1"]);
        return true;
      },
    );
  });
});
