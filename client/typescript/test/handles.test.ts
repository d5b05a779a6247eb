/** Handles of sessions and runs against a real server: what the vectors, which call the wire's methods, do not see. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import {
  assistant,
  Cancelled,
  type Client,
  connect,
  InvalidArgument,
  InvalidField,
  mergePatch,
  type Run,
  RunActive,
  RunFenced,
  replace,
  runEnd,
  type Session,
  SessionClosed,
  user,
  VersionConflict,
} from "../src/index.js";
import { type Commit, type Draft, Role, RunStatus, SessionStatus } from "../src/v1.js";
import { Testbed } from "./support/testbed.js";

describe("handles", () => {
  let testbed: Testbed;
  let client: Client;
  let token: string;

  before(async () => {
    testbed = await Testbed.start();
    token = await testbed.token(`ts-${randomUUID()}`);
    client = connect(testbed.targets.target, { token });
  });
  after(async () => {
    client.close();
    await testbed.stop();
  });

  const created = async (): Promise<Session> => await client.create({ userId: "u1" });

  test("a session's version moves with what was read and made here, and not over somebody else's commit", async () => {
    const session = await created();
    assert.deepEqual([session.version, session.info?.status], [1n, SessionStatus.ACTIVE]);
    await session.append({ messages: [user("mine")] });
    assert.equal(session.version, 2n);

    await client.session(session.sessionId).append({ messages: [user("another's")] });
    const receipt = await session.append({ messages: [user("mine again")] });
    assert.deepEqual([receipt.version, session.version, session.receipt?.version], [4n, 2n, 4n]);
    await assert.rejects(session.append({ messages: [user("guarded")], expectedVersion: session.version }), (error: unknown) => {
      assert.ok(error instanceof VersionConflict);
      assert.deepEqual([error.expectedVersion, error.currentVersion, error.lastSeq], [2n, 4n, 3n]);
      return true;
    });

    await session.get();
    assert.equal((await session.append({ messages: [user("guarded")], expectedVersion: session.version })).version, 5n);
  });

  test("the memory's version guards what was computed from it", async () => {
    const session = await created();
    await session.updateMemory({ change: mergePatch({ goal: "Ship it", retries: 7203685477580123457n }) });
    const { memory } = await session.updateMemory({ change: replace({ goal: "Rest" }), expectedMemoryVersion: session.memoryVersion });
    assert.deepEqual([memory?.goal, session.memoryVersion], ["Rest", 3n]);
    const versions = await collected(session.memoryVersions({ pageSize: 1 }));
    assert.deepEqual(
      versions.map(({ extraJson }) => extraJson),
      ["", '{"retries":7203685477580123457}'],
    );
  });

  test("lists go on over pages", async () => {
    const session = await created();
    for (let number = 0; number < 5; number += 1) {
      await session.append({ messages: [user(`${number}`)] });
    }
    const seqs = (await collected(session.messages({ pageSize: 2 }))).map(({ seq }) => seq);
    assert.deepEqual(seqs, [1n, 2n, 3n, 4n, 5n]);
    assert.equal((await collected(session.commits({ pageSize: 2 }))).length, 6);
    const ids = (await collected(client.list({ userId: "u1", pageSize: 1 }))).map(({ sessionId }) => sessionId);
    assert.ok(ids.includes(session.sessionId));
  });

  test("a session is closed, restored, changed and forked", async () => {
    const session = await created();
    await session.close({ reason: "resolved" });
    await assert.rejects(session.append({ messages: [user("late")] }), SessionClosed);
    await session.restore();
    await session.update({ session: { title: "Trip to Oslo" }, updateMask: { paths: ["title"] } });
    const fork = await session.fork();
    assert.deepEqual([session.info?.title, fork.info?.forkedFrom?.sessionId, fork.version], ["Trip to Oslo", session.sessionId, 1n]);
  });

  test("a request that can't be written is refused before it is sent", async () => {
    const session = await created();
    await assert.rejects(session.append({ messages: [user("\ud800")] }), InvalidField);
    await assert.rejects(session.context({ maxMessages: 0.5 }), InvalidArgument);
    assert.equal((await session.get()).session?.version, 1n);
  });

  test("a message that the caller keeps is sent anew, not as a retry", async () => {
    const session = await created();
    const request = { messages: [user("again")] };
    await session.append(request);
    assert.equal((await session.append(request)).replayed, false);
    assert.ok(!("requestId" in request));
  });

  test("a token is asked for before every attempt", async () => {
    let asked = 0;
    const fresh = connect(testbed.targets.between_target, {
      token: async () => {
        asked += 1;
        return token;
      },
    });
    await testbed.send("fail_next", { method: "ListSessions", times: 2 });
    await collected(fresh.list());
    assert.equal(asked, 3);
    fresh.close();
  });

  test("a call is given up by its signal, and by the client's end", async () => {
    const away = connect(testbed.targets.proxy_target, { token });
    await testbed.send("stall");
    const giveUp = new AbortController();
    const given = assert.rejects(collected(away.list({}, { signal: giveUp.signal })), Cancelled);
    const closed = assert.rejects(collected(away.list()), Cancelled);
    giveUp.abort();
    await given;
    away.close();
    await closed;
    await testbed.send("restore");
    await assert.rejects(collected(away.list()), Cancelled);
  });

  test("a subscription goes on behind what its handle has seen, and ends with the loop", async () => {
    const session = await created();
    await client.session(session.sessionId).append({ messages: [user("missed")] });
    for await (const commit of session.subscribe()) {
      assert.deepEqual([commit.version, session.version], [2n, 2n]);
      break;
    }
    assert.equal((await session.append({ messages: [user("next")], expectedVersion: session.version })).version, 3n);
  });

  test("a subscription is given up by its signal while it waits", async () => {
    const session = await created();
    const giveUp = new AbortController();
    const frames = session.frames({ signal: giveUp.signal });
    assert.equal((await frames.next()).value?.frame.case, "opened");
    assert.equal((await frames.next()).value?.frame.case, "caughtUp");
    const waiting = frames.next();
    giveUp.abort();
    await assert.rejects(waiting, Cancelled);
    await assert.rejects(collected(session.subscribe({ signal: giveUp.signal })), Cancelled);
  });

  test("the pieces of a draft follow on one another over a cut, and its commit holds it whole", async () => {
    const session = await created();
    const away = connect(testbed.targets.proxy_target, { token });
    const seen: (Commit | Draft)[] = [];
    const steps = new Steps();
    const drafting = client.stubs.sessions.streamDraft(steps);
    steps.push({ requestId: randomUUID(), sessionId: session.sessionId, message: { role: Role.ASSISTANT } }, { text: "It is " });
    for await (const item of away.session(session.sessionId).subscribeWithDrafts({ afterVersion: 1n })) {
      seen.push(item);
      if (seen.length === 1) {
        await testbed.send("cut");
        steps.push({ offset: 6n, text: "4 degrees.", last: true });
        steps.end();
      }
      if (item.$typeName === "lockstitch.v1.Commit") {
        break;
      }
    }
    assert.equal((await drafting).receipt?.version, 2n);
    const pieces = seen.filter((item) => item.$typeName === "lockstitch.v1.Draft");
    assert.ok("It is 4 degrees.".startsWith(pieces.map(({ text }) => text).join("")));
    assert.equal(pieces[0]?.text, "It is ");
    away.close();
  });

  test("a run ends with its body, and gives what the body gives", async () => {
    const session = await created();
    const runId = await session.run({ worker: "w" }, async (run) => {
      await run.append({ messages: [assistant("Done.")] });
      assert.deepEqual([run.fencingToken, run.isLost, run.cancelRequested, run.isJoined], [1n, false, false, false]);
      assert.ok(run.leaseExpireTime > new Date(0));
      return run.runId;
    });
    assert.equal((await session.getRun(runId)).status, RunStatus.SUCCEEDED);
    assert.equal(session.version, 4n);
  });

  test("a run fails with its body, with the error's text", async () => {
    const session = await created();
    const failure = new RangeError("é".repeat(5000));
    await assert.rejects(
      session.run({}, async () => {
        throw failure;
      }),
      (error: unknown) => error === failure,
    );
    const [run] = await collected(session.runs());
    assert.equal(run?.status, RunStatus.FAILED);
    assert.ok(run.error.startsWith("RangeError: é") && Buffer.byteLength(run.error) <= 8192 && Buffer.byteLength(run.error) > 8188);
    assert.ok(!run.error.includes("\ufffd"));
  });

  test("a run is cancelled with its body", async () => {
    const session = await created();
    await assert.rejects(
      session.run({}, async () => AbortSignal.abort().throwIfAborted()),
      { name: "AbortError" },
    );
    assert.equal((await collected(session.runs()))[0]?.status, RunStatus.CANCELLED);
  });

  test("a run that somebody took over ends its body's work with RunFenced, and its signal aborts", async () => {
    const session = await created();
    await assert.rejects(
      session.run({}, async (run) => {
        await using other = await client.session(session.sessionId).startRun({ onBusy: "interrupt" });
        await assert.rejects(run.append({ messages: [assistant("too late")] }), RunFenced);
        assert.ok(run.isLost && run.signal.aborted && run.signal.reason instanceof RunFenced);
        await assert.rejects(run.context(), RunFenced);
        await other.finish();
      }),
      RunFenced,
    );
  });

  test("a joined run is left running for who started it", async () => {
    const session = await created();
    await using mine = await session.startRun({ worker: "first" });
    await assert.rejects(
      session.run({}, async () => undefined),
      RunActive,
    );
    await session.run({ onBusy: "join" }, async (joined) => {
      assert.deepEqual([joined.isJoined, joined.runId], [true, mine.runId]);
      await joined.append({ messages: [assistant("together")] });
    });
    await mine.append({ messages: [assistant("still mine")], finishRun: runEnd() });
    assert.equal((await session.getRun(mine.runId)).status, RunStatus.SUCCEEDED);
  });

  test("a run that is left without a word of its end has failed", async () => {
    const session = await created();
    let left: Run;
    {
      await using run = await session.startRun();
      left = run;
    }
    assert.equal((await session.getRun(left.runId)).status, RunStatus.FAILED);
  });

  test("a run is told that it should end, and keeps a memory of its own and checkpoints", async () => {
    const session = await created();
    await session.run({}, async (run) => {
      await session.cancelRun({ runId: run.runId });
      assert.ok((await run.renew()).cancelRequested && run.cancelRequested);
      await run.updateMemory({ runId: run.runId, change: mergePatch({ plan: ["read the log"] }) });
      await run.putCheckpoint({ checkpoint: { checkpointId: "0001", data: new Uint8Array([0, 255]) } });
      assert.deepEqual((await run.memory({ runId: run.runId })).plan, ["read the log"]);
      const { checkpoint } = await session.checkpoint();
      assert.deepEqual([checkpoint?.data, checkpoint?.runId], [new Uint8Array([0, 255]), run.runId]);
    });
    assert.equal(session.memoryVersion, 0n);
  });
});

/** The steps of a draft, given as they come. */
class Steps implements AsyncIterable<Step> {
  private readonly steps: Step[] = [];
  private hasEnded = false;
  private wake: () => void = () => undefined;

  push(...steps: readonly Step[]): void {
    this.steps.push(...steps);
    this.wake();
  }

  end(): void {
    this.hasEnded = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Step> {
    for (;;) {
      yield* this.steps.splice(0);
      if (this.hasEnded && this.steps.length === 0) {
        return;
      }
      if (this.steps.length === 0) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }
}

type Step = Parameters<Client["stubs"]["sessions"]["streamDraft"]>[0] extends AsyncIterable<infer S> ? S : never;

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}
