/** The test vectors of client/testdata: what every language's client does, case by case, against the testbed. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { REPOSITORY, Testbed } from "./support/testbed.js";
import { type Case, run } from "./support/vectors.js";

const FOLDER = join(REPOSITORY, "client/testdata");

describe("the test vectors", () => {
  let testbed: Testbed;
  before(async () => {
    testbed = await Testbed.start();
  });
  after(async () => {
    await testbed.stop();
  });

  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
    const { about, cases } = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as { about: string; cases: Case[] };
    describe(`${file}: ${about}`, () => {
      for (const one of cases) {
        test(one.name, { timeout: 120_000 }, async () => {
          await run(testbed, one);
        });
      }
    });
  }
});
