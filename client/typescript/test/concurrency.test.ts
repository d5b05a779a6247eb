/** Many writers on one session, by two servers, the network of one of which is cut meanwhile. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";

import { type Client, connect, type Session, user, VersionConflict } from "../src/index.js";
import type { Commit, Message } from "../src/v1.js";
import { Testbed } from "./support/testbed.js";

const WRITERS = 8;
const APPENDS = 8;
const CUTS = 4;

describe("concurrency", () => {
  let testbed: Testbed;
  let second: string;
  let one: Client;
  let other: Client;

  before(async () => {
    testbed = await Testbed.start();
    second = String((await testbed.send("second_server"))["target"]);
  });
  after(async () => {
    await testbed.stop();
  });
  // Clients of its own for each test: what one spends of its budget of retries, the other has.
  beforeEach(async () => {
    const token = await testbed.token(`ts-${randomUUID()}`);
    one = connect(testbed.targets.proxy_target, { token });
    other = connect(second, { token });
  });
  afterEach(() => {
    one.close();
    other.close();
  });

  const created = async (): Promise<string> => (await one.create({ userId: "u1" })).sessionId;
  const handles = (sessionId: string): Session[] =>
    Array.from({ length: WRITERS }, (_, writer) => (writer % 2 === 0 ? one : other).session(sessionId));
  const cutAgainAndAgain = async (): Promise<void> => {
    for (let cut = 0; cut < CUTS; cut += 1) {
      await testbed.send("cut");
      await one.serverInfo(); // it has connected again
    }
  };

  test("every append is made once, and every follower sees the same", async () => {
    const sessionId = await created();
    const last = BigInt(1 + WRITERS * APPENDS);
    const followers = [one, other].map((client) => followed(client.session(sessionId), last));
    const writers = handles(sessionId).map(async (session, writer) => {
      for (let number = 0; number < APPENDS; number += 1) {
        await session.append({ messages: [user(`writer ${writer}: ${number}`)] });
      }
    });
    await Promise.all([...writers, cutAgainAndAgain()]);

    const [seen, alsoSeen] = await Promise.all(followers);
    assert.deepEqual(seen, alsoSeen);
    assert.deepEqual(
      seen!.map(({ version }) => version),
      Array.from({ length: Number(last) }, (_, at) => BigInt(at + 1)),
    );
    const texts = seen!.flatMap(({ messages }) => messages.map(textOf));
    for (let writer = 0; writer < WRITERS; writer += 1) {
      const name = `writer ${writer}: `;
      assert.deepEqual(
        texts.filter((text) => text.startsWith(name)),
        Array.from({ length: APPENDS }, (_, number) => `${name}${number}`),
      );
    }
  });

  test("guarded changes lose nothing to each other", async () => {
    const sessionId = await created();
    await Promise.all([...handles(sessionId).map(incremented), cutAgainAndAgain()]);
    const texts: string[] = [];
    for await (const message of other.session(sessionId).messages()) {
      texts.push(textOf(message));
    }
    assert.deepEqual(
      texts,
      Array.from({ length: WRITERS }, (_, at) => `${at + 1}`),
    );
  });
});

/** The commits up to a version, as a subscription gives them. */
async function followed(session: Session, last: bigint): Promise<Commit[]> {
  const commits: Commit[] = [];
  for await (const commit of session.subscribe({ afterVersion: 0n })) {
    commits.push(commit);
    if (commit.version === last) {
      break;
    }
  }
  return commits;
}

/** Appends the number behind the last one, at the version that it was read at. */
async function incremented(session: Session): Promise<void> {
  for (;;) {
    const { session: read } = await session.context();
    try {
      await session.append({ messages: [user(`${read!.lastSeq + 1n}`)], expectedVersion: session.version });
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) {
        throw error;
      }
    }
  }
}

function textOf(message: Message): string {
  const content = message.parts[0]?.content;
  return content?.case === "text" ? content.value : "";
}
