/** JavaScript values as the wire has them. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { assistant, blob, call, InvalidField, JsonText, json, setKeys, toJson, tool, user } from "../src/index.js";
import { AppendRequestSchema, Role } from "../src/v1.js";
import { refuseLoneSurrogates } from "../src/wire.js";

describe("JSON text", () => {
  test("keeps bigints exact, keys in their order and text as it is", () => {
    assert.equal(
      toJson({ z: 7203685477580123457n, a: [1.5, true, null, "é\u0000😀"], u: undefined }, "f"),
      '{"z":7203685477580123457,"a":[1.5,true,null,"é\\u0000😀"]}',
    );
  });

  test("is sent byte for byte where it is JSON already, within other values too", () => {
    assert.equal(toJson({ raw: new JsonText('{"b": 1e3, "b":1.0}') }, "f"), '{"raw":{"b": 1e3, "b":1.0}}');
  });

  test("keeps minus zero, and writes dates as JSON does", () => {
    assert.equal(toJson([-0, new Date(0)], "f"), '[-0.0,"1970-01-01T00:00:00.000Z"]');
  });

  const itself: unknown[] = [];
  itself.push(itself);
  for (const [what, value] of [
    ["NaN", Number.NaN],
    ["an infinity", [Number.POSITIVE_INFINITY]],
    ["a function", { f: () => 1 }],
    ["nothing at all", undefined],
    ["a lone surrogate", "a\ud800"],
    ["a key with a lone surrogate", { "\udc00": 1 }],
    ["itself", itself],
  ] as const) {
    test(`is refused where a value holds ${what}`, () => {
      assert.throws(
        () => toJson(value, "field"),
        (error: unknown) => error instanceof InvalidField && error.fieldViolations[0]?.field === "field",
      );
    });
  }

  test("takes the same value twice side by side", () => {
    const twice = { a: 1 };
    assert.equal(toJson([twice, twice], "f"), '[{"a":1},{"a":1}]');
  });
});

describe("a lone surrogate", () => {
  const text = "\ud83d";
  const requests: [string, MessageInitShape<typeof AppendRequestSchema>][] = [
    ["session_id", { sessionId: text }],
    ["messages[1].parts[0].text", { messages: [user("fine"), user(text)] }],
    ["messages[0].parts[0].tool_call.name", { messages: [assistant([], { toolCalls: [call("c", text, {})] })] }],
    ["create_if_missing.user_id", { createIfMissing: { userId: text } }],
  ];
  for (const [where, request] of requests) {
    test(`is found in ${where}, since the codec would replace it without a word`, () => {
      assert.throws(
        () => refuseLoneSurrogates(create(AppendRequestSchema, request)),
        (error: unknown) => error instanceof InvalidField && error.fieldViolations[0]?.field === where,
      );
    });
  }

  test("is not seen in emoji, bytes and 64-bit numbers", () => {
    refuseLoneSurrogates(
      create(AppendRequestSchema, { expectedVersion: 3n, messages: [user(["😀", blob("a/b", { data: new Uint8Array([0xd8]) })])] }),
    );
  });
});

describe("makers", () => {
  test("a user's message holds its pieces in order", () => {
    const made = user(["Look:", json({ a: 1n }), blob("image/png", { uri: "https://example.org/a.png" })], {
      author: "Ada",
      metadata: { k: 1 },
    });
    assert.equal(made.role, Role.USER);
    assert.deepEqual(
      made.parts.map(({ content }) => content.case),
      ["text", "json", "blob"],
    );
    assert.deepEqual([made.author, made.metadataJson], ["Ada", '{"k":1}']);
  });

  test("an assistant's reasoning stands before its text, its calls behind", () => {
    const made = assistant("I'll look.", {
      reasoning: "Hm.",
      toolCalls: [call("c1", "search", '{"q": 1e3}')],
      usage: { model: "m", inputTokens: 3n },
    });
    assert.deepEqual(
      made.parts.map(({ content }) => content.case),
      ["reasoning", "text", "toolCall"],
    );
    assert.equal(made.usage?.inputTokens, 3n);
  });

  test("a provider's arguments are kept byte for byte, an object's are written", () => {
    assert.equal(call("c", "n", '{"b": 1.0}').argumentsJson, '{"b": 1.0}');
    assert.equal(call("c", "n", { b: 1 }).argumentsJson, '{"b":1}');
  });

  test("a tool's result is text, JSON, or nothing", () => {
    const output = (result?: unknown): unknown => {
      const { content } = tool("c", result).parts[0]!;
      return content.case === "toolResult" ? content.value.output : undefined;
    };
    assert.deepEqual(output("text"), { case: "text", value: "text" });
    assert.deepEqual(output({ a: null }), { case: "json", value: '{"a":null}' });
    assert.deepEqual(output(new JsonText("1.0")), { case: "json", value: "1.0" });
    assert.deepEqual(output(), { case: undefined });
  });

  test("a change of keys sets null as a value", () => {
    const { change } = setKeys({ owner: null }, { delete: ["scratch"] });
    assert.deepEqual(change.case === "keys" && [change.value.set, change.value.delete], [{ owner: "null" }, ["scratch"]]);
  });
});
