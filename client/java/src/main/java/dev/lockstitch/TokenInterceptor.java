package dev.lockstitch;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.function.Supplier;

/** Adds fresh headers to each call of somebody's own stub. */
record TokenInterceptor(Supplier<Metadata> headers) implements ClientInterceptor {

  @Override
  public <I, O> ClientCall<I, O> interceptCall(
      MethodDescriptor<I, O> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<O> listener, Metadata given) {
        given.merge(headers.get());
        super.start(listener, given);
      }
    };
  }
}
