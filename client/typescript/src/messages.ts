/**
 * Makers of messages: short names for what a conversation is made of.
 *
 *     await session.append({
 *       messages: [
 *         user("What is the weather in Oslo?"),
 *         assistant("", { toolCalls: [call("c1", "weather", { city: "Oslo" })] }),
 *         tool("c1", { degrees: 4 }),
 *         assistant("It is 4 degrees."),
 *       ],
 *     });
 *
 * Each gives a plain `Message` of the wire; one that you filled in yourself does as well. Objects are written as compact JSON with
 * their keys in order; `bigint`s are exact integers, and {@link JsonText} is sent byte for byte.
 */

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import {
  type Message,
  MessageSchema,
  type Part,
  PartSchema,
  Role,
  type ToolCallPart,
  ToolCallPartSchema,
  UsageSchema,
} from "./gen/lockstitch/v1/message_pb.js";
import { JsonText, timestamp, toJson } from "./wire.js";

/** A piece of a message: text, or any part of the wire. */
export type Content = string | Part;

/** What every message may say of itself. */
export interface MessageOptions {
  /** Your own id for it, 1 to 128 characters, unique in its session for good; the server makes one otherwise. */
  readonly messageId?: string;
  /** Who within the role, at most 128 characters. */
  readonly author?: string;
  /** Your own time of it. Kept and filtered by; orders nothing. */
  readonly eventTime?: Date;
  /** An object that is kept with it as JSON, at most 64 KiB. */
  readonly metadata?: unknown;
}

/** What an assistant's message may say beside its content. */
export interface AssistantOptions extends MessageOptions {
  /** What {@link call} gives; they stand behind the content. */
  readonly toolCalls?: readonly ToolCallPart[];
  /** The model's reasoning; it stands before the content. */
  readonly reasoning?: string;
  /** The model's name and the tokens it read and wrote. */
  readonly usage?: MessageInitShape<typeof UsageSchema>;
  /** True where the text broke off before its end. */
  readonly incomplete?: boolean;
}

/** What the person said. Example: `user("hello")`, `user(["Look:", blob("image/png", { uri })], { author: "Ada" })`. */
export function user(content: Content | readonly Content[], options: MessageOptions = {}): Message {
  return message(Role.USER, content, options);
}

/** What the model said, and the tools it asks for. No content at all is `[]`; `""` is the empty text, and a value. */
export function assistant(content: Content | readonly Content[], options: AssistantOptions = {}): Message {
  const made = message(Role.ASSISTANT, content, options);
  if (options.reasoning !== undefined) {
    made.parts.unshift(create(PartSchema, { content: { case: "reasoning", value: options.reasoning } }));
  }
  for (const toolCall of options.toolCalls ?? []) {
    made.parts.push(create(PartSchema, { content: { case: "toolCall", value: toolCall } }));
  }
  if (options.usage !== undefined) {
    made.usage = create(UsageSchema, options.usage);
  }
  made.incomplete = options.incomplete ?? false;
  return made;
}

/** A tool call, for {@link assistant}. Arguments that are a string are the provider's JSON text, kept byte for byte. */
export function call(callId: string, name: string, args: unknown): ToolCallPart {
  const given = typeof args === "string" ? new JsonText(args) : args;
  return create(ToolCallPartSchema, { callId, name, argumentsJson: toJson(given, `tool call "${callId}": arguments`) });
}

/** What a tool gave back: text, or an object as JSON; undefined is no output. It ends its call in the ledger. */
export function tool(callId: string, result?: unknown, options: MessageOptions & { readonly isError?: boolean } = {}): Message {
  const made = message(Role.TOOL, [], options);
  const output =
    result === undefined
      ? ({ case: undefined } as const)
      : typeof result === "string"
        ? ({ case: "text", value: result } as const)
        : ({ case: "json", value: toJson(result, `tool message "${callId}": result`) } as const);
  made.callId = callId;
  made.parts.push(create(PartSchema, { content: { case: "toolResult", value: { callId, output, isError: options.isError ?? false } } }));
  return made;
}

/** Instructions of the application to the model. */
export function system(content: Content | readonly Content[], options: MessageOptions = {}): Message {
  return message(Role.SYSTEM, content, options);
}

/** Instructions of the developer, for models that tell them from the system's. */
export function developer(content: Content | readonly Content[], options: MessageOptions = {}): Message {
  return message(Role.DEVELOPER, content, options);
}

/** A piece of JSON. */
export function json(value: unknown): Part {
  return create(PartSchema, { content: { case: "json", value: toJson(value, "json part") } });
}

/** Bytes (`data`, counted towards the request's 3 MiB) or where they lie (`uri`, never fetched by the server). */
export function blob(mimeType: string, source: { readonly data: Uint8Array } | { readonly uri: string }): Part {
  const where = "data" in source ? ({ case: "data", value: source.data } as const) : ({ case: "uri", value: source.uri } as const);
  return create(PartSchema, { content: { case: "blob", value: { mimeType, source: where } } });
}

function message(role: Role, content: Content | readonly Content[], options: MessageOptions): Message {
  const pieces: readonly Content[] = typeof content === "string" || !Array.isArray(content) ? [content as Content] : content;
  return create(MessageSchema, {
    role,
    messageId: options.messageId ?? "",
    author: options.author ?? "",
    parts: pieces.map((piece) => (typeof piece === "string" ? { content: { case: "text" as const, value: piece } } : piece)),
    metadataJson: options.metadata === undefined ? "" : toJson(options.metadata, "message: metadata"),
    ...(options.eventTime && { eventTime: timestamp(options.eventTime, "message: event_time") }),
  });
}
