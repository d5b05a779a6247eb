package dev.lockstitch;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.lockstitch.v1.AdminServiceGrpc;
import dev.lockstitch.v1.CheckpointServiceGrpc;
import dev.lockstitch.v1.RunServiceGrpc;
import dev.lockstitch.v1.SessionServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.ServiceDescriptor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The wire's methods by name, and its messages as proto3 JSON. */
final class Rpcs {

  private static final Map<String, MethodDescriptor<Message, Message>> METHODS = new HashMap<>();

  static {
    for (ServiceDescriptor service :
        List.of(
            SessionServiceGrpc.getServiceDescriptor(),
            RunServiceGrpc.getServiceDescriptor(),
            CheckpointServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())) {
      service
          .getMethods()
          .forEach(method -> METHODS.put(method.getBareMethodName(), untyped(method)));
    }
  }

  private Rpcs() {}

  static MethodDescriptor<Message, Message> method(String name) {
    return METHODS.get(name);
  }

  static Message request(String name, JsonElement json) throws InvalidProtocolBufferException {
    var marshaller = (PrototypeMarshaller<Message>) method(name).getRequestMarshaller();
    Message.Builder request = marshaller.getMessagePrototype().newBuilderForType();
    JsonFormat.parser().merge(json.toString(), request);
    return request.build();
  }

  static JsonObject json(Message message) throws InvalidProtocolBufferException {
    String text = JsonFormat.printer().omittingInsignificantWhitespace().print(message);
    return JsonParser.parseString(text).getAsJsonObject();
  }

  @SuppressWarnings("unchecked") // every method of ours takes and gives messages
  private static MethodDescriptor<Message, Message> untyped(MethodDescriptor<?, ?> method) {
    return (MethodDescriptor<Message, Message>) method;
  }
}
