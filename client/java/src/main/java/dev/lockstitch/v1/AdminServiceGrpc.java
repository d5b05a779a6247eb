package dev.lockstitch.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * What operators ask of a server.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AdminServiceGrpc {

  private AdminServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "lockstitch.v1.AdminService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.GetServerInfoRequest,
      dev.lockstitch.v1.GetServerInfoResponse> getGetServerInfoMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetServerInfo",
      requestType = dev.lockstitch.v1.GetServerInfoRequest.class,
      responseType = dev.lockstitch.v1.GetServerInfoResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.GetServerInfoRequest,
      dev.lockstitch.v1.GetServerInfoResponse> getGetServerInfoMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.GetServerInfoRequest, dev.lockstitch.v1.GetServerInfoResponse> getGetServerInfoMethod;
    if ((getGetServerInfoMethod = AdminServiceGrpc.getGetServerInfoMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getGetServerInfoMethod = AdminServiceGrpc.getGetServerInfoMethod) == null) {
          AdminServiceGrpc.getGetServerInfoMethod = getGetServerInfoMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.GetServerInfoRequest, dev.lockstitch.v1.GetServerInfoResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetServerInfo"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetServerInfoRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.GetServerInfoResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("GetServerInfo"))
              .build();
        }
      }
    }
    return getGetServerInfoMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.PurgeSessionRequest,
      dev.lockstitch.v1.PurgeSessionResponse> getPurgeSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PurgeSession",
      requestType = dev.lockstitch.v1.PurgeSessionRequest.class,
      responseType = dev.lockstitch.v1.PurgeSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.PurgeSessionRequest,
      dev.lockstitch.v1.PurgeSessionResponse> getPurgeSessionMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.PurgeSessionRequest, dev.lockstitch.v1.PurgeSessionResponse> getPurgeSessionMethod;
    if ((getPurgeSessionMethod = AdminServiceGrpc.getPurgeSessionMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getPurgeSessionMethod = AdminServiceGrpc.getPurgeSessionMethod) == null) {
          AdminServiceGrpc.getPurgeSessionMethod = getPurgeSessionMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.PurgeSessionRequest, dev.lockstitch.v1.PurgeSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PurgeSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PurgeSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.PurgeSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("PurgeSession"))
              .build();
        }
      }
    }
    return getPurgeSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.lockstitch.v1.EraseUserRequest,
      dev.lockstitch.v1.EraseUserResponse> getEraseUserMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "EraseUser",
      requestType = dev.lockstitch.v1.EraseUserRequest.class,
      responseType = dev.lockstitch.v1.EraseUserResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.lockstitch.v1.EraseUserRequest,
      dev.lockstitch.v1.EraseUserResponse> getEraseUserMethod() {
    io.grpc.MethodDescriptor<dev.lockstitch.v1.EraseUserRequest, dev.lockstitch.v1.EraseUserResponse> getEraseUserMethod;
    if ((getEraseUserMethod = AdminServiceGrpc.getEraseUserMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getEraseUserMethod = AdminServiceGrpc.getEraseUserMethod) == null) {
          AdminServiceGrpc.getEraseUserMethod = getEraseUserMethod =
              io.grpc.MethodDescriptor.<dev.lockstitch.v1.EraseUserRequest, dev.lockstitch.v1.EraseUserResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "EraseUser"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.EraseUserRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.lockstitch.v1.EraseUserResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("EraseUser"))
              .build();
        }
      }
    }
    return getEraseUserMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AdminServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub>() {
        @java.lang.Override
        public AdminServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceStub(channel, callOptions);
        }
      };
    return AdminServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AdminServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub>() {
        @java.lang.Override
        public AdminServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AdminServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AdminServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub>() {
        @java.lang.Override
        public AdminServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingStub(channel, callOptions);
        }
      };
    return AdminServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AdminServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub>() {
        @java.lang.Override
        public AdminServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceFutureStub(channel, callOptions);
        }
      };
    return AdminServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Says what this server is and which limits it holds. For engines and admins.
     * Errors: ROLE_NOT_ALLOWED. Reads only: may be retried at will.
     * </pre>
     */
    default void getServerInfo(dev.lockstitch.v1.GetServerInfoRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetServerInfoResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetServerInfoMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes all content of a session for good, whatever its state. Its id stays taken. For admins.
     * Errors: ROLE_NOT_ALLOWED, SESSION_NOT_FOUND, RUN_ACTIVE. A retry with the same request_id gives the same answer; any other call on
     * the session is SESSION_NOT_FOUND from now on.
     * </pre>
     */
    default void purgeSession(dev.lockstitch.v1.PurgeSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PurgeSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPurgeSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Purges the sessions of a user, one by one, and says what remains. Runs that are active end with their sessions. For admins.
     * Errors: ROLE_NOT_ALLOWED. Repeat it until nothing remains: what was purged stays so, however a call ends.
     * </pre>
     */
    default void eraseUser(dev.lockstitch.v1.EraseUserRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.EraseUserResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getEraseUserMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AdminService.
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public static abstract class AdminServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AdminServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AdminService.
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public static final class AdminServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AdminServiceStub> {
    private AdminServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Says what this server is and which limits it holds. For engines and admins.
     * Errors: ROLE_NOT_ALLOWED. Reads only: may be retried at will.
     * </pre>
     */
    public void getServerInfo(dev.lockstitch.v1.GetServerInfoRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetServerInfoResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetServerInfoMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes all content of a session for good, whatever its state. Its id stays taken. For admins.
     * Errors: ROLE_NOT_ALLOWED, SESSION_NOT_FOUND, RUN_ACTIVE. A retry with the same request_id gives the same answer; any other call on
     * the session is SESSION_NOT_FOUND from now on.
     * </pre>
     */
    public void purgeSession(dev.lockstitch.v1.PurgeSessionRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.PurgeSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPurgeSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Purges the sessions of a user, one by one, and says what remains. Runs that are active end with their sessions. For admins.
     * Errors: ROLE_NOT_ALLOWED. Repeat it until nothing remains: what was purged stays so, however a call ends.
     * </pre>
     */
    public void eraseUser(dev.lockstitch.v1.EraseUserRequest request,
        io.grpc.stub.StreamObserver<dev.lockstitch.v1.EraseUserResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getEraseUserMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AdminService.
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public static final class AdminServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingV2Stub> {
    private AdminServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Says what this server is and which limits it holds. For engines and admins.
     * Errors: ROLE_NOT_ALLOWED. Reads only: may be retried at will.
     * </pre>
     */
    public dev.lockstitch.v1.GetServerInfoResponse getServerInfo(dev.lockstitch.v1.GetServerInfoRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetServerInfoMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes all content of a session for good, whatever its state. Its id stays taken. For admins.
     * Errors: ROLE_NOT_ALLOWED, SESSION_NOT_FOUND, RUN_ACTIVE. A retry with the same request_id gives the same answer; any other call on
     * the session is SESSION_NOT_FOUND from now on.
     * </pre>
     */
    public dev.lockstitch.v1.PurgeSessionResponse purgeSession(dev.lockstitch.v1.PurgeSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPurgeSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Purges the sessions of a user, one by one, and says what remains. Runs that are active end with their sessions. For admins.
     * Errors: ROLE_NOT_ALLOWED. Repeat it until nothing remains: what was purged stays so, however a call ends.
     * </pre>
     */
    public dev.lockstitch.v1.EraseUserResponse eraseUser(dev.lockstitch.v1.EraseUserRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getEraseUserMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AdminService.
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public static final class AdminServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingStub> {
    private AdminServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Says what this server is and which limits it holds. For engines and admins.
     * Errors: ROLE_NOT_ALLOWED. Reads only: may be retried at will.
     * </pre>
     */
    public dev.lockstitch.v1.GetServerInfoResponse getServerInfo(dev.lockstitch.v1.GetServerInfoRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetServerInfoMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes all content of a session for good, whatever its state. Its id stays taken. For admins.
     * Errors: ROLE_NOT_ALLOWED, SESSION_NOT_FOUND, RUN_ACTIVE. A retry with the same request_id gives the same answer; any other call on
     * the session is SESSION_NOT_FOUND from now on.
     * </pre>
     */
    public dev.lockstitch.v1.PurgeSessionResponse purgeSession(dev.lockstitch.v1.PurgeSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPurgeSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Purges the sessions of a user, one by one, and says what remains. Runs that are active end with their sessions. For admins.
     * Errors: ROLE_NOT_ALLOWED. Repeat it until nothing remains: what was purged stays so, however a call ends.
     * </pre>
     */
    public dev.lockstitch.v1.EraseUserResponse eraseUser(dev.lockstitch.v1.EraseUserRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getEraseUserMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AdminService.
   * <pre>
   * What operators ask of a server.
   * </pre>
   */
  public static final class AdminServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AdminServiceFutureStub> {
    private AdminServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Says what this server is and which limits it holds. For engines and admins.
     * Errors: ROLE_NOT_ALLOWED. Reads only: may be retried at will.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.GetServerInfoResponse> getServerInfo(
        dev.lockstitch.v1.GetServerInfoRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetServerInfoMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes all content of a session for good, whatever its state. Its id stays taken. For admins.
     * Errors: ROLE_NOT_ALLOWED, SESSION_NOT_FOUND, RUN_ACTIVE. A retry with the same request_id gives the same answer; any other call on
     * the session is SESSION_NOT_FOUND from now on.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.PurgeSessionResponse> purgeSession(
        dev.lockstitch.v1.PurgeSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPurgeSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Purges the sessions of a user, one by one, and says what remains. Runs that are active end with their sessions. For admins.
     * Errors: ROLE_NOT_ALLOWED. Repeat it until nothing remains: what was purged stays so, however a call ends.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.lockstitch.v1.EraseUserResponse> eraseUser(
        dev.lockstitch.v1.EraseUserRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getEraseUserMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_SERVER_INFO = 0;
  private static final int METHODID_PURGE_SESSION = 1;
  private static final int METHODID_ERASE_USER = 2;

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
        case METHODID_GET_SERVER_INFO:
          serviceImpl.getServerInfo((dev.lockstitch.v1.GetServerInfoRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.GetServerInfoResponse>) responseObserver);
          break;
        case METHODID_PURGE_SESSION:
          serviceImpl.purgeSession((dev.lockstitch.v1.PurgeSessionRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.PurgeSessionResponse>) responseObserver);
          break;
        case METHODID_ERASE_USER:
          serviceImpl.eraseUser((dev.lockstitch.v1.EraseUserRequest) request,
              (io.grpc.stub.StreamObserver<dev.lockstitch.v1.EraseUserResponse>) responseObserver);
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
          getGetServerInfoMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.GetServerInfoRequest,
              dev.lockstitch.v1.GetServerInfoResponse>(
                service, METHODID_GET_SERVER_INFO)))
        .addMethod(
          getPurgeSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.PurgeSessionRequest,
              dev.lockstitch.v1.PurgeSessionResponse>(
                service, METHODID_PURGE_SESSION)))
        .addMethod(
          getEraseUserMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.lockstitch.v1.EraseUserRequest,
              dev.lockstitch.v1.EraseUserResponse>(
                service, METHODID_ERASE_USER)))
        .build();
  }

  private static abstract class AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AdminServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.lockstitch.v1.AdminServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AdminService");
    }
  }

  private static final class AdminServiceFileDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier {
    AdminServiceFileDescriptorSupplier() {}
  }

  private static final class AdminServiceMethodDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AdminServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AdminServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AdminServiceFileDescriptorSupplier())
              .addMethod(getGetServerInfoMethod())
              .addMethod(getPurgeSessionMethod())
              .addMethod(getEraseUserMethod())
              .build();
        }
      }
    }
    return result;
  }
}
