/** The values and patterns of the test vectors, as client/testdata/README.md has them. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A value with what was saved, and long texts, filled in. */
export function filled(value: Json, saved: ReadonlyMap<string, Json>): Json {
  if (isObject(value)) {
    if (typeof value["$saved"] === "string") {
      const known = saved.get(value["$saved"]);
      if (known === undefined) {
        throw new Error(`Nothing was saved as ${value["$saved"]}.`);
      }
      return known;
    }
    if (typeof value["$text"] === "string") {
      return value["$text"].repeat(Number(value["times"]));
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, saved)]));
  }
  return Array.isArray(value) ? value.map((item: Json) => filled(item, saved)) : value;
}

/** Where a value is not as a pattern says; undefined where it is. */
export function mismatch(pattern: Json, value: Json | undefined, path = "answer"): string | undefined {
  if (isObject(pattern)) {
    return ofObject(pattern, value, path);
  }
  if (Array.isArray(pattern) && pattern.length > 0) {
    if (!Array.isArray(value) || value.length !== pattern.length) {
      return `${path}: expected ${pattern.length} items, got ${shortened(value)}`;
    }
    return pattern.map((item: Json, at) => mismatch(item, value[at] as Json, `${path}[${at}]`)).find((told) => told !== undefined);
  }
  const isSame = isDefault(pattern) ? isDefault(value) : Object.is(pattern, value);
  return isSame ? undefined : `${path}: expected ${shortened(pattern)}, got ${shortened(value)}`;
}

/** What stands at a path such as `messages.0.seq`. */
export function at(value: Json, path: string): Json {
  return path.split(".").reduce<Json>((inner, key) => (inner as JsonObject)[key] ?? null, value);
}

function ofObject(pattern: JsonObject, value: Json | undefined, path: string): string | undefined {
  if ("$exactly" in pattern) {
    return Object.is(pattern["$exactly"], value) ? undefined : `${path}: expected ${JSON.stringify(pattern)}, got ${shortened(value)}`;
  }
  if ("$any" in pattern) {
    return isDefault(value) ? `${path}: expected anything but ${shortened(value)}` : undefined;
  }
  if ("$length" in pattern) {
    const length = typeof value === "string" ? Buffer.byteLength(value) : Array.isArray(value) ? value.length : undefined;
    return length === pattern["$length"] ? undefined : `${path}: expected a length of ${pattern["$length"]}, got ${length}`;
  }
  if ("$at_least" in pattern || "$at_most" in pattern) {
    const number = Number(value ?? 0);
    const isWithin = number >= Number(pattern["$at_least"] ?? -Infinity) && number <= Number(pattern["$at_most"] ?? Infinity);
    return isWithin ? undefined : `${path}: expected ${JSON.stringify(pattern)}, got ${shortened(value)}`;
  }
  if (Object.keys(pattern).length === 0) {
    return isDefault(value) ? undefined : `${path}: expected nothing, got ${shortened(value)}`;
  }
  const within = isObject(value) ? value : {};
  return Object.entries(pattern)
    .map(([key, item]) => mismatch(item, within[key], `${path}.${key}`))
    .find((told) => told !== undefined);
}

function isDefault(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === 0 || value === "0" || value === "" || value === false) {
    return true;
  }
  return typeof value === "object" && Object.keys(value).length === 0;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shortened(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
