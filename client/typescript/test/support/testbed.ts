/** The testbed that all languages share: real servers, and networks that fail when they are told to. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** The repository's root: the folder above this one that has the protos. */
export const REPOSITORY = rootAbove(dirname(fileURLToPath(import.meta.url)));

/** Where the servers are, and how they are reached. */
export interface Targets {
  readonly target: string;
  readonly proxy_target: string;
  readonly between_target: string;
}

export type Answer = Record<string, unknown> & { readonly ok: boolean };

export class Testbed {
  private constructor(
    private readonly process: ChildProcessByStdio<Writable, Readable, null>,
    private readonly lines: AsyncIterator<string>,
    private readonly reader: Interface,
    readonly targets: Targets,
  ) {}

  static async start(): Promise<Testbed> {
    const [command, ...rest] = process.env["LOCKSTITCH_TESTBED"]?.split(" ") ?? [
      join(REPOSITORY, ".venv/bin/python"),
      join(REPOSITORY, "client/testdata/testbed.py"),
    ];
    const child = spawn(command!, rest, { stdio: ["pipe", "pipe", "inherit"] });
    const reader = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const { value, done } = await lines.next();
    if (done === true) {
      throw new Error("The testbed did not come up.");
    }
    return new Testbed(child, lines, reader, JSON.parse(value) as Targets);
  }

  /** Sends a command and gives its answer. Commands are sent one after the other. */
  async send(command: string, keywords: object = {}): Promise<Answer> {
    this.process.stdin.write(`${JSON.stringify({ command, ...keywords })}\n`);
    const { value, done } = await this.lines.next();
    const answer = done === true ? { ok: false, error: "The testbed is gone." } : (JSON.parse(value) as Answer);
    if (!answer.ok) {
      throw new Error(`${command}: ${String(answer["error"])}`);
    }
    return answer;
  }

  async token(tenant: string, keywords: object = {}): Promise<string> {
    return (await this.send("token", { tenant, user: "engine-1", ...keywords }))["token"] as string;
  }

  async stop(): Promise<void> {
    const gone = once(this.process, "exit");
    this.process.stdin.end();
    await gone;
    this.reader.close();
  }
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, "protos", "buf.yaml"))) {
    return folder;
  }
  if (dirname(folder) === folder) {
    throw new Error("This test needs the whole repository, or LOCKSTITCH_TESTBED.");
  }
  return rootAbove(dirname(folder));
}
