/** The TypeScript client of lockstitch, a durable session store for AI agents. */

export { type Client, type ClientOptions, connect } from "./client.js";
export type { Tls } from "./endpoint.js";
export * from "./errors.js";
export { type MemoryField, mergePatch, replace, setFields, setKeys } from "./memory.js";
export {
  type AssistantOptions,
  assistant,
  blob,
  type Content,
  call,
  developer,
  json,
  type MessageOptions,
  system,
  tool,
  user,
} from "./messages.js";
export { type Finish, type Outcome, type Run, runEnd } from "./run.js";
export type { RunOptions, Session, SubscribeOptions, WhenBusy } from "./session.js";
export type { CallOptions, TokenSource } from "./transport.js";
export { JsonText, toJson } from "./wire.js";
