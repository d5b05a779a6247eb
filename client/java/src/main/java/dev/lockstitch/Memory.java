package dev.lockstitch;

import com.google.protobuf.FieldMask;
import dev.lockstitch.v1.MemoryChange;
import dev.lockstitch.v1.WorkingMemory;
import java.util.List;

/**
 * Changes of working memory.
 *
 * <p>A merge patch says only what it changes, and needs no guard. A change whose values were
 * computed from what you read ({@link #replace}, {@link #setFields}) does: the request's {@code
 * expected_memory_version}, from {@code session.memoryVersion()}.
 */
public final class Memory {

  private Memory() {}

  /**
   * An RFC 7396 merge patch of the whole object, as JSON text: null deletes a key, at every depth;
   * lists are replaced whole.
   */
  public static MemoryChange mergePatch(String json) {
    return MemoryChange.newBuilder().setMergePatchJson(json).build();
  }

  /** The whole memory becomes this. */
  public static MemoryChange replace(WorkingMemory memory) {
    return MemoryChange.newBuilder().setReplace(memory).build();
  }

  /**
   * The named fields ({@code "goal"}, {@code "next_action"} …) become what {@code memory} has; one
   * that it has not is deleted.
   */
  public static MemoryChange setFields(WorkingMemory memory, String... fields) {
    MemoryChange.Builder change = MemoryChange.newBuilder();
    change
        .getSetBuilder()
        .setMemory(memory)
        .setUpdateMask(FieldMask.newBuilder().addAllPaths(List.of(fields)));
    return change.build();
  }
}
