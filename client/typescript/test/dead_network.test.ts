/** A network that dies without a word. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { connect, user } from "../src/index.js";
import { Testbed } from "./support/testbed.js";

test("a call that waits on a dead connection is made again on a new one", async () => {
  const testbed = await Testbed.start();
  const client = connect(testbed.targets.proxy_target, { token: await testbed.token(`ts-${randomUUID()}`) });
  try {
    const session = await client.create({ userId: "u1" });
    await testbed.send("freeze");
    // More than it takes; without a new connection it would be no less in vain.
    const receipt = await session.append({ messages: [user("Is anybody there?")] }, { timeoutMs: 60_000 });
    assert.equal(receipt.version, 2n);
  } finally {
    client.close();
    await testbed.stop();
  }
});
