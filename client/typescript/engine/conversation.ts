/** What each turn of the five engines' conversation leaves; client/README.md has the table. */

import assert from "node:assert/strict";

import { create, toBinary } from "@bufbuild/protobuf";

import { assistant, call, JsonText, tool, user } from "../src/index.js";
import { type Message, MessageSchema, Role } from "../src/v1.js";

/** More than a double holds. */
export const BIG = 9007199254740993123n;

/** The arguments of a turn's tool call. */
export function argumentsOf(turn: number): string {
  return `{"turn":${turn},"big":${BIG},"nothing":"\\u0000","e":1e3}`;
}

/** What a turn adds. */
export function messagesOf(turn: number, language: string): Message[] {
  const answered = new JsonText(`{"of":${turn - 1},"least":-9223372036854775808}`);
  return [
    ...(turn > 1 ? [tool(`call-${turn - 1}`, answered)] : []),
    user(`Turn ${turn}: what now?`),
    assistant([`👩🏽‍🚀 turn ${turn}`, ""], { author: language, toolCalls: [call(`call-${turn}`, "count", argumentsOf(turn))] }),
  ];
}

/** Compares messages with what so many turns left, and gives the languages that took them. */
export function checkMessages(messages: readonly Message[], turns: number): string[] {
  const seqs = messages.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    Array.from({ length: Math.max(3 * turns - 1, 0) }, (_, at) => BigInt(at + 1)),
    "the messages' seqs",
  );
  const languages = messages.filter(({ role }) => role === Role.ASSISTANT).map(({ author }) => author);
  assert.equal(languages.length, turns, "how many turns were taken");
  const left = languages.flatMap((language, at) => messagesOf(at + 1, language));
  for (const [at, message] of messages.entries()) {
    assert.deepEqual(asSent(message), asSent(left[at]!), `message ${message.seq}`);
  }
  return languages;
}

/** What memory says of the turns that these languages took. */
export function completedBy(languages: readonly string[]): string[] {
  return languages.map((language, at) => `turn ${at + 1} by ${language}`);
}

/** A message without what the server adds. */
function asSent({ role, author, parts, callId }: Message): Uint8Array {
  return toBinary(MessageSchema, create(MessageSchema, { role, author, parts, callId }));
}
