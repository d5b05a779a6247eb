package dev.lockstitch.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
 * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
 * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class RunServiceGrpc {

  private RunServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "lockstitch.v1.RunService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.StartRunRequest,
      dev.lockstitch.v1.StartRunResponse> getStartRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "StartRun",
      requestType = dev.lockstitch.v1.StartRunRequest.class,
      responseType = dev.lockstitch.v1.StartRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.StartRunRequest,
      dev.lockstitch.v1.StartRunResponse> getStartRunMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.StartRunRequest, dev.lockstitch.v1.StartRunResponse> getStartRunMethod;
    if ((getStartRunMethod = RunServiceGrpc.getStartRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getStartRunMethod = RunServiceGrpc.getStartRunMethod) == null) {
          RunServiceGrpc.getStartRunMethod = getStartRunMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.StartRunRequest, dev.lockstitch.v1.StartRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "StartRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.StartRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.StartRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("StartRun"))
              .build();
        }
      }
    }
    return getStartRunMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.RenewRunRequest,
      dev.lockstitch.v1.RenewRunResponse> getRenewRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RenewRun",
      requestType = dev.lockstitch.v1.RenewRunRequest.class,
      responseType = dev.lockstitch.v1.RenewRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.RenewRunRequest,
      dev.lockstitch.v1.RenewRunResponse> getRenewRunMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.RenewRunRequest, dev.lockstitch.v1.RenewRunResponse> getRenewRunMethod;
    if ((getRenewRunMethod = RunServiceGrpc.getRenewRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getRenewRunMethod = RunServiceGrpc.getRenewRunMethod) == null) {
          RunServiceGrpc.getRenewRunMethod = getRenewRunMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.RenewRunRequest, dev.lockstitch.v1.RenewRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RenewRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RenewRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.RenewRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("RenewRun"))
              .build();
        }
      }
    }
    return getRenewRunMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.CancelRunRequest,
      dev.lockstitch.v1.CancelRunResponse> getCancelRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CancelRun",
      requestType = dev.lockstitch.v1.CancelRunRequest.class,
      responseType = dev.lockstitch.v1.CancelRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.CancelRunRequest,
      dev.lockstitch.v1.CancelRunResponse> getCancelRunMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.CancelRunRequest, dev.lockstitch.v1.CancelRunResponse> getCancelRunMethod;
    if ((getCancelRunMethod = RunServiceGrpc.getCancelRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getCancelRunMethod = RunServiceGrpc.getCancelRunMethod) == null) {
          RunServiceGrpc.getCancelRunMethod = getCancelRunMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.CancelRunRequest, dev.lockstitch.v1.CancelRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CancelRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CancelRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.CancelRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("CancelRun"))
              .build();
        }
      }
    }
    return getCancelRunMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.FinishRunRequest,
      dev.lockstitch.v1.FinishRunResponse> getFinishRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "FinishRun",
      requestType = dev.lockstitch.v1.FinishRunRequest.class,
      responseType = dev.lockstitch.v1.FinishRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.FinishRunRequest,
      dev.lockstitch.v1.FinishRunResponse> getFinishRunMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.FinishRunRequest, dev.lockstitch.v1.FinishRunResponse> getFinishRunMethod;
    if ((getFinishRunMethod = RunServiceGrpc.getFinishRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getFinishRunMethod = RunServiceGrpc.getFinishRunMethod) == null) {
          RunServiceGrpc.getFinishRunMethod = getFinishRunMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.FinishRunRequest, dev.lockstitch.v1.FinishRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "FinishRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.FinishRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.FinishRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("FinishRun"))
              .build();
        }
      }
    }
    return getFinishRunMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetRunRequest,
      dev.lockstitch.v1.GetRunResponse> getGetRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetRun",
      requestType = dev.lockstitch.v1.GetRunRequest.class,
      responseType = dev.lockstitch.v1.GetRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetRunRequest,
      dev.lockstitch.v1.GetRunResponse> getGetRunMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetRunRequest, dev.lockstitch.v1.GetRunResponse> getGetRunMethod;
    if ((getGetRunMethod = RunServiceGrpc.getGetRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getGetRunMethod = RunServiceGrpc.getGetRunMethod) == null) {
          RunServiceGrpc.getGetRunMethod = getGetRunMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetRunRequest, dev.lockstitch.v1.GetRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("GetRun"))
              .build();
        }
      }
    }
    return getGetRunMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.ListRunsRequest,
      dev.lockstitch.v1.ListRunsResponse> getListRunsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRuns",
      requestType = dev.lockstitch.v1.ListRunsRequest.class,
      responseType = dev.lockstitch.v1.ListRunsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.ListRunsRequest,
      dev.lockstitch.v1.ListRunsResponse> getListRunsMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.ListRunsRequest, dev.lockstitch.v1.ListRunsResponse> getListRunsMethod;
    if ((getListRunsMethod = RunServiceGrpc.getListRunsMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getListRunsMethod = RunServiceGrpc.getListRunsMethod) == null) {
          RunServiceGrpc.getListRunsMethod = getListRunsMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.ListRunsRequest, dev.lockstitch.v1.ListRunsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRuns"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListRunsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.ListRunsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("ListRuns"))
              .build();
        }
      }
    }
    return getListRunsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static RunServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceStub>() {
        @java.lang.Override
        public RunServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceStub(channel, callOptions);
        }
      };
    return RunServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static RunServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingV2Stub>() {
        @java.lang.Override
        public RunServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return RunServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static RunServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingStub>() {
        @java.lang.Override
        public RunServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceBlockingStub(channel, callOptions);
        }
      };
    return RunServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static RunServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceFutureStub>() {
        @java.lang.Override
        public RunServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceFutureStub(channel, callOptions);
        }
      };
    return RunServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Starts a run. Where a run is active, `on_busy` says what happens. One whose lease has run out is taken over: it ends as EXPIRED in
     * the same commit, its RUNNING tool calls become INTERRUPTED, what it was drafting is stored as incomplete.
     * Errors: RUN_ACTIVE (names the run), RUN_ENDED where run_id was used before, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED,
     * SESSION_DELETED. A retry gives the run as it was started, whatever became of it since.
     * </pre>
     */
    default void startRun(dev.lockstitch.v1.StartRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.StartRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getStartRunMethod(), responseObserver);
    }

    /**
     * <pre>
     * Renews a run's lease. Makes no commit and moves no version; may be repeated at will. A lease that ran out is renewed as long as
     * nobody took over and the session did not expire.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, SESSION_EXPIRED.
     * </pre>
     */
    default void renewRun(dev.lockstitch.v1.RenewRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RenewRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRenewRunMethod(), responseObserver);
    }

    /**
     * <pre>
     * Asks a run to end: its holder reads `cancel_requested` when it renews. With `now` the run ends at once, as CANCELLED: its holder is
     * fenced and its RUNNING tool calls become INTERRUPTED.
     * Errors: RUN_NOT_FOUND, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To ask twice is OK and
     * changes nothing. A retry gives the run as of the first answer.
     * </pre>
     */
    default void cancelRun(dev.lockstitch.v1.CancelRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CancelRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCancelRunMethod(), responseObserver);
    }

    /**
     * <pre>
     * Ends a run, by its holder. Tool calls stay as they are. Append's finish_run does it together with the last messages.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives
     * the run as of the first answer.
     * </pre>
     */
    default void finishRun(dev.lockstitch.v1.FinishRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.FinishRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getFinishRunMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives a run.
     * Errors: RUN_NOT_FOUND.
     * </pre>
     */
    default void getRun(dev.lockstitch.v1.GetRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetRunMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists runs, the newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    default void listRuns(dev.lockstitch.v1.ListRunsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListRunsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRunsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service RunService.
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public static abstract class RunServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return RunServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service RunService.
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public static final class RunServiceStub
      extends io.grpc.stub.AbstractAsyncStub<RunServiceStub> {
    private RunServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Starts a run. Where a run is active, `on_busy` says what happens. One whose lease has run out is taken over: it ends as EXPIRED in
     * the same commit, its RUNNING tool calls become INTERRUPTED, what it was drafting is stored as incomplete.
     * Errors: RUN_ACTIVE (names the run), RUN_ENDED where run_id was used before, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED,
     * SESSION_DELETED. A retry gives the run as it was started, whatever became of it since.
     * </pre>
     */
    public void startRun(dev.lockstitch.v1.StartRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.StartRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getStartRunMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Renews a run's lease. Makes no commit and moves no version; may be repeated at will. A lease that ran out is renewed as long as
     * nobody took over and the session did not expire.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, SESSION_EXPIRED.
     * </pre>
     */
    public void renewRun(dev.lockstitch.v1.RenewRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.RenewRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRenewRunMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Asks a run to end: its holder reads `cancel_requested` when it renews. With `now` the run ends at once, as CANCELLED: its holder is
     * fenced and its RUNNING tool calls become INTERRUPTED.
     * Errors: RUN_NOT_FOUND, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To ask twice is OK and
     * changes nothing. A retry gives the run as of the first answer.
     * </pre>
     */
    public void cancelRun(dev.lockstitch.v1.CancelRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.CancelRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCancelRunMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Ends a run, by its holder. Tool calls stay as they are. Append's finish_run does it together with the last messages.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives
     * the run as of the first answer.
     * </pre>
     */
    public void finishRun(dev.lockstitch.v1.FinishRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.FinishRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getFinishRunMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives a run.
     * Errors: RUN_NOT_FOUND.
     * </pre>
     */
    public void getRun(dev.lockstitch.v1.GetRunRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetRunMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists runs, the newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public void listRuns(dev.lockstitch.v1.ListRunsRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListRunsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRunsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service RunService.
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public static final class RunServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<RunServiceBlockingV2Stub> {
    private RunServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Starts a run. Where a run is active, `on_busy` says what happens. One whose lease has run out is taken over: it ends as EXPIRED in
     * the same commit, its RUNNING tool calls become INTERRUPTED, what it was drafting is stored as incomplete.
     * Errors: RUN_ACTIVE (names the run), RUN_ENDED where run_id was used before, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED,
     * SESSION_DELETED. A retry gives the run as it was started, whatever became of it since.
     * </pre>
     */
    public dev.lockstitch.v1.StartRunResponse startRun(dev.lockstitch.v1.StartRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getStartRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Renews a run's lease. Makes no commit and moves no version; may be repeated at will. A lease that ran out is renewed as long as
     * nobody took over and the session did not expire.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, SESSION_EXPIRED.
     * </pre>
     */
    public dev.lockstitch.v1.RenewRunResponse renewRun(dev.lockstitch.v1.RenewRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRenewRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Asks a run to end: its holder reads `cancel_requested` when it renews. With `now` the run ends at once, as CANCELLED: its holder is
     * fenced and its RUNNING tool calls become INTERRUPTED.
     * Errors: RUN_NOT_FOUND, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To ask twice is OK and
     * changes nothing. A retry gives the run as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.CancelRunResponse cancelRun(dev.lockstitch.v1.CancelRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCancelRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Ends a run, by its holder. Tool calls stay as they are. Append's finish_run does it together with the last messages.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives
     * the run as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.FinishRunResponse finishRun(dev.lockstitch.v1.FinishRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getFinishRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a run.
     * Errors: RUN_NOT_FOUND.
     * </pre>
     */
    public dev.lockstitch.v1.GetRunResponse getRun(dev.lockstitch.v1.GetRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists runs, the newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListRunsResponse listRuns(dev.lockstitch.v1.ListRunsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRunsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service RunService.
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public static final class RunServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<RunServiceBlockingStub> {
    private RunServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Starts a run. Where a run is active, `on_busy` says what happens. One whose lease has run out is taken over: it ends as EXPIRED in
     * the same commit, its RUNNING tool calls become INTERRUPTED, what it was drafting is stored as incomplete.
     * Errors: RUN_ACTIVE (names the run), RUN_ENDED where run_id was used before, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED,
     * SESSION_DELETED. A retry gives the run as it was started, whatever became of it since.
     * </pre>
     */
    public dev.lockstitch.v1.StartRunResponse startRun(dev.lockstitch.v1.StartRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getStartRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Renews a run's lease. Makes no commit and moves no version; may be repeated at will. A lease that ran out is renewed as long as
     * nobody took over and the session did not expire.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, SESSION_EXPIRED.
     * </pre>
     */
    public dev.lockstitch.v1.RenewRunResponse renewRun(dev.lockstitch.v1.RenewRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRenewRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Asks a run to end: its holder reads `cancel_requested` when it renews. With `now` the run ends at once, as CANCELLED: its holder is
     * fenced and its RUNNING tool calls become INTERRUPTED.
     * Errors: RUN_NOT_FOUND, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To ask twice is OK and
     * changes nothing. A retry gives the run as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.CancelRunResponse cancelRun(dev.lockstitch.v1.CancelRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCancelRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Ends a run, by its holder. Tool calls stay as they are. Append's finish_run does it together with the last messages.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives
     * the run as of the first answer.
     * </pre>
     */
    public dev.lockstitch.v1.FinishRunResponse finishRun(dev.lockstitch.v1.FinishRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getFinishRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives a run.
     * Errors: RUN_NOT_FOUND.
     * </pre>
     */
    public dev.lockstitch.v1.GetRunResponse getRun(dev.lockstitch.v1.GetRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetRunMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists runs, the newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public dev.lockstitch.v1.ListRunsResponse listRuns(dev.lockstitch.v1.ListRunsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRunsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service RunService.
   * <pre>
   * Runs: one execution at a time on a session, by a lease that its holder renews and a token that fences who held it before.
   * Every call carries `authorization: Bearer &lt;token&gt;` and may fail as SessionService's do, with SESSION_NOT_FOUND too. Times are the
   * database's clock. A user may read runs and ask for one to be cancelled; the rest is for engines and admins.
   * </pre>
   */
  public static final class RunServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<RunServiceFutureStub> {
    private RunServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Starts a run. Where a run is active, `on_busy` says what happens. One whose lease has run out is taken over: it ends as EXPIRED in
     * the same commit, its RUNNING tool calls become INTERRUPTED, what it was drafting is stored as incomplete.
     * Errors: RUN_ACTIVE (names the run), RUN_ENDED where run_id was used before, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED,
     * SESSION_DELETED. A retry gives the run as it was started, whatever became of it since.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.StartRunResponse> startRun(
        dev.lockstitch.v1.StartRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getStartRunMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Renews a run's lease. Makes no commit and moves no version; may be repeated at will. A lease that ran out is renewed as long as
     * nobody took over and the session did not expire.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, SESSION_EXPIRED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.RenewRunResponse> renewRun(
        dev.lockstitch.v1.RenewRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRenewRunMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Asks a run to end: its holder reads `cancel_requested` when it renews. With `now` the run ends at once, as CANCELLED: its holder is
     * fenced and its RUNNING tool calls become INTERRUPTED.
     * Errors: RUN_NOT_FOUND, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. To ask twice is OK and
     * changes nothing. A retry gives the run as of the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.CancelRunResponse> cancelRun(
        dev.lockstitch.v1.CancelRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCancelRunMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Ends a run, by its holder. Tool calls stay as they are. Append's finish_run does it together with the last messages.
     * Errors: RUN_NOT_FOUND, RUN_FENCED, RUN_ENDED, VERSION_CONFLICT, SESSION_CLOSED, SESSION_EXPIRED, SESSION_DELETED. A retry gives
     * the run as of the first answer.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.FinishRunResponse> finishRun(
        dev.lockstitch.v1.FinishRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getFinishRunMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives a run.
     * Errors: RUN_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetRunResponse> getRun(
        dev.lockstitch.v1.GetRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetRunMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists runs, the newest first.
     * Errors: PAGE_TOKEN_INVALID.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.ListRunsResponse> listRuns(
        dev.lockstitch.v1.ListRunsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRunsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_START_RUN = 0;
  private static final int METHODID_RENEW_RUN = 1;
  private static final int METHODID_CANCEL_RUN = 2;
  private static final int METHODID_FINISH_RUN = 3;
  private static final int METHODID_GET_RUN = 4;
  private static final int METHODID_LIST_RUNS = 5;

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
        case METHODID_START_RUN:
          serviceImpl.startRun((dev.lockstitch.v1.StartRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.StartRunResponse>) responseObserver);
          break;
        case METHODID_RENEW_RUN:
          serviceImpl.renewRun((dev.lockstitch.v1.RenewRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.RenewRunResponse>) responseObserver);
          break;
        case METHODID_CANCEL_RUN:
          serviceImpl.cancelRun((dev.lockstitch.v1.CancelRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.CancelRunResponse>) responseObserver);
          break;
        case METHODID_FINISH_RUN:
          serviceImpl.finishRun((dev.lockstitch.v1.FinishRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.FinishRunResponse>) responseObserver);
          break;
        case METHODID_GET_RUN:
          serviceImpl.getRun((dev.lockstitch.v1.GetRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetRunResponse>) responseObserver);
          break;
        case METHODID_LIST_RUNS:
          serviceImpl.listRuns((dev.lockstitch.v1.ListRunsRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.ListRunsResponse>) responseObserver);
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
          getStartRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.StartRunRequest,
              dev.lockstitch.v1.StartRunResponse>(
                service, METHODID_START_RUN)))
        .addMethod(
          getRenewRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.RenewRunRequest,
              dev.lockstitch.v1.RenewRunResponse>(
                service, METHODID_RENEW_RUN)))
        .addMethod(
          getCancelRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.CancelRunRequest,
              dev.lockstitch.v1.CancelRunResponse>(
                service, METHODID_CANCEL_RUN)))
        .addMethod(
          getFinishRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.FinishRunRequest,
              dev.lockstitch.v1.FinishRunResponse>(
                service, METHODID_FINISH_RUN)))
        .addMethod(
          getGetRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetRunRequest,
              dev.lockstitch.v1.GetRunResponse>(
                service, METHODID_GET_RUN)))
        .addMethod(
          getListRunsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.ListRunsRequest,
              dev.lockstitch.v1.ListRunsResponse>(
                service, METHODID_LIST_RUNS)))
        .build();
  }

  private static abstract class RunServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    RunServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.lockstitch.v1.RunServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("RunService");
    }
  }

  private static final class RunServiceFileDescriptorSupplier
      extends RunServiceBaseDescriptorSupplier {
    RunServiceFileDescriptorSupplier() {}
  }

  private static final class RunServiceMethodDescriptorSupplier
      extends RunServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    RunServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (RunServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new RunServiceFileDescriptorSupplier())
              .addMethod(getStartRunMethod())
              .addMethod(getRenewRunMethod())
              .addMethod(getCancelRunMethod())
              .addMethod(getFinishRunMethod())
              .addMethod(getGetRunMethod())
              .addMethod(getListRunsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
