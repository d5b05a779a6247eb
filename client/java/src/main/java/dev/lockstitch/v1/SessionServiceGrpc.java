package dev.lockstitch.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Sessions of AI agents: created, read, and changed one commit at a time.
 * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
 * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
 * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
 * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
 * success gives the first receipt again, with `replayed`. Reads may be retried at will.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class SessionServiceGrpc {

  private SessionServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "lockstitch.v1.SessionService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.CreateSessionRequest,
      dev.lockstitch.v1.CreateSessionResponse> getCreateSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateSession",
      requestType = dev.lockstitch.v1.CreateSessionRequest.class,
      responseType = dev.lockstitch.v1.CreateSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.CreateSessionRequest,
      dev.lockstitch.v1.CreateSessionResponse> getCreateSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.CreateSessionRequest, dev.lockstitch.v1.CreateSessionResponse> getCreateSessionMethod;
    if ((getCreateSessionMethod = SessionServiceGrpc.getCreateSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getCreateSessionMethod = SessionServiceGrpc.getCreateSessionMethod) == null) {
          SessionServiceGrpc.getCreateSessionMethod = getCreateSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.CreateSessionRequest, dev.lockstitch.v1.CreateSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CreateSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CreateSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("CreateSession"))
              .build();
        }
      }
    }
    return getCreateSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetSessionRequest,
      dev.lockstitch.v1.GetSessionResponse> getGetSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSession",
      requestType = dev.lockstitch.v1.GetSessionRequest.class,
      responseType = dev.lockstitch.v1.GetSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetSessionRequest,
      dev.lockstitch.v1.GetSessionResponse> getGetSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetSessionRequest, dev.lockstitch.v1.GetSessionResponse> getGetSessionMethod;
    if ((getGetSessionMethod = SessionServiceGrpc.getGetSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getGetSessionMethod = SessionServiceGrpc.getGetSessionMethod) == null) {
          SessionServiceGrpc.getGetSessionMethod = getGetSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetSessionRequest, dev.lockstitch.v1.GetSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("GetSession"))
              .build();
        }
      }
    }
    return getGetSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListSessionsRequest,
      dev.lockstitch.v1.ListSessionsResponse> getListSessionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSessions",
      requestType = dev.lockstitch.v1.ListSessionsRequest.class,
      responseType = dev.lockstitch.v1.ListSessionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListSessionsRequest,
      dev.lockstitch.v1.ListSessionsResponse> getListSessionsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListSessionsRequest, dev.lockstitch.v1.ListSessionsResponse> getListSessionsMethod;
    if ((getListSessionsMethod = SessionServiceGrpc.getListSessionsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListSessionsMethod = SessionServiceGrpc.getListSessionsMethod) == null) {
          SessionServiceGrpc.getListSessionsMethod = getListSessionsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListSessionsRequest, dev.lockstitch.v1.ListSessionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSessions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListSessionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListSessionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListSessions"))
              .build();
        }
      }
    }
    return getListSessionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateSessionRequest,
      dev.lockstitch.v1.UpdateSessionResponse> getUpdateSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateSession",
      requestType = dev.lockstitch.v1.UpdateSessionRequest.class,
      responseType = dev.lockstitch.v1.UpdateSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateSessionRequest,
      dev.lockstitch.v1.UpdateSessionResponse> getUpdateSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateSessionRequest, dev.lockstitch.v1.UpdateSessionResponse> getUpdateSessionMethod;
    if ((getUpdateSessionMethod = SessionServiceGrpc.getUpdateSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUpdateSessionMethod = SessionServiceGrpc.getUpdateSessionMethod) == null) {
          SessionServiceGrpc.getUpdateSessionMethod = getUpdateSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.UpdateSessionRequest, dev.lockstitch.v1.UpdateSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UpdateSession"))
              .build();
        }
      }
    }
    return getUpdateSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.AppendRequest,
      dev.lockstitch.v1.AppendResponse> getAppendMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Append",
      requestType = dev.lockstitch.v1.AppendRequest.class,
      responseType = dev.lockstitch.v1.AppendResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.AppendRequest,
      dev.lockstitch.v1.AppendResponse> getAppendMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.AppendRequest, dev.lockstitch.v1.AppendResponse> getAppendMethod;
    if ((getAppendMethod = SessionServiceGrpc.getAppendMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getAppendMethod = SessionServiceGrpc.getAppendMethod) == null) {
          SessionServiceGrpc.getAppendMethod = getAppendMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.AppendRequest, dev.lockstitch.v1.AppendResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Append"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.AppendRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.AppendResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("Append"))
              .build();
        }
      }
    }
    return getAppendMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMemoryRequest,
      dev.lockstitch.v1.UpdateMemoryResponse> getUpdateMemoryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateMemory",
      requestType = dev.lockstitch.v1.UpdateMemoryRequest.class,
      responseType = dev.lockstitch.v1.UpdateMemoryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMemoryRequest,
      dev.lockstitch.v1.UpdateMemoryResponse> getUpdateMemoryMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMemoryRequest, dev.lockstitch.v1.UpdateMemoryResponse> getUpdateMemoryMethod;
    if ((getUpdateMemoryMethod = SessionServiceGrpc.getUpdateMemoryMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUpdateMemoryMethod = SessionServiceGrpc.getUpdateMemoryMethod) == null) {
          SessionServiceGrpc.getUpdateMemoryMethod = getUpdateMemoryMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.UpdateMemoryRequest, dev.lockstitch.v1.UpdateMemoryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateMemory"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateMemoryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateMemoryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UpdateMemory"))
              .build();
        }
      }
    }
    return getUpdateMemoryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetMemoryRequest,
      dev.lockstitch.v1.GetMemoryResponse> getGetMemoryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetMemory",
      requestType = dev.lockstitch.v1.GetMemoryRequest.class,
      responseType = dev.lockstitch.v1.GetMemoryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetMemoryRequest,
      dev.lockstitch.v1.GetMemoryResponse> getGetMemoryMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetMemoryRequest, dev.lockstitch.v1.GetMemoryResponse> getGetMemoryMethod;
    if ((getGetMemoryMethod = SessionServiceGrpc.getGetMemoryMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getGetMemoryMethod = SessionServiceGrpc.getGetMemoryMethod) == null) {
          SessionServiceGrpc.getGetMemoryMethod = getGetMemoryMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetMemoryRequest, dev.lockstitch.v1.GetMemoryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetMemory"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetMemoryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetMemoryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("GetMemory"))
              .build();
        }
      }
    }
    return getGetMemoryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMemoryVersionsRequest,
      dev.lockstitch.v1.ListMemoryVersionsResponse> getListMemoryVersionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMemoryVersions",
      requestType = dev.lockstitch.v1.ListMemoryVersionsRequest.class,
      responseType = dev.lockstitch.v1.ListMemoryVersionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMemoryVersionsRequest,
      dev.lockstitch.v1.ListMemoryVersionsResponse> getListMemoryVersionsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMemoryVersionsRequest, dev.lockstitch.v1.ListMemoryVersionsResponse> getListMemoryVersionsMethod;
    if ((getListMemoryVersionsMethod = SessionServiceGrpc.getListMemoryVersionsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListMemoryVersionsMethod = SessionServiceGrpc.getListMemoryVersionsMethod) == null) {
          SessionServiceGrpc.getListMemoryVersionsMethod = getListMemoryVersionsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListMemoryVersionsRequest, dev.lockstitch.v1.ListMemoryVersionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMemoryVersions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListMemoryVersionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListMemoryVersionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListMemoryVersions"))
              .build();
        }
      }
    }
    return getListMemoryVersionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateToolCallRequest,
      dev.lockstitch.v1.UpdateToolCallResponse> getUpdateToolCallMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateToolCall",
      requestType = dev.lockstitch.v1.UpdateToolCallRequest.class,
      responseType = dev.lockstitch.v1.UpdateToolCallResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateToolCallRequest,
      dev.lockstitch.v1.UpdateToolCallResponse> getUpdateToolCallMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateToolCallRequest, dev.lockstitch.v1.UpdateToolCallResponse> getUpdateToolCallMethod;
    if ((getUpdateToolCallMethod = SessionServiceGrpc.getUpdateToolCallMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUpdateToolCallMethod = SessionServiceGrpc.getUpdateToolCallMethod) == null) {
          SessionServiceGrpc.getUpdateToolCallMethod = getUpdateToolCallMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.UpdateToolCallRequest, dev.lockstitch.v1.UpdateToolCallResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateToolCall"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateToolCallRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateToolCallResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UpdateToolCall"))
              .build();
        }
      }
    }
    return getUpdateToolCallMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.CompleteToolCallRequest,
      dev.lockstitch.v1.CompleteToolCallResponse> getCompleteToolCallMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CompleteToolCall",
      requestType = dev.lockstitch.v1.CompleteToolCallRequest.class,
      responseType = dev.lockstitch.v1.CompleteToolCallResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.CompleteToolCallRequest,
      dev.lockstitch.v1.CompleteToolCallResponse> getCompleteToolCallMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.CompleteToolCallRequest, dev.lockstitch.v1.CompleteToolCallResponse> getCompleteToolCallMethod;
    if ((getCompleteToolCallMethod = SessionServiceGrpc.getCompleteToolCallMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getCompleteToolCallMethod = SessionServiceGrpc.getCompleteToolCallMethod) == null) {
          SessionServiceGrpc.getCompleteToolCallMethod = getCompleteToolCallMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.CompleteToolCallRequest, dev.lockstitch.v1.CompleteToolCallResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CompleteToolCall"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CompleteToolCallRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CompleteToolCallResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("CompleteToolCall"))
              .build();
        }
      }
    }
    return getCompleteToolCallMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListToolCallsRequest,
      dev.lockstitch.v1.ListToolCallsResponse> getListToolCallsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListToolCalls",
      requestType = dev.lockstitch.v1.ListToolCallsRequest.class,
      responseType = dev.lockstitch.v1.ListToolCallsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListToolCallsRequest,
      dev.lockstitch.v1.ListToolCallsResponse> getListToolCallsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListToolCallsRequest, dev.lockstitch.v1.ListToolCallsResponse> getListToolCallsMethod;
    if ((getListToolCallsMethod = SessionServiceGrpc.getListToolCallsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListToolCallsMethod = SessionServiceGrpc.getListToolCallsMethod) == null) {
          SessionServiceGrpc.getListToolCallsMethod = getListToolCallsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListToolCallsRequest, dev.lockstitch.v1.ListToolCallsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListToolCalls"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListToolCallsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListToolCallsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListToolCalls"))
              .build();
        }
      }
    }
    return getListToolCallsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMessagesRequest,
      dev.lockstitch.v1.ListMessagesResponse> getListMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMessages",
      requestType = dev.lockstitch.v1.ListMessagesRequest.class,
      responseType = dev.lockstitch.v1.ListMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMessagesRequest,
      dev.lockstitch.v1.ListMessagesResponse> getListMessagesMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListMessagesRequest, dev.lockstitch.v1.ListMessagesResponse> getListMessagesMethod;
    if ((getListMessagesMethod = SessionServiceGrpc.getListMessagesMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListMessagesMethod = SessionServiceGrpc.getListMessagesMethod) == null) {
          SessionServiceGrpc.getListMessagesMethod = getListMessagesMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListMessagesRequest, dev.lockstitch.v1.ListMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListMessages"))
              .build();
        }
      }
    }
    return getListMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.RemoveMessagesRequest,
      dev.lockstitch.v1.RemoveMessagesResponse> getRemoveMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RemoveMessages",
      requestType = dev.lockstitch.v1.RemoveMessagesRequest.class,
      responseType = dev.lockstitch.v1.RemoveMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.RemoveMessagesRequest,
      dev.lockstitch.v1.RemoveMessagesResponse> getRemoveMessagesMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.RemoveMessagesRequest, dev.lockstitch.v1.RemoveMessagesResponse> getRemoveMessagesMethod;
    if ((getRemoveMessagesMethod = SessionServiceGrpc.getRemoveMessagesMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getRemoveMessagesMethod = SessionServiceGrpc.getRemoveMessagesMethod) == null) {
          SessionServiceGrpc.getRemoveMessagesMethod = getRemoveMessagesMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.RemoveMessagesRequest, dev.lockstitch.v1.RemoveMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RemoveMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RemoveMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RemoveMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("RemoveMessages"))
              .build();
        }
      }
    }
    return getRemoveMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMessageRequest,
      dev.lockstitch.v1.UpdateMessageResponse> getUpdateMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateMessage",
      requestType = dev.lockstitch.v1.UpdateMessageRequest.class,
      responseType = dev.lockstitch.v1.UpdateMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMessageRequest,
      dev.lockstitch.v1.UpdateMessageResponse> getUpdateMessageMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.UpdateMessageRequest, dev.lockstitch.v1.UpdateMessageResponse> getUpdateMessageMethod;
    if ((getUpdateMessageMethod = SessionServiceGrpc.getUpdateMessageMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUpdateMessageMethod = SessionServiceGrpc.getUpdateMessageMethod) == null) {
          SessionServiceGrpc.getUpdateMessageMethod = getUpdateMessageMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.UpdateMessageRequest, dev.lockstitch.v1.UpdateMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UpdateMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UpdateMessage"))
              .build();
        }
      }
    }
    return getUpdateMessageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCommitsRequest,
      dev.lockstitch.v1.ListCommitsResponse> getListCommitsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListCommits",
      requestType = dev.lockstitch.v1.ListCommitsRequest.class,
      responseType = dev.lockstitch.v1.ListCommitsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCommitsRequest,
      dev.lockstitch.v1.ListCommitsResponse> getListCommitsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCommitsRequest, dev.lockstitch.v1.ListCommitsResponse> getListCommitsMethod;
    if ((getListCommitsMethod = SessionServiceGrpc.getListCommitsMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getListCommitsMethod = SessionServiceGrpc.getListCommitsMethod) == null) {
          SessionServiceGrpc.getListCommitsMethod = getListCommitsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListCommitsRequest, dev.lockstitch.v1.ListCommitsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListCommits"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListCommitsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListCommitsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ListCommits"))
              .build();
        }
      }
    }
    return getListCommitsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.SubscribeRequest,
      dev.lockstitch.v1.SubscribeResponse> getSubscribeMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Subscribe",
      requestType = dev.lockstitch.v1.SubscribeRequest.class,
      responseType = dev.lockstitch.v1.SubscribeResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.SubscribeRequest,
      dev.lockstitch.v1.SubscribeResponse> getSubscribeMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.SubscribeRequest, dev.lockstitch.v1.SubscribeResponse> getSubscribeMethod;
    if ((getSubscribeMethod = SessionServiceGrpc.getSubscribeMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getSubscribeMethod = SessionServiceGrpc.getSubscribeMethod) == null) {
          SessionServiceGrpc.getSubscribeMethod = getSubscribeMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.SubscribeRequest, dev.lockstitch.v1.SubscribeResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Subscribe"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.SubscribeRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.SubscribeResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("Subscribe"))
              .build();
        }
      }
    }
    return getSubscribeMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetContextRequest,
      dev.lockstitch.v1.GetContextResponse> getGetContextMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetContext",
      requestType = dev.lockstitch.v1.GetContextRequest.class,
      responseType = dev.lockstitch.v1.GetContextResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetContextRequest,
      dev.lockstitch.v1.GetContextResponse> getGetContextMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetContextRequest, dev.lockstitch.v1.GetContextResponse> getGetContextMethod;
    if ((getGetContextMethod = SessionServiceGrpc.getGetContextMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getGetContextMethod = SessionServiceGrpc.getGetContextMethod) == null) {
          SessionServiceGrpc.getGetContextMethod = getGetContextMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetContextRequest, dev.lockstitch.v1.GetContextResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetContext"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetContextRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetContextResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("GetContext"))
              .build();
        }
      }
    }
    return getGetContextMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.CloseSessionRequest,
      dev.lockstitch.v1.CloseSessionResponse> getCloseSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CloseSession",
      requestType = dev.lockstitch.v1.CloseSessionRequest.class,
      responseType = dev.lockstitch.v1.CloseSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.CloseSessionRequest,
      dev.lockstitch.v1.CloseSessionResponse> getCloseSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.CloseSessionRequest, dev.lockstitch.v1.CloseSessionResponse> getCloseSessionMethod;
    if ((getCloseSessionMethod = SessionServiceGrpc.getCloseSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getCloseSessionMethod = SessionServiceGrpc.getCloseSessionMethod) == null) {
          SessionServiceGrpc.getCloseSessionMethod = getCloseSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.CloseSessionRequest, dev.lockstitch.v1.CloseSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CloseSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CloseSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CloseSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("CloseSession"))
              .build();
        }
      }
    }
    return getCloseSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.RestoreSessionRequest,
      dev.lockstitch.v1.RestoreSessionResponse> getRestoreSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RestoreSession",
      requestType = dev.lockstitch.v1.RestoreSessionRequest.class,
      responseType = dev.lockstitch.v1.RestoreSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.RestoreSessionRequest,
      dev.lockstitch.v1.RestoreSessionResponse> getRestoreSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.RestoreSessionRequest, dev.lockstitch.v1.RestoreSessionResponse> getRestoreSessionMethod;
    if ((getRestoreSessionMethod = SessionServiceGrpc.getRestoreSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getRestoreSessionMethod = SessionServiceGrpc.getRestoreSessionMethod) == null) {
          SessionServiceGrpc.getRestoreSessionMethod = getRestoreSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.RestoreSessionRequest, dev.lockstitch.v1.RestoreSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RestoreSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RestoreSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RestoreSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("RestoreSession"))
              .build();
        }
      }
    }
    return getRestoreSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteSessionRequest,
      dev.lockstitch.v1.DeleteSessionResponse> getDeleteSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteSession",
      requestType = dev.lockstitch.v1.DeleteSessionRequest.class,
      responseType = dev.lockstitch.v1.DeleteSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteSessionRequest,
      dev.lockstitch.v1.DeleteSessionResponse> getDeleteSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteSessionRequest, dev.lockstitch.v1.DeleteSessionResponse> getDeleteSessionMethod;
    if ((getDeleteSessionMethod = SessionServiceGrpc.getDeleteSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getDeleteSessionMethod = SessionServiceGrpc.getDeleteSessionMethod) == null) {
          SessionServiceGrpc.getDeleteSessionMethod = getDeleteSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.DeleteSessionRequest, dev.lockstitch.v1.DeleteSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.DeleteSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.DeleteSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("DeleteSession"))
              .build();
        }
      }
    }
    return getDeleteSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.UndeleteSessionRequest,
      dev.lockstitch.v1.UndeleteSessionResponse> getUndeleteSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UndeleteSession",
      requestType = dev.lockstitch.v1.UndeleteSessionRequest.class,
      responseType = dev.lockstitch.v1.UndeleteSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.UndeleteSessionRequest,
      dev.lockstitch.v1.UndeleteSessionResponse> getUndeleteSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.UndeleteSessionRequest, dev.lockstitch.v1.UndeleteSessionResponse> getUndeleteSessionMethod;
    if ((getUndeleteSessionMethod = SessionServiceGrpc.getUndeleteSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getUndeleteSessionMethod = SessionServiceGrpc.getUndeleteSessionMethod) == null) {
          SessionServiceGrpc.getUndeleteSessionMethod = getUndeleteSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.UndeleteSessionRequest, dev.lockstitch.v1.UndeleteSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UndeleteSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UndeleteSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.UndeleteSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("UndeleteSession"))
              .build();
        }
      }
    }
    return getUndeleteSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ForkSessionRequest,
      dev.lockstitch.v1.ForkSessionResponse> getForkSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ForkSession",
      requestType = dev.lockstitch.v1.ForkSessionRequest.class,
      responseType = dev.lockstitch.v1.ForkSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ForkSessionRequest,
      dev.lockstitch.v1.ForkSessionResponse> getForkSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ForkSessionRequest, dev.lockstitch.v1.ForkSessionResponse> getForkSessionMethod;
    if ((getForkSessionMethod = SessionServiceGrpc.getForkSessionMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getForkSessionMethod = SessionServiceGrpc.getForkSessionMethod) == null) {
          SessionServiceGrpc.getForkSessionMethod = getForkSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ForkSessionRequest, dev.lockstitch.v1.ForkSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ForkSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ForkSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ForkSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("ForkSession"))
              .build();
        }
      }
    }
    return getForkSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.StreamDraftRequest,
      dev.lockstitch.v1.StreamDraftResponse> getStreamDraftMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "StreamDraft",
      requestType = dev.lockstitch.v1.StreamDraftRequest.class,
      responseType = dev.lockstitch.v1.StreamDraftResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.StreamDraftRequest,
      dev.lockstitch.v1.StreamDraftResponse> getStreamDraftMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.StreamDraftRequest, dev.lockstitch.v1.StreamDraftResponse> getStreamDraftMethod;
    if ((getStreamDraftMethod = SessionServiceGrpc.getStreamDraftMethod) == null) {
      synchronized (SessionServiceGrpc.class) {
        if ((getStreamDraftMethod = SessionServiceGrpc.getStreamDraftMethod) == null) {
          SessionServiceGrpc.getStreamDraftMethod = getStreamDraftMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.StreamDraftRequest, dev.lockstitch.v1.StreamDraftResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "StreamDraft"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.StreamDraftRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.StreamDraftResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SessionServiceMethodDescriptorSupplier("StreamDraft"))
              .build();
        }
      }
    }
    return getStreamDraftMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static SessionServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceStub>() {
        @java.lang.Override
        public SessionServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceStub(channel, callOptions);
        }
      };
    return SessionServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static SessionServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingV2Stub>() {
        @java.lang.Override
        public SessionServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return SessionServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static SessionServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceBlockingStub>() {
        @java.lang.Override
        public SessionServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceBlockingStub(channel, callOptions);
        }
      };
    return SessionServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static SessionServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SessionServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SessionServiceFutureStub>() {
        @java.lang.Override
        public SessionServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SessionServiceFutureStub(channel, callOptions);
        }
      };
    return SessionServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Creates a session, with its first messages and memory in the same commit.
     * Errors: SESSION_EXISTS where the caller's own session_id is taken by another creation, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, the
     * tool-call reasons of Append. A retry gives the session as it was created.
     * </pre>
     */
    default void createSession(dev.lockstitch.v1.CreateSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CreateSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives a session, and with it its newest messages, memory and open tool calls, from one snapshot; now, or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    default void getSession(dev.lockstitch.v1.GetSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists sessions, the most recently used first. A user sees its own only.
     * Errors: PAGE_TOKEN_INVALID. A session that moves while paging is seen at most once.
     * </pre>
     */
    default void listSessions(dev.lockstitch.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSessionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes a session's title, labels, metadata or life.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED (labels and metadata_json need expected_version or force), SESSION_CLOSED,
     * SESSION_EXPIRED. A user may change the title. A retry gives the session as of the first answer.
     * </pre>
     */
    default void updateSession(dev.lockstitch.v1.UpdateSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Stores messages, changes of tool calls and a change of memory, in one commit: all of it or nothing.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, MESSAGE_ID_EXISTS, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_CLOSED,
     * SESSION_EXPIRED, SESSION_FULL, SESSION_EXISTS (create_if_missing for another user's session), TOOL_CALL_NOT_FOUND,
     * TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS. A retry gives the same receipt, even after the session was closed.
     * </pre>
     */
    default void append(dev.lockstitch.v1.AppendRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.AppendResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAppendMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes working memory.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the memory as of the first
     * answer.
     * </pre>
     */
    default void updateMemory(dev.lockstitch.v1.UpdateMemoryRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMemoryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateMemoryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives working memory, now or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    default void getMemory(dev.lockstitch.v1.GetMemoryRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetMemoryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetMemoryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists working memory as it was after each commit that changed it, newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listMemoryVersions(dev.lockstitch.v1.ListMemoryVersionsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMemoryVersionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMemoryVersionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS, VERSION_CONFLICT, SESSION_CLOSED,
     * SESSION_EXPIRED. A retry gives the call as of the first answer.
     * </pre>
     */
    default void updateToolCall(dev.lockstitch.v1.UpdateToolCallRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateToolCallResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateToolCallMethod(), responseObserver);
    }

    /**
     * <pre>
     * Ends a tool call. Where a message made the call and the outcome is known, its TOOL message is written in the same commit.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED (another outcome stands; an equal one is OK, unchanged), TOOL_CALL_AMBIGUOUS,
     * VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_FULL, MESSAGE_TOO_LARGE. A retry gives the call as of the first answer.
     * </pre>
     */
    default void completeToolCall(dev.lockstitch.v1.CompleteToolCallRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CompleteToolCallResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompleteToolCallMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists tool calls, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listToolCalls(dev.lockstitch.v1.ListToolCallsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListToolCallsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListToolCallsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists messages by seq.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listMessages(dev.lockstitch.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes messages back from the end, and puts others in their place if any are given, in one commit. Calls that a removed message
     * made leave the ledger with it; calls whose result is removed stand as they stood before it.
     * Errors: VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_FULL, the tool-call reasons
     * of Append. Two takers take different messages; taking from an empty session is OK and changes nothing. A retry gives the same
     * messages again.
     * </pre>
     */
    default void removeMessages(dev.lockstitch.v1.RemoveMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RemoveMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRemoveMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes a message in its place, such as to redact it. Its role, the call that it answers and the calls that it makes stay.
     * Errors: MESSAGE_NOT_FOUND, MESSAGE_TOO_LARGE, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the message as of
     * the first answer.
     * </pre>
     */
    default void updateMessage(dev.lockstitch.v1.UpdateMessageRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateMessageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the commits that made the session what it is, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listCommits(dev.lockstitch.v1.ListCommitsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCommitsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListCommitsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams a session's commits: those behind a version, then each as it is made. Ordered, unique, reliable, atomic, resumable and
     * bookmarkable, across restarts of servers and of the database.
     * Errors: CURSOR_AHEAD, STORE_RESTORED, SUBSCRIPTION_LIMIT; later SLOW_CONSUMER (nothing was taken for 60 seconds), TOKEN_EXPIRED,
     * DRAINING. After any of them resume behind the last version received.
     * </pre>
     */
    default void subscribe(dev.lockstitch.v1.SubscribeRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.SubscribeResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSubscribeMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives what an engine needs to go on, from one snapshot: the session, its memory, the newest messages with tool calls and
     * results together, open tool calls, recent ones, and the version to expect.
     * </pre>
     */
    default void getContext(dev.lockstitch.v1.GetContextRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetContextResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetContextMethod(), responseObserver);
    }

    /**
     * <pre>
     * Closes a session: it takes no more changes until it is restored. A run whose lease has run out ends as EXPIRED in the same commit;
     * what is being drafted is stored as incomplete.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given, SESSION_EXPIRED, SESSION_DELETED. Closing a closed session is OK and changes nothing.
     * </pre>
     */
    default void closeSession(dev.lockstitch.v1.CloseSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CloseSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCloseSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a closed or expired session active again.
     * Errors: VERSION_CONFLICT where a version is given, SESSION_DELETED, SESSION_EXPIRED where its time has passed and no new life is given. Restoring
     * an active session is OK and changes nothing.
     * </pre>
     */
    default void restoreSession(dev.lockstitch.v1.RestoreSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RestoreSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRestoreSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a session: it is shown to nobody who does not ask for deleted ones, and can be undeleted until its purge_time (30 days
     * from now, unless the server is set otherwise). Then its content goes for good. Its id stays taken.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given. Deleting a deleted session is OK and changes nothing.
     * </pre>
     */
    default void deleteSession(dev.lockstitch.v1.DeleteSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a deleted session what it was.
     * Errors: VERSION_CONFLICT where a version is given. Undeleting a session that is not deleted is OK and changes nothing.
     * </pre>
     */
    default void undeleteSession(dev.lockstitch.v1.UndeleteSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UndeleteSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUndeleteSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a session of its own out of another one as it was at a version: the same messages under the same seqs, its memory, its tool
     * calls; not its runs, checkpoints, request ids or history.
     * Errors: SESSION_EXISTS, CURSOR_AHEAD, INVALID_FIELD where a tool call would be split from its result (metadata: nearest_below, absent
     * where there is none, and nearest_above, the versions that can be forked). A retry gives the same session, as it was forked.
     * </pre>
     */
    default void forkSession(dev.lockstitch.v1.ForkSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ForkSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getForkSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes a message's text as the model generates it, shows it to subscribers of any server meanwhile, and stores it as one commit when
     * the caller is done. Steps may be sent again, on any server, from any offset that is stored. A draft that gets no step for 25 seconds
     * (unless the server is set otherwise), and one whose run is taken over or whose session is closed, is stored as it is, `incomplete`.
     * Errors: those of Append, CURSOR_AHEAD (metadata: current_offset). A retry of a draft that was stored gives the same receipt.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<dev.lockstitch.v1.StreamDraftRequest> streamDraft(
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.StreamDraftResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getStreamDraftMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service SessionService.
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public static abstract class SessionServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return SessionServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service SessionService.
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public static final class SessionServiceStub
      extends io.grpc.stub.AbstractAsyncStub<SessionServiceStub> {
    private SessionServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a session, with its first messages and memory in the same commit.
     * Errors: SESSION_EXISTS where the caller's own session_id is taken by another creation, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, the
     * tool-call reasons of Append. A retry gives the session as it was created.
     * </pre>
     */
    public void createSession(dev.lockstitch.v1.CreateSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CreateSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives a session, and with it its newest messages, memory and open tool calls, from one snapshot; now, or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public void getSession(dev.lockstitch.v1.GetSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists sessions, the most recently used first. A user sees its own only.
     * Errors: PAGE_TOKEN_INVALID. A session that moves while paging is seen at most once.
     * </pre>
     */
    public void listSessions(dev.lockstitch.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes a session's title, labels, metadata or life.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED (labels and metadata_json need expected_version or force), SESSION_CLOSED,
     * SESSION_EXPIRED. A user may change the title. A retry gives the session as of the first answer.
     * </pre>
     */
    public void updateSession(dev.lockstitch.v1.UpdateSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Stores messages, changes of tool calls and a change of memory, in one commit: all of it or nothing.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, MESSAGE_ID_EXISTS, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_CLOSED,
     * SESSION_EXPIRED, SESSION_FULL, SESSION_EXISTS (create_if_missing for another user's session), TOOL_CALL_NOT_FOUND,
     * TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS. A retry gives the same receipt, even after the session was closed.
     * </pre>
     */
    public void append(dev.lockstitch.v1.AppendRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.AppendResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAppendMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes working memory.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the memory as of the first
     * answer.
     * </pre>
     */
    public void updateMemory(dev.lockstitch.v1.UpdateMemoryRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMemoryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateMemoryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives working memory, now or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public void getMemory(dev.lockstitch.v1.GetMemoryRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetMemoryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetMemoryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists working memory as it was after each commit that changed it, newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listMemoryVersions(dev.lockstitch.v1.ListMemoryVersionsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMemoryVersionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMemoryVersionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS, VERSION_CONFLICT, SESSION_CLOSED,
     * SESSION_EXPIRED. A retry gives the call as of the first answer.
     * </pre>
     */
    public void updateToolCall(dev.lockstitch.v1.UpdateToolCallRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateToolCallResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateToolCallMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Ends a tool call. Where a message made the call and the outcome is known, its TOOL message is written in the same commit.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED (another outcome stands; an equal one is OK, unchanged), TOOL_CALL_AMBIGUOUS,
     * VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_FULL, MESSAGE_TOO_LARGE. A retry gives the call as of the first answer.
     * </pre>
     */
    public void completeToolCall(dev.lockstitch.v1.CompleteToolCallRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CompleteToolCallResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCompleteToolCallMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists tool calls, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listToolCalls(dev.lockstitch.v1.ListToolCallsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListToolCallsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListToolCallsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists messages by seq.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listMessages(dev.lockstitch.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes messages back from the end, and puts others in their place if any are given, in one commit. Calls that a removed message
     * made leave the ledger with it; calls whose result is removed stand as they stood before it.
     * Errors: VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_FULL, the tool-call reasons
     * of Append. Two takers take different messages; taking from an empty session is OK and changes nothing. A retry gives the same
     * messages again.
     * </pre>
     */
    public void removeMessages(dev.lockstitch.v1.RemoveMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RemoveMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRemoveMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes a message in its place, such as to redact it. Its role, the call that it answers and the calls that it makes stay.
     * Errors: MESSAGE_NOT_FOUND, MESSAGE_TOO_LARGE, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the message as of
     * the first answer.
     * </pre>
     */
    public void updateMessage(dev.lockstitch.v1.UpdateMessageRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateMessageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the commits that made the session what it is, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listCommits(dev.lockstitch.v1.ListCommitsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCommitsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListCommitsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams a session's commits: those behind a version, then each as it is made. Ordered, unique, reliable, atomic, resumable and
     * bookmarkable, across restarts of servers and of the database.
     * Errors: CURSOR_AHEAD, STORE_RESTORED, SUBSCRIPTION_LIMIT; later SLOW_CONSUMER (nothing was taken for 60 seconds), TOKEN_EXPIRED,
     * DRAINING. After any of them resume behind the last version received.
     * </pre>
     */
    public void subscribe(dev.lockstitch.v1.SubscribeRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.SubscribeResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getSubscribeMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives what an engine needs to go on, from one snapshot: the session, its memory, the newest messages with tool calls and
     * results together, open tool calls, recent ones, and the version to expect.
     * </pre>
     */
    public void getContext(dev.lockstitch.v1.GetContextRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetContextResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetContextMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Closes a session: it takes no more changes until it is restored. A run whose lease has run out ends as EXPIRED in the same commit;
     * what is being drafted is stored as incomplete.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given, SESSION_EXPIRED, SESSION_DELETED. Closing a closed session is OK and changes nothing.
     * </pre>
     */
    public void closeSession(dev.lockstitch.v1.CloseSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CloseSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCloseSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a closed or expired session active again.
     * Errors: VERSION_CONFLICT where a version is given, SESSION_DELETED, SESSION_EXPIRED where its time has passed and no new life is given. Restoring
     * an active session is OK and changes nothing.
     * </pre>
     */
    public void restoreSession(dev.lockstitch.v1.RestoreSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RestoreSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRestoreSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a session: it is shown to nobody who does not ask for deleted ones, and can be undeleted until its purge_time (30 days
     * from now, unless the server is set otherwise). Then its content goes for good. Its id stays taken.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given. Deleting a deleted session is OK and changes nothing.
     * </pre>
     */
    public void deleteSession(dev.lockstitch.v1.DeleteSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a deleted session what it was.
     * Errors: VERSION_CONFLICT where a version is given. Undeleting a session that is not deleted is OK and changes nothing.
     * </pre>
     */
    public void undeleteSession(dev.lockstitch.v1.UndeleteSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.UndeleteSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUndeleteSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a session of its own out of another one as it was at a version: the same messages under the same seqs, its memory, its tool
     * calls; not its runs, checkpoints, request ids or history.
     * Errors: SESSION_EXISTS, CURSOR_AHEAD, INVALID_FIELD where a tool call would be split from its result (metadata: nearest_below, absent
     * where there is none, and nearest_above, the versions that can be forked). A retry gives the same session, as it was forked.
     * </pre>
     */
    public void forkSession(dev.lockstitch.v1.ForkSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ForkSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getForkSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes a message's text as the model generates it, shows it to subscribers of any server meanwhile, and stores it as one commit when
     * the caller is done. Steps may be sent again, on any server, from any offset that is stored. A draft that gets no step for 25 seconds
     * (unless the server is set otherwise), and one whose run is taken over or whose session is closed, is stored as it is, `incomplete`.
     * Errors: those of Append, CURSOR_AHEAD (metadata: current_offset). A retry of a draft that was stored gives the same receipt.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<dev.lockstitch.v1.StreamDraftRequest> streamDraft(
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.StreamDraftResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getStreamDraftMethod(), getCallOptions()), responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service SessionService.
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public static final class SessionServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<SessionServiceBlockingV2Stub> {
    private SessionServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a session, with its first messages and memory in the same commit.
     * Errors: SESSION_EXISTS where the caller's own session_id is taken by another creation, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, the
     * tool-call reasons of Append. A retry gives the session as it was created.
     * </pre>
     */
    public dev.lockstitch.v1.CreateSessionResponse createSession(dev.lockstitch.v1.CreateSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a session, and with it its newest messages, memory and open tool calls, from one snapshot; now, or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public dev.lockstitch.v1.GetSessionResponse getSession(dev.lockstitch.v1.GetSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists sessions, the most recently used first. A user sees its own only.
     * Errors: PAGE_TOKEN_INVALID. A session that moves while paging is seen at most once.
     * </pre>
     */
    public dev.lockstitch.v1.ListSessionsResponse listSessions(dev.lockstitch.v1.ListSessionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a session's title, labels, metadata or life.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED (labels and metadata_json need expected_version or force), SESSION_CLOSED,
     * SESSION_EXPIRED. A user may change the title. A retry gives the session as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateSessionResponse updateSession(dev.lockstitch.v1.UpdateSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Stores messages, changes of tool calls and a change of memory, in one commit: all of it or nothing.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, MESSAGE_ID_EXISTS, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_CLOSED,
     * SESSION_EXPIRED, SESSION_FULL, SESSION_EXISTS (create_if_missing for another user's session), TOOL_CALL_NOT_FOUND,
     * TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS. A retry gives the same receipt, even after the session was closed.
     * </pre>
     */
    public dev.lockstitch.v1.AppendResponse append(dev.lockstitch.v1.AppendRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getAppendMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes working memory.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the memory as of the first
     * answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateMemoryResponse updateMemory(dev.lockstitch.v1.UpdateMemoryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateMemoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives working memory, now or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public dev.lockstitch.v1.GetMemoryResponse getMemory(dev.lockstitch.v1.GetMemoryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetMemoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists working memory as it was after each commit that changed it, newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListMemoryVersionsResponse listMemoryVersions(dev.lockstitch.v1.ListMemoryVersionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListMemoryVersionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS, VERSION_CONFLICT, SESSION_CLOSED,
     * SESSION_EXPIRED. A retry gives the call as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateToolCallResponse updateToolCall(dev.lockstitch.v1.UpdateToolCallRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Ends a tool call. Where a message made the call and the outcome is known, its TOOL message is written in the same commit.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED (another outcome stands; an equal one is OK, unchanged), TOOL_CALL_AMBIGUOUS,
     * VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_FULL, MESSAGE_TOO_LARGE. A retry gives the call as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.CompleteToolCallResponse completeToolCall(dev.lockstitch.v1.CompleteToolCallRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCompleteToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists tool calls, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListToolCallsResponse listToolCalls(dev.lockstitch.v1.ListToolCallsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists messages by seq.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListMessagesResponse listMessages(dev.lockstitch.v1.ListMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes messages back from the end, and puts others in their place if any are given, in one commit. Calls that a removed message
     * made leave the ledger with it; calls whose result is removed stand as they stood before it.
     * Errors: VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_FULL, the tool-call reasons
     * of Append. Two takers take different messages; taking from an empty session is OK and changes nothing. A retry gives the same
     * messages again.
     * </pre>
     */
    public dev.lockstitch.v1.RemoveMessagesResponse removeMessages(dev.lockstitch.v1.RemoveMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRemoveMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a message in its place, such as to redact it. Its role, the call that it answers and the calls that it makes stay.
     * Errors: MESSAGE_NOT_FOUND, MESSAGE_TOO_LARGE, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the message as of
     * the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateMessageResponse updateMessage(dev.lockstitch.v1.UpdateMessageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the commits that made the session what it is, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListCommitsResponse listCommits(dev.lockstitch.v1.ListCommitsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListCommitsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a session's commits: those behind a version, then each as it is made. Ordered, unique, reliable, atomic, resumable and
     * bookmarkable, across restarts of servers and of the database.
     * Errors: CURSOR_AHEAD, STORE_RESTORED, SUBSCRIPTION_LIMIT; later SLOW_CONSUMER (nothing was taken for 60 seconds), TOKEN_EXPIRED,
     * DRAINING. After any of them resume behind the last version received.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.lockstitch.v1.SubscribeResponse>
        subscribe(dev.lockstitch.v1.SubscribeRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getSubscribeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives what an engine needs to go on, from one snapshot: the session, its memory, the newest messages with tool calls and
     * results together, open tool calls, recent ones, and the version to expect.
     * </pre>
     */
    public dev.lockstitch.v1.GetContextResponse getContext(dev.lockstitch.v1.GetContextRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetContextMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Closes a session: it takes no more changes until it is restored. A run whose lease has run out ends as EXPIRED in the same commit;
     * what is being drafted is stored as incomplete.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given, SESSION_EXPIRED, SESSION_DELETED. Closing a closed session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.CloseSessionResponse closeSession(dev.lockstitch.v1.CloseSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCloseSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a closed or expired session active again.
     * Errors: VERSION_CONFLICT where a version is given, SESSION_DELETED, SESSION_EXPIRED where its time has passed and no new life is given. Restoring
     * an active session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.RestoreSessionResponse restoreSession(dev.lockstitch.v1.RestoreSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRestoreSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a session: it is shown to nobody who does not ask for deleted ones, and can be undeleted until its purge_time (30 days
     * from now, unless the server is set otherwise). Then its content goes for good. Its id stays taken.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given. Deleting a deleted session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.DeleteSessionResponse deleteSession(dev.lockstitch.v1.DeleteSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a deleted session what it was.
     * Errors: VERSION_CONFLICT where a version is given. Undeleting a session that is not deleted is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.UndeleteSessionResponse undeleteSession(dev.lockstitch.v1.UndeleteSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUndeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a session of its own out of another one as it was at a version: the same messages under the same seqs, its memory, its tool
     * calls; not its runs, checkpoints, request ids or history.
     * Errors: SESSION_EXISTS, CURSOR_AHEAD, INVALID_FIELD where a tool call would be split from its result (metadata: nearest_below, absent
     * where there is none, and nearest_above, the versions that can be forked). A retry gives the same session, as it was forked.
     * </pre>
     */
    public dev.lockstitch.v1.ForkSessionResponse forkSession(dev.lockstitch.v1.ForkSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getForkSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes a message's text as the model generates it, shows it to subscribers of any server meanwhile, and stores it as one commit when
     * the caller is done. Steps may be sent again, on any server, from any offset that is stored. A draft that gets no step for 25 seconds
     * (unless the server is set otherwise), and one whose run is taken over or whose session is closed, is stored as it is, `incomplete`.
     * Errors: those of Append, CURSOR_AHEAD (metadata: current_offset). A retry of a draft that was stored gives the same receipt.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<dev.lockstitch.v1.StreamDraftRequest, dev.lockstitch.v1.StreamDraftResponse>
        streamDraft() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getStreamDraftMethod(), getCallOptions());
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service SessionService.
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public static final class SessionServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<SessionServiceBlockingStub> {
    private SessionServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a session, with its first messages and memory in the same commit.
     * Errors: SESSION_EXISTS where the caller's own session_id is taken by another creation, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, the
     * tool-call reasons of Append. A retry gives the session as it was created.
     * </pre>
     */
    public dev.lockstitch.v1.CreateSessionResponse createSession(dev.lockstitch.v1.CreateSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a session, and with it its newest messages, memory and open tool calls, from one snapshot; now, or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public dev.lockstitch.v1.GetSessionResponse getSession(dev.lockstitch.v1.GetSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists sessions, the most recently used first. A user sees its own only.
     * Errors: PAGE_TOKEN_INVALID. A session that moves while paging is seen at most once.
     * </pre>
     */
    public dev.lockstitch.v1.ListSessionsResponse listSessions(dev.lockstitch.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a session's title, labels, metadata or life.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED (labels and metadata_json need expected_version or force), SESSION_CLOSED,
     * SESSION_EXPIRED. A user may change the title. A retry gives the session as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateSessionResponse updateSession(dev.lockstitch.v1.UpdateSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Stores messages, changes of tool calls and a change of memory, in one commit: all of it or nothing.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, MESSAGE_ID_EXISTS, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_CLOSED,
     * SESSION_EXPIRED, SESSION_FULL, SESSION_EXISTS (create_if_missing for another user's session), TOOL_CALL_NOT_FOUND,
     * TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS. A retry gives the same receipt, even after the session was closed.
     * </pre>
     */
    public dev.lockstitch.v1.AppendResponse append(dev.lockstitch.v1.AppendRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAppendMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes working memory.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the memory as of the first
     * answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateMemoryResponse updateMemory(dev.lockstitch.v1.UpdateMemoryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateMemoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives working memory, now or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public dev.lockstitch.v1.GetMemoryResponse getMemory(dev.lockstitch.v1.GetMemoryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetMemoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists working memory as it was after each commit that changed it, newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListMemoryVersionsResponse listMemoryVersions(dev.lockstitch.v1.ListMemoryVersionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMemoryVersionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS, VERSION_CONFLICT, SESSION_CLOSED,
     * SESSION_EXPIRED. A retry gives the call as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateToolCallResponse updateToolCall(dev.lockstitch.v1.UpdateToolCallRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Ends a tool call. Where a message made the call and the outcome is known, its TOOL message is written in the same commit.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED (another outcome stands; an equal one is OK, unchanged), TOOL_CALL_AMBIGUOUS,
     * VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_FULL, MESSAGE_TOO_LARGE. A retry gives the call as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.CompleteToolCallResponse completeToolCall(dev.lockstitch.v1.CompleteToolCallRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCompleteToolCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists tool calls, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListToolCallsResponse listToolCalls(dev.lockstitch.v1.ListToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListToolCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists messages by seq.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListMessagesResponse listMessages(dev.lockstitch.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes messages back from the end, and puts others in their place if any are given, in one commit. Calls that a removed message
     * made leave the ledger with it; calls whose result is removed stand as they stood before it.
     * Errors: VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_FULL, the tool-call reasons
     * of Append. Two takers take different messages; taking from an empty session is OK and changes nothing. A retry gives the same
     * messages again.
     * </pre>
     */
    public dev.lockstitch.v1.RemoveMessagesResponse removeMessages(dev.lockstitch.v1.RemoveMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRemoveMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a message in its place, such as to redact it. Its role, the call that it answers and the calls that it makes stay.
     * Errors: MESSAGE_NOT_FOUND, MESSAGE_TOO_LARGE, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the message as of
     * the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.UpdateMessageResponse updateMessage(dev.lockstitch.v1.UpdateMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the commits that made the session what it is, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListCommitsResponse listCommits(dev.lockstitch.v1.ListCommitsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListCommitsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a session's commits: those behind a version, then each as it is made. Ordered, unique, reliable, atomic, resumable and
     * bookmarkable, across restarts of servers and of the database.
     * Errors: CURSOR_AHEAD, STORE_RESTORED, SUBSCRIPTION_LIMIT; later SLOW_CONSUMER (nothing was taken for 60 seconds), TOKEN_EXPIRED,
     * DRAINING. After any of them resume behind the last version received.
     * </pre>
     */
    public java.util.Iterator<dev.lockstitch.v1.SubscribeResponse> subscribe(
        dev.lockstitch.v1.SubscribeRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getSubscribeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives what an engine needs to go on, from one snapshot: the session, its memory, the newest messages with tool calls and
     * results together, open tool calls, recent ones, and the version to expect.
     * </pre>
     */
    public dev.lockstitch.v1.GetContextResponse getContext(dev.lockstitch.v1.GetContextRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetContextMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Closes a session: it takes no more changes until it is restored. A run whose lease has run out ends as EXPIRED in the same commit;
     * what is being drafted is stored as incomplete.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given, SESSION_EXPIRED, SESSION_DELETED. Closing a closed session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.CloseSessionResponse closeSession(dev.lockstitch.v1.CloseSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCloseSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a closed or expired session active again.
     * Errors: VERSION_CONFLICT where a version is given, SESSION_DELETED, SESSION_EXPIRED where its time has passed and no new life is given. Restoring
     * an active session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.RestoreSessionResponse restoreSession(dev.lockstitch.v1.RestoreSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRestoreSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a session: it is shown to nobody who does not ask for deleted ones, and can be undeleted until its purge_time (30 days
     * from now, unless the server is set otherwise). Then its content goes for good. Its id stays taken.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given. Deleting a deleted session is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.DeleteSessionResponse deleteSession(dev.lockstitch.v1.DeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a deleted session what it was.
     * Errors: VERSION_CONFLICT where a version is given. Undeleting a session that is not deleted is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.UndeleteSessionResponse undeleteSession(dev.lockstitch.v1.UndeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUndeleteSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a session of its own out of another one as it was at a version: the same messages under the same seqs, its memory, its tool
     * calls; not its runs, checkpoints, request ids or history.
     * Errors: SESSION_EXISTS, CURSOR_AHEAD, INVALID_FIELD where a tool call would be split from its result (metadata: nearest_below, absent
     * where there is none, and nearest_above, the versions that can be forked). A retry gives the same session, as it was forked.
     * </pre>
     */
    public dev.lockstitch.v1.ForkSessionResponse forkSession(dev.lockstitch.v1.ForkSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getForkSessionMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service SessionService.
   * <pre>
   * Sessions of AI agents: created, read, and changed one commit at a time.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail with TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, INVALID_FIELD,
   * ROLE_NOT_ALLOWED, OVERLOADED, DRAINING and DATABASE_UNAVAILABLE; every call on a session with SESSION_NOT_FOUND. A change may also
   * fail with REQUEST_ID_REUSED and COMMIT_OUTCOME_UNKNOWN, and on a deleted session with SESSION_DELETED; one with a fence with
   * RUN_NOT_FOUND, RUN_FENCED and RUN_ENDED. A change that is retried with its request_id is made once: a retry of a
   * success gives the first receipt again, with `replayed`. Reads may be retried at will.
   * </pre>
   */
  public static final class SessionServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<SessionServiceFutureStub> {
    private SessionServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SessionServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SessionServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a session, with its first messages and memory in the same commit.
     * Errors: SESSION_EXISTS where the caller's own session_id is taken by another creation, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, the
     * tool-call reasons of Append. A retry gives the session as it was created.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.CreateSessionResponse> createSession(
        dev.lockstitch.v1.CreateSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives a session, and with it its newest messages, memory and open tool calls, from one snapshot; now, or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetSessionResponse> getSession(
        dev.lockstitch.v1.GetSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists sessions, the most recently used first. A user sees its own only.
     * Errors: PAGE_TOKEN_INVALID. A session that moves while paging is seen at most once.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListSessionsResponse> listSessions(
        dev.lockstitch.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes a session's title, labels, metadata or life.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED (labels and metadata_json need expected_version or force), SESSION_CLOSED,
     * SESSION_EXPIRED. A user may change the title. A retry gives the session as of the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.UpdateSessionResponse> updateSession(
        dev.lockstitch.v1.UpdateSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Stores messages, changes of tool calls and a change of memory, in one commit: all of it or nothing.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, MESSAGE_ID_EXISTS, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_CLOSED,
     * SESSION_EXPIRED, SESSION_FULL, SESSION_EXISTS (create_if_missing for another user's session), TOOL_CALL_NOT_FOUND,
     * TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS. A retry gives the same receipt, even after the session was closed.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.AppendResponse> append(
        dev.lockstitch.v1.AppendRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAppendMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes working memory.
     * Errors: VERSION_CONFLICT, EXPECTED_VERSION_REQUIRED, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the memory as of the first
     * answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.UpdateMemoryResponse> updateMemory(
        dev.lockstitch.v1.UpdateMemoryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateMemoryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives working memory, now or as of a version.
     * Errors: CURSOR_AHEAD.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetMemoryResponse> getMemory(
        dev.lockstitch.v1.GetMemoryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetMemoryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists working memory as it was after each commit that changed it, newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListMemoryVersionsResponse> listMemoryVersions(
        dev.lockstitch.v1.ListMemoryVersionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMemoryVersionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Says that a tool call begins, waits for approval, is approved or refused, or touches resources.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED, TOOL_CALL_STATUS, TOOL_CALL_AMBIGUOUS, VERSION_CONFLICT, SESSION_CLOSED,
     * SESSION_EXPIRED. A retry gives the call as of the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.UpdateToolCallResponse> updateToolCall(
        dev.lockstitch.v1.UpdateToolCallRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateToolCallMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Ends a tool call. Where a message made the call and the outcome is known, its TOOL message is written in the same commit.
     * Errors: TOOL_CALL_NOT_FOUND, TOOL_CALL_ENDED (another outcome stands; an equal one is OK, unchanged), TOOL_CALL_AMBIGUOUS,
     * VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_FULL, MESSAGE_TOO_LARGE. A retry gives the call as of the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.CompleteToolCallResponse> completeToolCall(
        dev.lockstitch.v1.CompleteToolCallRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCompleteToolCallMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists tool calls, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListToolCallsResponse> listToolCalls(
        dev.lockstitch.v1.ListToolCallsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListToolCallsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists messages by seq.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListMessagesResponse> listMessages(
        dev.lockstitch.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Takes messages back from the end, and puts others in their place if any are given, in one commit. Calls that a removed message
     * made leave the ledger with it; calls whose result is removed stand as they stood before it.
     * Errors: VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, MESSAGE_TOO_LARGE, BATCH_TOO_LARGE, SESSION_FULL, the tool-call reasons
     * of Append. Two takers take different messages; taking from an empty session is OK and changes nothing. A retry gives the same
     * messages again.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.RemoveMessagesResponse> removeMessages(
        dev.lockstitch.v1.RemoveMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRemoveMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes a message in its place, such as to redact it. Its role, the call that it answers and the calls that it makes stay.
     * Errors: MESSAGE_NOT_FOUND, MESSAGE_TOO_LARGE, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED. A retry gives the message as of
     * the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.UpdateMessageResponse> updateMessage(
        dev.lockstitch.v1.UpdateMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateMessageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the commits that made the session what it is, oldest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListCommitsResponse> listCommits(
        dev.lockstitch.v1.ListCommitsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListCommitsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives what an engine needs to go on, from one snapshot: the session, its memory, the newest messages with tool calls and
     * results together, open tool calls, recent ones, and the version to expect.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetContextResponse> getContext(
        dev.lockstitch.v1.GetContextRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetContextMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Closes a session: it takes no more changes until it is restored. A run whose lease has run out ends as EXPIRED in the same commit;
     * what is being drafted is stored as incomplete.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given, SESSION_EXPIRED, SESSION_DELETED. Closing a closed session is OK and changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.CloseSessionResponse> closeSession(
        dev.lockstitch.v1.CloseSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCloseSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Makes a closed or expired session active again.
     * Errors: VERSION_CONFLICT where a version is given, SESSION_DELETED, SESSION_EXPIRED where its time has passed and no new life is given. Restoring
     * an active session is OK and changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.RestoreSessionResponse> restoreSession(
        dev.lockstitch.v1.RestoreSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRestoreSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a session: it is shown to nobody who does not ask for deleted ones, and can be undeleted until its purge_time (30 days
     * from now, unless the server is set otherwise). Then its content goes for good. Its id stays taken.
     * Errors: RUN_ACTIVE, VERSION_CONFLICT where a version is given. Deleting a deleted session is OK and changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.DeleteSessionResponse> deleteSession(
        dev.lockstitch.v1.DeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Makes a deleted session what it was.
     * Errors: VERSION_CONFLICT where a version is given. Undeleting a session that is not deleted is OK and changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.UndeleteSessionResponse> undeleteSession(
        dev.lockstitch.v1.UndeleteSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUndeleteSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Makes a session of its own out of another one as it was at a version: the same messages under the same seqs, its memory, its tool
     * calls; not its runs, checkpoints, request ids or history.
     * Errors: SESSION_EXISTS, CURSOR_AHEAD, INVALID_FIELD where a tool call would be split from its result (metadata: nearest_below, absent
     * where there is none, and nearest_above, the versions that can be forked). A retry gives the same session, as it was forked.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ForkSessionResponse> forkSession(
        dev.lockstitch.v1.ForkSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getForkSessionMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_SESSION = 0;
  private static final int METHODID_GET_SESSION = 1;
  private static final int METHODID_LIST_SESSIONS = 2;
  private static final int METHODID_UPDATE_SESSION = 3;
  private static final int METHODID_APPEND = 4;
  private static final int METHODID_UPDATE_MEMORY = 5;
  private static final int METHODID_GET_MEMORY = 6;
  private static final int METHODID_LIST_MEMORY_VERSIONS = 7;
  private static final int METHODID_UPDATE_TOOL_CALL = 8;
  private static final int METHODID_COMPLETE_TOOL_CALL = 9;
  private static final int METHODID_LIST_TOOL_CALLS = 10;
  private static final int METHODID_LIST_MESSAGES = 11;
  private static final int METHODID_REMOVE_MESSAGES = 12;
  private static final int METHODID_UPDATE_MESSAGE = 13;
  private static final int METHODID_LIST_COMMITS = 14;
  private static final int METHODID_SUBSCRIBE = 15;
  private static final int METHODID_GET_CONTEXT = 16;
  private static final int METHODID_CLOSE_SESSION = 17;
  private static final int METHODID_RESTORE_SESSION = 18;
  private static final int METHODID_DELETE_SESSION = 19;
  private static final int METHODID_UNDELETE_SESSION = 20;
  private static final int METHODID_FORK_SESSION = 21;
  private static final int METHODID_STREAM_DRAFT = 22;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_CREATE_SESSION:
          serviceImpl.createSession((dev.lockstitch.v1.CreateSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.CreateSessionResponse>) responseObserver);
          break;
        case METHODID_GET_SESSION:
          serviceImpl.getSession((dev.lockstitch.v1.GetSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetSessionResponse>) responseObserver);
          break;
        case METHODID_LIST_SESSIONS:
          serviceImpl.listSessions((dev.lockstitch.v1.ListSessionsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListSessionsResponse>) responseObserver);
          break;
        case METHODID_UPDATE_SESSION:
          serviceImpl.updateSession((dev.lockstitch.v1.UpdateSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateSessionResponse>) responseObserver);
          break;
        case METHODID_APPEND:
          serviceImpl.append((dev.lockstitch.v1.AppendRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.AppendResponse>) responseObserver);
          break;
        case METHODID_UPDATE_MEMORY:
          serviceImpl.updateMemory((dev.lockstitch.v1.UpdateMemoryRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMemoryResponse>) responseObserver);
          break;
        case METHODID_GET_MEMORY:
          serviceImpl.getMemory((dev.lockstitch.v1.GetMemoryRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetMemoryResponse>) responseObserver);
          break;
        case METHODID_LIST_MEMORY_VERSIONS:
          serviceImpl.listMemoryVersions((dev.lockstitch.v1.ListMemoryVersionsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMemoryVersionsResponse>) responseObserver);
          break;
        case METHODID_UPDATE_TOOL_CALL:
          serviceImpl.updateToolCall((dev.lockstitch.v1.UpdateToolCallRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateToolCallResponse>) responseObserver);
          break;
        case METHODID_COMPLETE_TOOL_CALL:
          serviceImpl.completeToolCall((dev.lockstitch.v1.CompleteToolCallRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.CompleteToolCallResponse>) responseObserver);
          break;
        case METHODID_LIST_TOOL_CALLS:
          serviceImpl.listToolCalls((dev.lockstitch.v1.ListToolCallsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListToolCallsResponse>) responseObserver);
          break;
        case METHODID_LIST_MESSAGES:
          serviceImpl.listMessages((dev.lockstitch.v1.ListMessagesRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListMessagesResponse>) responseObserver);
          break;
        case METHODID_REMOVE_MESSAGES:
          serviceImpl.removeMessages((dev.lockstitch.v1.RemoveMessagesRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.RemoveMessagesResponse>) responseObserver);
          break;
        case METHODID_UPDATE_MESSAGE:
          serviceImpl.updateMessage((dev.lockstitch.v1.UpdateMessageRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.UpdateMessageResponse>) responseObserver);
          break;
        case METHODID_LIST_COMMITS:
          serviceImpl.listCommits((dev.lockstitch.v1.ListCommitsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCommitsResponse>) responseObserver);
          break;
        case METHODID_SUBSCRIBE:
          serviceImpl.subscribe((dev.lockstitch.v1.SubscribeRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.SubscribeResponse>) responseObserver);
          break;
        case METHODID_GET_CONTEXT:
          serviceImpl.getContext((dev.lockstitch.v1.GetContextRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetContextResponse>) responseObserver);
          break;
        case METHODID_CLOSE_SESSION:
          serviceImpl.closeSession((dev.lockstitch.v1.CloseSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.CloseSessionResponse>) responseObserver);
          break;
        case METHODID_RESTORE_SESSION:
          serviceImpl.restoreSession((dev.lockstitch.v1.RestoreSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.RestoreSessionResponse>) responseObserver);
          break;
        case METHODID_DELETE_SESSION:
          serviceImpl.deleteSession((dev.lockstitch.v1.DeleteSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteSessionResponse>) responseObserver);
          break;
        case METHODID_UNDELETE_SESSION:
          serviceImpl.undeleteSession((dev.lockstitch.v1.UndeleteSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.UndeleteSessionResponse>) responseObserver);
          break;
        case METHODID_FORK_SESSION:
          serviceImpl.forkSession((dev.lockstitch.v1.ForkSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ForkSessionResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_STREAM_DRAFT:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.streamDraft(
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.StreamDraftResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.CreateSessionRequest,
              dev.lockstitch.v1.CreateSessionResponse>(
                service, METHODID_CREATE_SESSION)))
        .addMethod(
          getGetSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetSessionRequest,
              dev.lockstitch.v1.GetSessionResponse>(
                service, METHODID_GET_SESSION)))
        .addMethod(
          getListSessionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListSessionsRequest,
              dev.lockstitch.v1.ListSessionsResponse>(
                service, METHODID_LIST_SESSIONS)))
        .addMethod(
          getUpdateSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.UpdateSessionRequest,
              dev.lockstitch.v1.UpdateSessionResponse>(
                service, METHODID_UPDATE_SESSION)))
        .addMethod(
          getAppendMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.AppendRequest,
              dev.lockstitch.v1.AppendResponse>(
                service, METHODID_APPEND)))
        .addMethod(
          getUpdateMemoryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.UpdateMemoryRequest,
              dev.lockstitch.v1.UpdateMemoryResponse>(
                service, METHODID_UPDATE_MEMORY)))
        .addMethod(
          getGetMemoryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetMemoryRequest,
              dev.lockstitch.v1.GetMemoryResponse>(
                service, METHODID_GET_MEMORY)))
        .addMethod(
          getListMemoryVersionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListMemoryVersionsRequest,
              dev.lockstitch.v1.ListMemoryVersionsResponse>(
                service, METHODID_LIST_MEMORY_VERSIONS)))
        .addMethod(
          getUpdateToolCallMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.UpdateToolCallRequest,
              dev.lockstitch.v1.UpdateToolCallResponse>(
                service, METHODID_UPDATE_TOOL_CALL)))
        .addMethod(
          getCompleteToolCallMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.CompleteToolCallRequest,
              dev.lockstitch.v1.CompleteToolCallResponse>(
                service, METHODID_COMPLETE_TOOL_CALL)))
        .addMethod(
          getListToolCallsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListToolCallsRequest,
              dev.lockstitch.v1.ListToolCallsResponse>(
                service, METHODID_LIST_TOOL_CALLS)))
        .addMethod(
          getListMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListMessagesRequest,
              dev.lockstitch.v1.ListMessagesResponse>(
                service, METHODID_LIST_MESSAGES)))
        .addMethod(
          getRemoveMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.RemoveMessagesRequest,
              dev.lockstitch.v1.RemoveMessagesResponse>(
                service, METHODID_REMOVE_MESSAGES)))
        .addMethod(
          getUpdateMessageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.UpdateMessageRequest,
              dev.lockstitch.v1.UpdateMessageResponse>(
                service, METHODID_UPDATE_MESSAGE)))
        .addMethod(
          getListCommitsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListCommitsRequest,
              dev.lockstitch.v1.ListCommitsResponse>(
                service, METHODID_LIST_COMMITS)))
        .addMethod(
          getSubscribeMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.lockstitch.v1.SubscribeRequest,
              dev.lockstitch.v1.SubscribeResponse>(
                service, METHODID_SUBSCRIBE)))
        .addMethod(
          getGetContextMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetContextRequest,
              dev.lockstitch.v1.GetContextResponse>(
                service, METHODID_GET_CONTEXT)))
        .addMethod(
          getCloseSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.CloseSessionRequest,
              dev.lockstitch.v1.CloseSessionResponse>(
                service, METHODID_CLOSE_SESSION)))
        .addMethod(
          getRestoreSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.RestoreSessionRequest,
              dev.lockstitch.v1.RestoreSessionResponse>(
                service, METHODID_RESTORE_SESSION)))
        .addMethod(
          getDeleteSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.DeleteSessionRequest,
              dev.lockstitch.v1.DeleteSessionResponse>(
                service, METHODID_DELETE_SESSION)))
        .addMethod(
          getUndeleteSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.UndeleteSessionRequest,
              dev.lockstitch.v1.UndeleteSessionResponse>(
                service, METHODID_UNDELETE_SESSION)))
        .addMethod(
          getForkSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ForkSessionRequest,
              dev.lockstitch.v1.ForkSessionResponse>(
                service, METHODID_FORK_SESSION)))
        .addMethod(
          getStreamDraftMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              dev.lockstitch.v1.StreamDraftRequest,
              dev.lockstitch.v1.StreamDraftResponse>(
                service, METHODID_STREAM_DRAFT)))
        .build();
  }

  private static abstract class SessionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    SessionServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.lockstitch.v1.SessionServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("SessionService");
    }
  }

  private static final class SessionServiceFileDescriptorSupplier
      extends SessionServiceBaseDescriptorSupplier {
    SessionServiceFileDescriptorSupplier() {}
  }

  private static final class SessionServiceMethodDescriptorSupplier
      extends SessionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    SessionServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (SessionServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new SessionServiceFileDescriptorSupplier())
              .addMethod(getCreateSessionMethod())
              .addMethod(getGetSessionMethod())
              .addMethod(getListSessionsMethod())
              .addMethod(getUpdateSessionMethod())
              .addMethod(getAppendMethod())
              .addMethod(getUpdateMemoryMethod())
              .addMethod(getGetMemoryMethod())
              .addMethod(getListMemoryVersionsMethod())
              .addMethod(getUpdateToolCallMethod())
              .addMethod(getCompleteToolCallMethod())
              .addMethod(getListToolCallsMethod())
              .addMethod(getListMessagesMethod())
              .addMethod(getRemoveMessagesMethod())
              .addMethod(getUpdateMessageMethod())
              .addMethod(getListCommitsMethod())
              .addMethod(getSubscribeMethod())
              .addMethod(getGetContextMethod())
              .addMethod(getCloseSessionMethod())
              .addMethod(getRestoreSessionMethod())
              .addMethod(getDeleteSessionMethod())
              .addMethod(getUndeleteSessionMethod())
              .addMethod(getForkSessionMethod())
              .addMethod(getStreamDraftMethod())
              .build();
        }
      }
    }
    return result;
  }
}
