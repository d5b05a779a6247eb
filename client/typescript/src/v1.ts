/** The wire's own messages, enums and services: what calls take and give back. Every field is described where it is made. */

export * from "./gen/lockstitch/v1/admin_service_pb.js";
export * from "./gen/lockstitch/v1/checkpoint_pb.js";
export * from "./gen/lockstitch/v1/checkpoint_service_pb.js";
export * from "./gen/lockstitch/v1/commit_pb.js";
export * from "./gen/lockstitch/v1/error_reason_pb.js";
export * from "./gen/lockstitch/v1/message_pb.js";
export * from "./gen/lockstitch/v1/run_pb.js";
export * from "./gen/lockstitch/v1/run_service_pb.js";
export * from "./gen/lockstitch/v1/session_pb.js";
export * from "./gen/lockstitch/v1/session_service_pb.js";
export * from "./gen/lockstitch/v1/subscription_pb.js";
export * from "./gen/lockstitch/v1/tool_call_pb.js";
export * from "./gen/lockstitch/v1/working_memory_pb.js";
