/** Runs the cases of the test vectors with this client: one case at a time, each in a tenant of its own. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { type DescMethodUnary, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";

import * as errors from "../../src/index.js";
import {
  AdminService,
  CheckpointService,
  GetServerInfoResponseSchema,
  RunSchema,
  RunService,
  SessionService,
  SubscribeRequestSchema,
  type SubscribeResponse,
  SubscribeResponseSchema,
} from "../../src/v1.js";
import { at, filled, type Json, type JsonObject, mismatch } from "./patterns.js";
import type { Testbed } from "./testbed.js";

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

type Step = JsonObject & { readonly error?: JsonObject; readonly answer?: Json; readonly save?: { readonly [name: string]: string } };

const UNTIL_MS = 20_000;
const NEXT_MS = 30_000;
const METHODS = new Map(
  [SessionService, RunService, CheckpointService, AdminService].flatMap((service) =>
    service.methods.map((method) => [method.name, method as DescMethodUnary] as const),
  ),
);
const CLASS_OF_CODE: Readonly<Record<string, string>> = { ABORTED: "Conflict" };
const CLASS_OF_REASON: Readonly<Record<string, string>> = { TOOL_CALL_STATUS: "ToolCallStatusRefused" };

/** Runs a case; throws at the first step that is not as it should be. */
export async function run(testbed: Testbed, { steps }: Case): Promise<void> {
  const runner = new Runner(testbed);
  try {
    for (const [number, step] of steps.entries()) {
      await runner.step(step).catch((failure: unknown) => {
        throw new Error(`step ${number + 1}, ${JSON.stringify(step).slice(0, 300)}`, { cause: failure });
      });
    }
  } finally {
    await runner.end();
  }
}

class Runner {
  private readonly tenant = `ts-${randomUUID()}`;
  private readonly saved = new Map<string, Json>();
  private readonly clients = new Map<string, errors.Client>();
  private readonly runs = new Map<string, errors.Run>();
  private readonly subscriptions = new Map<string, { frames: AsyncGenerator<SubscribeResponse, void>; giveUp: AbortController }>();
  private second = "";

  constructor(private readonly testbed: Testbed) {}

  async step(step: Step): Promise<void> {
    if (step.error !== undefined) {
      await this.fails(step, filled(step.error, this.saved) as JsonObject);
      return;
    }
    const until = performance.now() + (step["until"] === true ? UNTIL_MS : 0);
    for (;;) {
      try {
        this.passes(step, await this.done(step));
        return;
      } catch (failure) {
        if (performance.now() >= until) {
          throw failure;
        }
        await sleep(100);
      }
    }
  }

  async end(): Promise<void> {
    for (const name of this.subscriptions.keys()) {
      await this.close(name);
    }
    for (const held of this.runs.values()) {
      await held[Symbol.asyncDispose]().catch(() => undefined);
    }
    for (const client of this.clients.values()) {
      client.close();
    }
    for (const command of ["forgive", "restore", "forget_calls"]) {
      await this.testbed.send(command);
    }
  }

  private passes(step: Step, answer: Json): void {
    const pattern = step.answer ?? (step["frame"] as Json | undefined);
    if (pattern !== undefined) {
      assert.equal(mismatch(filled(pattern, this.saved), answer), undefined);
    }
    for (const [name, path] of Object.entries(step.save ?? {})) {
      this.saved.set(name, at(answer, path));
    }
  }

  private async fails(step: Step, expected: JsonObject): Promise<void> {
    const until = performance.now() + (step["until"] === true ? UNTIL_MS : 0);
    for (;;) {
      try {
        const error = await this.done(step).then(
          (answer) => assert.fail(`It succeeded: ${JSON.stringify(answer).slice(0, 300)}`),
          (failure: unknown) => failure,
        );
        assertIs(error, expected);
        return;
      } catch (failure) {
        if (performance.now() >= until) {
          throw failure;
        }
        await sleep(100);
      }
    }
  }

  private async done(step: Step): Promise<Json> {
    if (typeof step["call"] === "string") {
      return await this.call(step["call"], step);
    }
    if (typeof step["testbed"] === "string") {
      const answer = await this.testbed.send(step["testbed"], filled(step["with"] ?? {}, this.saved) as object);
      this.second = step["testbed"] === "second_server" ? String(answer["target"]) : this.second;
      return answer as unknown as Json;
    }
    if (typeof step["subscribe"] === "string") {
      return await this.subscribe(step["subscribe"], step);
    }
    if (typeof step["next"] === "string") {
      return await this.next(step["next"], step["kind"] as string | undefined);
    }
    if (typeof step["close"] === "string") {
      await this.close(step["close"]);
      return {};
    }
    if (typeof step["run"] === "string") {
      return await this.start(step["run"], step);
    }
    if (typeof step["finish"] === "string") {
      const status = (step["status"] ?? "succeeded") as errors.Outcome;
      const finished = await this.runs.get(step["finish"])!.finish({ status });
      return toJson(METHODS.get("FinishRun")!.output, finished) as Json;
    }
    if (typeof step["lost"] === "string") {
      const held = this.runs.get(step["lost"])!;
      const until = performance.now() + UNTIL_MS;
      while (!held.isLost) {
        assert.ok(performance.now() < until, "The run was not found to be lost.");
        await sleep(20);
      }
      assert.ok(held.signal.aborted);
      return {};
    }
    assert.equal(step["check_server"], true, "A step that nobody knows.");
    return toJson(GetServerInfoResponseSchema, await (await this.client(step)).checkServer()) as Json;
  }

  private async call(name: string, step: Step): Promise<Json> {
    const method = METHODS.get(name)!;
    const request = fromJson(method.input, filled(step["request"] ?? {}, this.saved) as JsonValue);
    const options = typeof step["timeout_ms"] === "number" ? { timeoutMs: step["timeout_ms"] } : {};
    if (typeof step["under"] === "string") {
      const held = this.runs.get(step["under"])!;
      return toJson(method.output, await held.call(method, request, options)) as Json;
    }
    const client = await this.client(step);
    for (const stub of Object.values(client.stubs)) {
      const call = (stub as unknown as Record<string, (request: MessageInitShape<typeof method.input>, options: object) => Promise<never>>)[
        method.localName
      ];
      if (call !== undefined) {
        return toJson(method.output, await call(request, options)) as Json;
      }
    }
    throw new Error(`There is no RPC ${name}.`);
  }

  private async subscribe(name: string, step: Step): Promise<Json> {
    const request = fromJson(SubscribeRequestSchema, filled(step["request"] ?? {}, this.saved) as JsonValue);
    const { sessionId, afterVersion, roles, storeEpoch, heartbeatInterval } = request;
    const giveUp = new AbortController();
    const frames = (await this.client(step)).session(sessionId).frames({
      afterVersion,
      roles,
      storeEpoch,
      signal: giveUp.signal,
      ...(heartbeatInterval && { heartbeatIntervalMs: durationMs(heartbeatInterval) }),
      ...(typeof step["timeout_ms"] === "number" && { timeoutMs: step["timeout_ms"] }),
    });
    this.subscriptions.set(name, { frames, giveUp });
    return {};
  }

  private async next(name: string, kind: string | undefined): Promise<Json> {
    const { frames, giveUp } = this.subscriptions.get(name)!;
    const alarm = setTimeout(() => giveUp.abort(), NEXT_MS);
    try {
      for (;;) {
        const { value } = await frames.next();
        const frame = value!.frame;
        if (frame.case === kind) {
          return at(toJson(SubscribeResponseSchema, value!) as Json, kind!);
        }
        assert.ok(kind === undefined || frame.case !== "commit", `Waited for ${kind}, and got a commit.`);
      }
    } finally {
      clearTimeout(alarm);
    }
  }

  private async close(name: string): Promise<void> {
    const { frames, giveUp } = this.subscriptions.get(name)!;
    giveUp.abort();
    await frames.return();
  }

  private async start(name: string, step: Step): Promise<Json> {
    const session = (await this.client(step)).session(String(filled(step["session_id"]!, this.saved)));
    const held = await session.startRun({
      worker: String(step["worker"] ?? ""),
      onBusy: (step["on_busy"] ?? "reject") as errors.WhenBusy,
      ...(typeof step["lease_ms"] === "number" && { leaseMs: step["lease_ms"] }),
    });
    this.runs.set(name, held);
    return { run: toJson(RunSchema, held.state) as Json };
  }

  private async client(step: Step): Promise<errors.Client> {
    const who = String(step["as"] ?? "engine");
    const way = String(step["through"] ?? "direct");
    const known = this.clients.get(`${who} ${way}`);
    if (known !== undefined) {
      return known;
    }
    const { target, proxy_target, between_target } = this.testbed.targets;
    const goal = { direct: target, proxy: proxy_target, between: between_target, second: this.second }[way];
    const token = await this.token(who);
    const client = errors.connect(goal!, token === undefined ? {} : { token });
    this.clients.set(`${who} ${way}`, client);
    return client;
  }

  private async token(who: string): Promise<string | undefined> {
    switch (who) {
      case "nobody":
        return undefined;
      case "forged":
        return "forged";
      case "engine":
        return await this.testbed.token(this.tenant);
      case "expired":
        return await this.testbed.token(this.tenant, { ttl_seconds: -60 });
      case "admin":
        return await this.testbed.token(this.tenant, { user: "admin-1", role: "admin" });
      default:
        return await this.testbed.token(this.tenant, { user: who.slice("user:".length), role: "user" });
    }
  }
}

function assertIs(error: unknown, expected: JsonObject): void {
  if (!(error instanceof errors.LockstitchError)) {
    throw error;
  }
  if (typeof expected["type"] === "string") {
    assert.equal(error.constructor.name, expected["type"]);
    return;
  }
  const [code, reason] = [String(expected["code"]), String(expected["reason"] ?? "")];
  const named = CLASS_OF_REASON[reason] ?? camel(reason);
  const kinds = errors as unknown as Record<string, unknown>;
  assert.equal(error.reason, reason, error.message);
  assert.equal(nameOf(error.code), code);
  // The class of the reason, or of the code where this client does not know the reason.
  assert.equal(error.constructor, reason !== "" && named in kinds ? kinds[named] : kinds[CLASS_OF_CODE[code] ?? camel(code)]);
  if (expected["metadata"] !== undefined) {
    assert.equal(mismatch(expected["metadata"], { ...error.metadata }, "metadata"), undefined);
  }
  if (expected["fields"] !== undefined) {
    assert.deepEqual(
      error.fieldViolations.map(({ field }) => field),
      expected["fields"],
    );
  }
  if (expected["retry_after_ms"] !== undefined) {
    assert.equal(mismatch(expected["retry_after_ms"], error.retryAfterMs ?? 0, "retry_after_ms"), undefined);
  }
  if (expected["request_id"] !== undefined) {
    assert.equal(mismatch(expected["request_id"], error.requestId, "request_id"), undefined);
  }
}

/** A code as gRPC writes it: DeadlineExceeded is DEADLINE_EXCEEDED, and Canceled CANCELLED. */
function nameOf(code: errors.Code): string {
  const name = errors.Code[code]!.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return name === "CANCELED" ? "CANCELLED" : name;
}

function camel(reason: string): string {
  return reason
    .split("_")
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join("");
}
