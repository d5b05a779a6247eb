/**
 * Changes of working memory.
 *
 * A change that says only what it changes (a merge patch, keys) needs no guard. One whose values were computed from what you read
 * ({@link replace}, {@link setFields}) does: `expectedMemoryVersion: session.memoryVersion`.
 *
 *     await session.updateMemory({ change: mergePatch({ next_action: "run the tests", scratch: null }) });
 */

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { type MemoryChange, MemoryChangeSchema, type WorkingMemorySchema } from "./gen/lockstitch/v1/working_memory_pb.js";
import { toJson } from "./wire.js";

/** The fields of working memory that {@link setFields} sets. */
export type MemoryField = "goal" | "plan" | "completed" | "errors" | "important_files" | "next_action" | "extra_json";

/** An RFC 7396 merge patch of the whole object: null deletes a key, at every depth; lists are replaced whole. */
export function mergePatch(patch: unknown): MemoryChange {
  return create(MemoryChangeSchema, { change: { case: "mergePatchJson", value: toJson(patch, "memory patch") } });
}

/** Top-level keys to set, each as a whole, where null is a value; and keys to delete. */
export function setKeys(values: Readonly<Record<string, unknown>>, options: { readonly delete?: readonly string[] } = {}): MemoryChange {
  const set = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toJson(value, `memory.${key}`)]));
  return create(MemoryChangeSchema, { change: { case: "keys", value: { set, delete: [...(options.delete ?? [])] } } });
}

/** The whole memory becomes this. Needs a guard, unless the session never had memory. */
export function replace(memory: MessageInitShape<typeof WorkingMemorySchema>): MemoryChange {
  return create(MemoryChangeSchema, { change: { case: "replace", value: memory } });
}

/** The named fields become what `memory` has; one it does not have is deleted. Needs a guard like {@link replace}. */
export function setFields(memory: MessageInitShape<typeof WorkingMemorySchema>, ...fields: readonly MemoryField[]): MemoryChange {
  return create(MemoryChangeSchema, { change: { case: "set", value: { memory, updateMask: { paths: [...fields] } } } });
}
