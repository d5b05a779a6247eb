/** Which servers this client fits: within a major version the wire only grows. */

import { ServerTooNew, ServerTooOld } from "./errors.js";

/** The first version of a server that has what this client calls. */
const FROM = "0.1.0";
/** The first version that may speak otherwise. */
const BEFORE = "1.0.0";

/** Throws what is wrong with a server's version, if anything is. What stands behind "-" or "+" does not count. */
export function refuseOtherVersions(version: string): void {
  const metadata = { server_version: version, from: FROM, before: BEFORE };
  const read = numbers(version);
  if (read === undefined || isBelow(read, FROM)) {
    throw new ServerTooOld(`The server is ${version === "" ? "of no version" : version}; this client needs ${FROM}.`, { metadata });
  }
  if (!isBelow(read, BEFORE)) {
    throw new ServerTooNew(`The server is ${version}; this client knows those before ${BEFORE}.`, { metadata });
  }
}

function isBelow(version: readonly bigint[], bound: string): boolean {
  const wanted = numbers(bound)!;
  const place = wanted.findIndex((number, at) => version[at] !== number);
  return place >= 0 && version[place]! < wanted[place]!;
}

function numbers(version: string): bigint[] | undefined {
  return /^(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(version)?.slice(1).map(BigInt);
}
