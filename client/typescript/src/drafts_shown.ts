/** How much of each draft was given: a further stream begins with the beginning of those that go on. */

import { createHash } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import type { Commit } from "./gen/lockstitch/v1/commit_pb.js";
import { type Draft, DraftSchema } from "./gen/lockstitch/v1/subscription_pb.js";

export class DraftsShown {
  private readonly ends = new Map<string, bigint>();

  /** What of a piece was not given before; undefined where all of it was. */
  newPart(piece: Draft): Draft | undefined {
    const text = Buffer.from(piece.text);
    const given = this.ends.get(piece.draftId) ?? 0n;
    const end = piece.offset + BigInt(text.length);
    if (end <= given) {
      return undefined;
    }
    this.ends.set(piece.draftId, end);
    if (piece.offset >= given) {
      return piece;
    }
    const rest = text.subarray(Number(given - piece.offset)).toString();
    return create(DraftSchema, { draftId: piece.draftId, offset: given, text: rest, role: piece.role, runId: piece.runId });
  }

  /** Forgets the draft that a commit ends: its own, or the server's where its writer was lost. */
  end(commit: Commit): void {
    for (const draftId of this.ends.keys()) {
      const lost = `server:draft/${draftId}`;
      if ([draftId, lost, `${lost}/${commit.version}`].some((id) => hashOf(id).equals(commit.requestIdHash))) {
        this.ends.delete(draftId);
      }
    }
  }
}

function hashOf(requestId: string): Buffer {
  return createHash("sha256").update(requestId).digest().subarray(0, 16);
}
