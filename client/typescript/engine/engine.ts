/**
 * TypeScript's engine of the five: takes one turn of the conversation, and checks all that the others left.
 *
 *     LOCKSTITCH_TARGET=… LOCKSTITCH_TOKEN=… client/typescript/.build/engine --session-id S --turn N
 *
 * client/README.md says what an engine does, in every language the same.
 */

import assert from "node:assert/strict";
import { parseArgs } from "node:util";

import { type Client, connect, mergePatch, type Run, type Session, user, VersionConflict } from "../src/index.js";
import { type Message, ToolCallStatus } from "../src/v1.js";
import { argumentsOf, BIG, checkMessages, completedBy, messagesOf } from "./conversation.js";

const LANGUAGE = "typescript";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}

/** Reads all there is of so many turns, compares it, and gives the languages that took them. */
async function check(run: Run, turns: number): Promise<string[]> {
  const languages = checkMessages(await all(run.messages()), turns);
  const memory = await run.memory();
  assert.deepEqual(memory.completed, completedBy(languages), "completed");
  assert.equal(memory.nextAction ?? "", turns === 0 ? "" : `turn ${turns + 1}`, "next_action");
  // Numbers as they are written: JSON.parse would round them.
  const counts = memory.extraJson === "" ? [] : memory.extraJson.slice(1, -1).split(",").sort();
  assert.deepEqual(counts, Array.from({ length: turns }, (_, at) => `"count_${at + 1}":${BIG}`).sort(), "extra_json");
  const stillOpen = await all(run.toolCalls({ statuses: [ToolCallStatus.PENDING] }));
  assert.deepEqual(
    stillOpen.map(({ callId, argumentsJson }) => [callId, argumentsJson]),
    turns === 0 ? [] : [[`call-${turns}`, argumentsOf(turns)]],
    "the open calls",
  );
  return languages;
}

/** Follows the session from its beginning, and gives the messages of its commits. */
async function follow(session: Session, upTo: bigint): Promise<Message[]> {
  const messages: Message[] = [];
  let wanted = 1n;
  for await (const commit of session.subscribe({ afterVersion: 0n })) {
    assert.equal(commit.version, wanted, "a commit's version");
    messages.push(...commit.messages);
    if (commit.version === upTo) {
      break;
    }
    wanted += 1n;
  }
  return messages;
}

async function takeTurn(client: Client, sessionId: string, turn: number): Promise<bigint> {
  await client.checkServer();
  const session = client.session(sessionId);
  return await session.run({ worker: LANGUAGE, leaseMs: 10_000 }, async (run) => {
    const languages = [...(await check(run, turn - 1)), LANGUAGE];
    const expectedVersion = (await run.get()).session!.version;
    const patch = { completed: completedBy(languages), next_action: `turn ${turn + 1}`, [`count_${turn}`]: BIG };
    const request = {
      messages: messagesOf(turn, LANGUAGE),
      memoryChange: mergePatch(patch),
      expectedVersion,
      requestId: `${LANGUAGE}-turn-${turn}`,
    };
    const first = await run.append(request);
    const again = await run.append(request);
    assert.deepEqual([first.replayed, again.replayed], [false, true], "replayed");
    assert.deepEqual(
      [again.version, again.firstSeq, again.lastSeq],
      [first.version, first.firstSeq, first.lastSeq],
      "the replay's receipt",
    );
    await assert.rejects(
      run.append({ messages: [user("too late")], expectedVersion }),
      (error: unknown) => error instanceof VersionConflict && error.currentVersion === first.version,
      "an append at an old version",
    );
    checkMessages(await follow(session, first.version), turn);
    return first.version;
  });
}

const { values } = parseArgs({ options: { "session-id": { type: "string" }, turn: { type: "string" } } });
const client = connect(process.env["LOCKSTITCH_TARGET"]!, { token: process.env["LOCKSTITCH_TOKEN"] });
try {
  const turn = Number(values.turn);
  const version = await takeTurn(client, values["session-id"]!, turn);
  console.log(JSON.stringify({ turn, language: LANGUAGE, version: Number(version) }));
} catch (error) {
  console.error(String(error).split("\n").join(" "));
  process.exitCode = 1;
} finally {
  client.close();
}
