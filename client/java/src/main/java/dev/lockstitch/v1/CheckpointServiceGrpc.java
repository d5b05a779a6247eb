package dev.lockstitch.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
 * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
 * admins.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CheckpointServiceGrpc {

  private CheckpointServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "lockstitch.v1.CheckpointService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointRequest,
      dev.lockstitch.v1.PutCheckpointResponse> getPutCheckpointMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PutCheckpoint",
      requestType = dev.lockstitch.v1.PutCheckpointRequest.class,
      responseType = dev.lockstitch.v1.PutCheckpointResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointRequest,
      dev.lockstitch.v1.PutCheckpointResponse> getPutCheckpointMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointRequest, dev.lockstitch.v1.PutCheckpointResponse> getPutCheckpointMethod;
    if ((getPutCheckpointMethod = CheckpointServiceGrpc.getPutCheckpointMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getPutCheckpointMethod = CheckpointServiceGrpc.getPutCheckpointMethod) == null) {
          CheckpointServiceGrpc.getPutCheckpointMethod = getPutCheckpointMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.PutCheckpointRequest, dev.lockstitch.v1.PutCheckpointResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PutCheckpoint"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PutCheckpointRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PutCheckpointResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("PutCheckpoint"))
              .build();
        }
      }
    }
    return getPutCheckpointMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointWritesRequest,
      dev.lockstitch.v1.PutCheckpointWritesResponse> getPutCheckpointWritesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PutCheckpointWrites",
      requestType = dev.lockstitch.v1.PutCheckpointWritesRequest.class,
      responseType = dev.lockstitch.v1.PutCheckpointWritesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointWritesRequest,
      dev.lockstitch.v1.PutCheckpointWritesResponse> getPutCheckpointWritesMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.PutCheckpointWritesRequest, dev.lockstitch.v1.PutCheckpointWritesResponse> getPutCheckpointWritesMethod;
    if ((getPutCheckpointWritesMethod = CheckpointServiceGrpc.getPutCheckpointWritesMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getPutCheckpointWritesMethod = CheckpointServiceGrpc.getPutCheckpointWritesMethod) == null) {
          CheckpointServiceGrpc.getPutCheckpointWritesMethod = getPutCheckpointWritesMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.PutCheckpointWritesRequest, dev.lockstitch.v1.PutCheckpointWritesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PutCheckpointWrites"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PutCheckpointWritesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PutCheckpointWritesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("PutCheckpointWrites"))
              .build();
        }
      }
    }
    return getPutCheckpointWritesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetCheckpointRequest,
      dev.lockstitch.v1.GetCheckpointResponse> getGetCheckpointMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetCheckpoint",
      requestType = dev.lockstitch.v1.GetCheckpointRequest.class,
      responseType = dev.lockstitch.v1.GetCheckpointResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetCheckpointRequest,
      dev.lockstitch.v1.GetCheckpointResponse> getGetCheckpointMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetCheckpointRequest, dev.lockstitch.v1.GetCheckpointResponse> getGetCheckpointMethod;
    if ((getGetCheckpointMethod = CheckpointServiceGrpc.getGetCheckpointMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getGetCheckpointMethod = CheckpointServiceGrpc.getGetCheckpointMethod) == null) {
          CheckpointServiceGrpc.getGetCheckpointMethod = getGetCheckpointMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetCheckpointRequest, dev.lockstitch.v1.GetCheckpointResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetCheckpoint"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetCheckpointRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetCheckpointResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("GetCheckpoint"))
              .build();
        }
      }
    }
    return getGetCheckpointMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCheckpointsRequest,
      dev.lockstitch.v1.ListCheckpointsResponse> getListCheckpointsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListCheckpoints",
      requestType = dev.lockstitch.v1.ListCheckpointsRequest.class,
      responseType = dev.lockstitch.v1.ListCheckpointsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCheckpointsRequest,
      dev.lockstitch.v1.ListCheckpointsResponse> getListCheckpointsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListCheckpointsRequest, dev.lockstitch.v1.ListCheckpointsResponse> getListCheckpointsMethod;
    if ((getListCheckpointsMethod = CheckpointServiceGrpc.getListCheckpointsMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getListCheckpointsMethod = CheckpointServiceGrpc.getListCheckpointsMethod) == null) {
          CheckpointServiceGrpc.getListCheckpointsMethod = getListCheckpointsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListCheckpointsRequest, dev.lockstitch.v1.ListCheckpointsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListCheckpoints"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListCheckpointsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListCheckpointsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("ListCheckpoints"))
              .build();
        }
      }
    }
    return getListCheckpointsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.CopyCheckpointsRequest,
      dev.lockstitch.v1.CopyCheckpointsResponse> getCopyCheckpointsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CopyCheckpoints",
      requestType = dev.lockstitch.v1.CopyCheckpointsRequest.class,
      responseType = dev.lockstitch.v1.CopyCheckpointsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.CopyCheckpointsRequest,
      dev.lockstitch.v1.CopyCheckpointsResponse> getCopyCheckpointsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.CopyCheckpointsRequest, dev.lockstitch.v1.CopyCheckpointsResponse> getCopyCheckpointsMethod;
    if ((getCopyCheckpointsMethod = CheckpointServiceGrpc.getCopyCheckpointsMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getCopyCheckpointsMethod = CheckpointServiceGrpc.getCopyCheckpointsMethod) == null) {
          CheckpointServiceGrpc.getCopyCheckpointsMethod = getCopyCheckpointsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.CopyCheckpointsRequest, dev.lockstitch.v1.CopyCheckpointsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CopyCheckpoints"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CopyCheckpointsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CopyCheckpointsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("CopyCheckpoints"))
              .build();
        }
      }
    }
    return getCopyCheckpointsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteCheckpointsRequest,
      dev.lockstitch.v1.DeleteCheckpointsResponse> getDeleteCheckpointsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteCheckpoints",
      requestType = dev.lockstitch.v1.DeleteCheckpointsRequest.class,
      responseType = dev.lockstitch.v1.DeleteCheckpointsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteCheckpointsRequest,
      dev.lockstitch.v1.DeleteCheckpointsResponse> getDeleteCheckpointsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.DeleteCheckpointsRequest, dev.lockstitch.v1.DeleteCheckpointsResponse> getDeleteCheckpointsMethod;
    if ((getDeleteCheckpointsMethod = CheckpointServiceGrpc.getDeleteCheckpointsMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getDeleteCheckpointsMethod = CheckpointServiceGrpc.getDeleteCheckpointsMethod) == null) {
          CheckpointServiceGrpc.getDeleteCheckpointsMethod = getDeleteCheckpointsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.DeleteCheckpointsRequest, dev.lockstitch.v1.DeleteCheckpointsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteCheckpoints"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.DeleteCheckpointsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.DeleteCheckpointsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("DeleteCheckpoints"))
              .build();
        }
      }
    }
    return getDeleteCheckpointsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CheckpointServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceStub>() {
        @java.lang.Override
        public CheckpointServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceStub(channel, callOptions);
        }
      };
    return CheckpointServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CheckpointServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingV2Stub>() {
        @java.lang.Override
        public CheckpointServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CheckpointServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CheckpointServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingStub>() {
        @java.lang.Override
        public CheckpointServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceBlockingStub(channel, callOptions);
        }
      };
    return CheckpointServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CheckpointServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceFutureStub>() {
        @java.lang.Override
        public CheckpointServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceFutureStub(channel, callOptions);
        }
      };
    return CheckpointServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Puts a checkpoint, with the writes that it came with, in one commit. What has its id already is replaced.
     * Errors: INVALID_FIELD (a value that is not stored, a parent that is not there or is itself), MESSAGE_TOO_LARGE, VERSION_CONFLICT,
     * the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives the same receipt.
     * </pre>
     */
    default void putCheckpoint(dev.lockstitch.v1.PutCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPutCheckpointMethod(), responseObserver);
    }

    /**
     * <pre>
     * Puts pending writes of a checkpoint, which may come before it. Makes no commit and moves no version; may be repeated at will.
     * Errors: MESSAGE_TOO_LARGE, the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED.
     * </pre>
     */
    default void putCheckpointWrites(dev.lockstitch.v1.PutCheckpointWritesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointWritesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPutCheckpointWritesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives a checkpoint, or the latest of a namespace, with its writes, and if asked for the checkpoints that it goes on from.
     * Errors: CHECKPOINT_NOT_FOUND, PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void getCheckpoint(dev.lockstitch.v1.GetCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetCheckpointResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetCheckpointMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists checkpoints of a session, or of all sessions of the tenant, by id, the greatest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listCheckpoints(dev.lockstitch.v1.ListCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCheckpointsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListCheckpointsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Copies all checkpoints of a session, with values and writes, to another one of the tenant, in one commit there.
     * Errors: those of PutCheckpoint, of the session that is copied to. A retry gives the same receipt.
     * </pre>
     */
    default void copyCheckpoints(dev.lockstitch.v1.CopyCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CopyCheckpointsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCopyCheckpointsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes checkpoints with their writes, and the values that no other checkpoint shares, in one commit.
     * Errors: the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To delete what is not there is OK and changes nothing.
     * </pre>
     */
    default void deleteCheckpoints(dev.lockstitch.v1.DeleteCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteCheckpointsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteCheckpointsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CheckpointService.
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public static abstract class CheckpointServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CheckpointServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CheckpointService.
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public static final class CheckpointServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CheckpointServiceStub> {
    private CheckpointServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Puts a checkpoint, with the writes that it came with, in one commit. What has its id already is replaced.
     * Errors: INVALID_FIELD (a value that is not stored, a parent that is not there or is itself), MESSAGE_TOO_LARGE, VERSION_CONFLICT,
     * the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives the same receipt.
     * </pre>
     */
    public void putCheckpoint(dev.lockstitch.v1.PutCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPutCheckpointMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Puts pending writes of a checkpoint, which may come before it. Makes no commit and moves no version; may be repeated at will.
     * Errors: MESSAGE_TOO_LARGE, the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED.
     * </pre>
     */
    public void putCheckpointWrites(dev.lockstitch.v1.PutCheckpointWritesRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointWritesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPutCheckpointWritesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives a checkpoint, or the latest of a namespace, with its writes, and if asked for the checkpoints that it goes on from.
     * Errors: CHECKPOINT_NOT_FOUND, PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void getCheckpoint(dev.lockstitch.v1.GetCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetCheckpointResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetCheckpointMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists checkpoints of a session, or of all sessions of the tenant, by id, the greatest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listCheckpoints(dev.lockstitch.v1.ListCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCheckpointsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListCheckpointsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Copies all checkpoints of a session, with values and writes, to another one of the tenant, in one commit there.
     * Errors: those of PutCheckpoint, of the session that is copied to. A retry gives the same receipt.
     * </pre>
     */
    public void copyCheckpoints(dev.lockstitch.v1.CopyCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CopyCheckpointsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCopyCheckpointsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes checkpoints with their writes, and the values that no other checkpoint shares, in one commit.
     * Errors: the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To delete what is not there is OK and changes nothing.
     * </pre>
     */
    public void deleteCheckpoints(dev.lockstitch.v1.DeleteCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteCheckpointsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteCheckpointsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CheckpointService.
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public static final class CheckpointServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CheckpointServiceBlockingV2Stub> {
    private CheckpointServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Puts a checkpoint, with the writes that it came with, in one commit. What has its id already is replaced.
     * Errors: INVALID_FIELD (a value that is not stored, a parent that is not there or is itself), MESSAGE_TOO_LARGE, VERSION_CONFLICT,
     * the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives the same receipt.
     * </pre>
     */
    public dev.lockstitch.v1.PutCheckpointResponse putCheckpoint(dev.lockstitch.v1.PutCheckpointRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPutCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Puts pending writes of a checkpoint, which may come before it. Makes no commit and moves no version; may be repeated at will.
     * Errors: MESSAGE_TOO_LARGE, the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED.
     * </pre>
     */
    public dev.lockstitch.v1.PutCheckpointWritesResponse putCheckpointWrites(dev.lockstitch.v1.PutCheckpointWritesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPutCheckpointWritesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a checkpoint, or the latest of a namespace, with its writes, and if asked for the checkpoints that it goes on from.
     * Errors: CHECKPOINT_NOT_FOUND, PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.GetCheckpointResponse getCheckpoint(dev.lockstitch.v1.GetCheckpointRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists checkpoints of a session, or of all sessions of the tenant, by id, the greatest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListCheckpointsResponse listCheckpoints(dev.lockstitch.v1.ListCheckpointsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies all checkpoints of a session, with values and writes, to another one of the tenant, in one commit there.
     * Errors: those of PutCheckpoint, of the session that is copied to. A retry gives the same receipt.
     * </pre>
     */
    public dev.lockstitch.v1.CopyCheckpointsResponse copyCheckpoints(dev.lockstitch.v1.CopyCheckpointsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCopyCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes checkpoints with their writes, and the values that no other checkpoint shares, in one commit.
     * Errors: the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To delete what is not there is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.DeleteCheckpointsResponse deleteCheckpoints(dev.lockstitch.v1.DeleteCheckpointsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteCheckpointsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CheckpointService.
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public static final class CheckpointServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CheckpointServiceBlockingStub> {
    private CheckpointServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Puts a checkpoint, with the writes that it came with, in one commit. What has its id already is replaced.
     * Errors: INVALID_FIELD (a value that is not stored, a parent that is not there or is itself), MESSAGE_TOO_LARGE, VERSION_CONFLICT,
     * the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives the same receipt.
     * </pre>
     */
    public dev.lockstitch.v1.PutCheckpointResponse putCheckpoint(dev.lockstitch.v1.PutCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPutCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Puts pending writes of a checkpoint, which may come before it. Makes no commit and moves no version; may be repeated at will.
     * Errors: MESSAGE_TOO_LARGE, the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED.
     * </pre>
     */
    public dev.lockstitch.v1.PutCheckpointWritesResponse putCheckpointWrites(dev.lockstitch.v1.PutCheckpointWritesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPutCheckpointWritesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a checkpoint, or the latest of a namespace, with its writes, and if asked for the checkpoints that it goes on from.
     * Errors: CHECKPOINT_NOT_FOUND, PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.GetCheckpointResponse getCheckpoint(dev.lockstitch.v1.GetCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists checkpoints of a session, or of all sessions of the tenant, by id, the greatest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListCheckpointsResponse listCheckpoints(dev.lockstitch.v1.ListCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies all checkpoints of a session, with values and writes, to another one of the tenant, in one commit there.
     * Errors: those of PutCheckpoint, of the session that is copied to. A retry gives the same receipt.
     * </pre>
     */
    public dev.lockstitch.v1.CopyCheckpointsResponse copyCheckpoints(dev.lockstitch.v1.CopyCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCopyCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes checkpoints with their writes, and the values that no other checkpoint shares, in one commit.
     * Errors: the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To delete what is not there is OK and changes nothing.
     * </pre>
     */
    public dev.lockstitch.v1.DeleteCheckpointsResponse deleteCheckpoints(dev.lockstitch.v1.DeleteCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteCheckpointsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CheckpointService.
   * <pre>
   * Checkpoints of executions: put under the fence where there is a run, found by id, by "latest", by what they say of themselves.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. For engines and
   * admins.
   * </pre>
   */
  public static final class CheckpointServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CheckpointServiceFutureStub> {
    private CheckpointServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Puts a checkpoint, with the writes that it came with, in one commit. What has its id already is replaced.
     * Errors: INVALID_FIELD (a value that is not stored, a parent that is not there or is itself), MESSAGE_TOO_LARGE, VERSION_CONFLICT,
     * the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives the same receipt.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.PutCheckpointResponse> putCheckpoint(
        dev.lockstitch.v1.PutCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPutCheckpointMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Puts pending writes of a checkpoint, which may come before it. Makes no commit and moves no version; may be repeated at will.
     * Errors: MESSAGE_TOO_LARGE, the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.PutCheckpointWritesResponse> putCheckpointWrites(
        dev.lockstitch.v1.PutCheckpointWritesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPutCheckpointWritesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives a checkpoint, or the latest of a namespace, with its writes, and if asked for the checkpoints that it goes on from.
     * Errors: CHECKPOINT_NOT_FOUND, PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetCheckpointResponse> getCheckpoint(
        dev.lockstitch.v1.GetCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetCheckpointMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists checkpoints of a session, or of all sessions of the tenant, by id, the greatest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListCheckpointsResponse> listCheckpoints(
        dev.lockstitch.v1.ListCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListCheckpointsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Copies all checkpoints of a session, with values and writes, to another one of the tenant, in one commit there.
     * Errors: those of PutCheckpoint, of the session that is copied to. A retry gives the same receipt.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.CopyCheckpointsResponse> copyCheckpoints(
        dev.lockstitch.v1.CopyCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCopyCheckpointsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes checkpoints with their writes, and the values that no other checkpoint shares, in one commit.
     * Errors: the fence's, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To delete what is not there is OK and changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.DeleteCheckpointsResponse> deleteCheckpoints(
        dev.lockstitch.v1.DeleteCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteCheckpointsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_PUT_CHECKPOINT = 0;
  private static final int METHODID_PUT_CHECKPOINT_WRITES = 1;
  private static final int METHODID_GET_CHECKPOINT = 2;
  private static final int METHODID_LIST_CHECKPOINTS = 3;
  private static final int METHODID_COPY_CHECKPOINTS = 4;
  private static final int METHODID_DELETE_CHECKPOINTS = 5;

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
        case METHODID_PUT_CHECKPOINT:
          serviceImpl.putCheckpoint((dev.lockstitch.v1.PutCheckpointRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointResponse>) responseObserver);
          break;
        case METHODID_PUT_CHECKPOINT_WRITES:
          serviceImpl.putCheckpointWrites((dev.lockstitch.v1.PutCheckpointWritesRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.PutCheckpointWritesResponse>) responseObserver);
          break;
        case METHODID_GET_CHECKPOINT:
          serviceImpl.getCheckpoint((dev.lockstitch.v1.GetCheckpointRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetCheckpointResponse>) responseObserver);
          break;
        case METHODID_LIST_CHECKPOINTS:
          serviceImpl.listCheckpoints((dev.lockstitch.v1.ListCheckpointsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListCheckpointsResponse>) responseObserver);
          break;
        case METHODID_COPY_CHECKPOINTS:
          serviceImpl.copyCheckpoints((dev.lockstitch.v1.CopyCheckpointsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.CopyCheckpointsResponse>) responseObserver);
          break;
        case METHODID_DELETE_CHECKPOINTS:
          serviceImpl.deleteCheckpoints((dev.lockstitch.v1.DeleteCheckpointsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.DeleteCheckpointsResponse>) responseObserver);
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
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getPutCheckpointMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.PutCheckpointRequest,
              dev.lockstitch.v1.PutCheckpointResponse>(
                service, METHODID_PUT_CHECKPOINT)))
        .addMethod(
          getPutCheckpointWritesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.PutCheckpointWritesRequest,
              dev.lockstitch.v1.PutCheckpointWritesResponse>(
                service, METHODID_PUT_CHECKPOINT_WRITES)))
        .addMethod(
          getGetCheckpointMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetCheckpointRequest,
              dev.lockstitch.v1.GetCheckpointResponse>(
                service, METHODID_GET_CHECKPOINT)))
        .addMethod(
          getListCheckpointsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListCheckpointsRequest,
              dev.lockstitch.v1.ListCheckpointsResponse>(
                service, METHODID_LIST_CHECKPOINTS)))
        .addMethod(
          getCopyCheckpointsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.CopyCheckpointsRequest,
              dev.lockstitch.v1.CopyCheckpointsResponse>(
                service, METHODID_COPY_CHECKPOINTS)))
        .addMethod(
          getDeleteCheckpointsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.DeleteCheckpointsRequest,
              dev.lockstitch.v1.DeleteCheckpointsResponse>(
                service, METHODID_DELETE_CHECKPOINTS)))
        .build();
  }

  private static abstract class CheckpointServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CheckpointServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.lockstitch.v1.CheckpointServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CheckpointService");
    }
  }

  private static final class CheckpointServiceFileDescriptorSupplier
      extends CheckpointServiceBaseDescriptorSupplier {
    CheckpointServiceFileDescriptorSupplier() {}
  }

  private static final class CheckpointServiceMethodDescriptorSupplier
      extends CheckpointServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CheckpointServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (CheckpointServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CheckpointServiceFileDescriptorSupplier())
              .addMethod(getPutCheckpointMethod())
              .addMethod(getPutCheckpointWritesMethod())
              .addMethod(getGetCheckpointMethod())
              .addMethod(getListCheckpointsMethod())
              .addMethod(getCopyCheckpointsMethod())
              .addMethod(getDeleteCheckpointsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
