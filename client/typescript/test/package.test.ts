/** What users install: the packed package, alone, and the README's program on it. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";

import { REPOSITORY, Testbed } from "./support/testbed.js";

const FOLDER = join(REPOSITORY, "client/typescript");
const run = promisify(execFile);

describe("the package", () => {
  let testbed: Testbed;
  let project: string;

  before(async () => {
    testbed = await Testbed.start();
    project = await mkdtemp(join(tmpdir(), "lockstitch-typescript-"));
    const installed = join(project, "node_modules/@lockstitch/client");
    await mkdir(installed, { recursive: true });
    const packed = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: FOLDER });
    await run("tar", ["xzf", join(project, packed.stdout.trim()), "--strip-components=1", "--directory", installed]);
    for (const dependency of ["@bufbuild", "@connectrpc", "@types"]) {
      await symlink(join(FOLDER, "node_modules", dependency), join(project, "node_modules", dependency));
    }
  });
  after(async () => {
    await testbed.stop();
    await rm(project, { recursive: true });
  });

  test("holds its code, its types, its licence and no test", async () => {
    const { stdout } = await run("find", [join(project, "node_modules/@lockstitch/client"), "-type", "f", "-printf", "%P\n"]);
    const files = stdout.trim().split("\n");
    for (const file of ["package.json", "README.md", "LICENSE", "dist/src/index.js", "dist/src/index.d.ts", "dist/src/v1.d.ts"]) {
      assert.ok(files.includes(file), file);
    }
    assert.deepEqual(
      files.filter((file) => file.includes("test") || file.endsWith(".tsbuildinfo")),
      [],
    );
  });

  test("runs the README's first program, which its types fit, and prints what it says", async () => {
    const [, program, printed] = /```ts\n(.*?)```.*?```\n(.*?)```/s.exec(await readFile(join(FOLDER, "README.md"), "utf8"))!;
    await writeFile(join(project, "package.json"), '{"type": "module"}');
    await writeFile(join(project, "program.ts"), program!);
    const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck"];
    await run(join(FOLDER, "node_modules/.bin/tsc"), [...options, "program.ts"], { cwd: project });

    const token = await testbed.token(`ts-${randomUUID()}`);
    const environment = { ...process.env, LOCKSTITCH_TARGET: testbed.targets.target, LOCKSTITCH_TOKEN: token };
    const { stdout } = await run("node", ["program.js"], { cwd: project, env: environment, timeout: 60_000 });
    assert.equal(stdout, printed);
  });
});
