/** JavaScript values as the wire wants them, and clear words where they can't be. */

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

import { InvalidField } from "./errors.js";

/**
 * Text that is JSON already, such as a provider's arguments: sent as it is, byte for byte.
 *
 *     tool("c1", new JsonText('{"order": 7203685477580123457, "rate": 1e3}'))
 */
export class JsonText {
  constructor(readonly text: string) {}
}

/**
 * A value as compact JSON text: keys in their order, bigints as exact integers, text as it is.
 *
 * Throws {@link InvalidField} for NaN, infinities, circular references, lone surrogates, and what JSON has no form for.
 */
export function toJson(value: unknown, field: string): string {
  return value instanceof JsonText ? value.text : written(value, field, []);
}

/** The error of a field that can't be sent, shaped like the server's own. */
export function refused(field: string, description: string): InvalidField {
  return new InvalidField(`${field}: ${description}.`, { reason: "INVALID_FIELD", fieldViolations: [{ field, description }] });
}

/** An instant. */
export function timestamp(instant: Date, field: string): Timestamp {
  if (Number.isNaN(instant.getTime())) {
    throw refused(field, "is not a date");
  }
  return timestampFromDate(instant);
}

/** Throws {@link InvalidField} where a message holds a lone surrogate, which UTF-8 has no form for: the codec would replace it. */
export function refuseLoneSurrogates(message: object, path = ""): void {
  for (const [key, value] of Object.entries(message)) {
    // A oneof stands as { case, value }, or as { case: undefined }.
    const named = "case" in message && key === "value" ? String(message.case) : key;
    const outer = "case" in message ? path.slice(0, Math.max(path.lastIndexOf("."), 0)) : path;
    const place = Array.isArray(message) ? `${path}[${key}]` : outer === "" ? snake(named) : `${outer}.${snake(named)}`;
    if (typeof value === "string") {
      if (!value.isWellFormed()) {
        throw refused(place, "holds a lone surrogate, which can't be sent as UTF-8");
      }
      if (!key.isWellFormed()) {
        throw refused(path, "has a key with a lone surrogate, which can't be sent as UTF-8");
      }
    } else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
      refuseLoneSurrogates(value, place);
    }
  }
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function written(value: unknown, field: string, around: readonly object[]): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "boolean":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) {
        throw refused(field, `can't be written as JSON: ${value} is no number there`);
      }
      return Object.is(value, -0) ? "-0.0" : JSON.stringify(value);
    case "string":
      if (!value.isWellFormed()) {
        throw refused(field, "holds a lone surrogate, which can't be sent as UTF-8");
      }
      return JSON.stringify(value);
    case "object":
      return value === null ? "null" : object(value, field, around);
    default:
      throw refused(field, `can't be written as JSON: it holds a ${typeof value}`);
  }
}

function object(value: object, field: string, around: readonly object[]): string {
  if (around.includes(value)) {
    throw refused(field, "can't be written as JSON: it holds itself");
  }
  const within = [...around, value];
  if (value instanceof JsonText) {
    return value.text;
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return written(value.toJSON(), field, within);
  }
  if (Array.isArray(value)) {
    return `[${value.map((item) => written(item ?? null, field, within)).join(",")}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries.map(([key, item]) => `${written(key, field, within)}:${written(item, field, within)}`).join(",")}}`;
}
