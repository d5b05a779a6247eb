package dev.lockstitch.engine;

import static dev.lockstitch.engine.Conversation.BIG;
import static dev.lockstitch.engine.Conversation.argumentsOf;
import static dev.lockstitch.engine.Conversation.checkMessages;
import static dev.lockstitch.engine.Conversation.completedBy;
import static dev.lockstitch.engine.Conversation.messagesOf;
import static dev.lockstitch.engine.Conversation.same;

import dev.lockstitch.Client;
import dev.lockstitch.Memory;
import dev.lockstitch.Messages;
import dev.lockstitch.RunHandle;
import dev.lockstitch.RunOptions;
import dev.lockstitch.SessionHandle;
import dev.lockstitch.Subscription;
import dev.lockstitch.errors.VersionConflictException;
import dev.lockstitch.v1.AppendRequest;
import dev.lockstitch.v1.Commit;
import dev.lockstitch.v1.CommitReceipt;
import dev.lockstitch.v1.ListToolCallsRequest;
import dev.lockstitch.v1.Message;
import dev.lockstitch.v1.ToolCall;
import dev.lockstitch.v1.ToolCallStatus;
import dev.lockstitch.v1.WorkingMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Java's engine of the five: takes one turn of the conversation, and checks all that the others
 * left.
 *
 * <pre>LOCKSTITCH_TARGET=… LOCKSTITCH_TOKEN=… client/java/.build/engine --session-id S --turn N
 * </pre>
 *
 * <p>client/README.md says what an engine does, in every language the same.
 */
public final class Engine {

  private static final String LANGUAGE = "java";

  private Engine() {}

  /** Does what the command line says. */
  public static void main(String[] arguments) {
    List<String> given = Arrays.asList(arguments);
    String sessionId = given.get(given.indexOf("--session-id") + 1);
    int turn = Integer.parseInt(given.get(given.indexOf("--turn") + 1));
    String target = System.getenv("LOCKSTITCH_TARGET");
    try (Client client = Client.connect(target, System.getenv("LOCKSTITCH_TOKEN"))) {
      long version = takeTurn(client, sessionId, turn);
      System.out.printf(
          "{\"turn\": %d, \"language\": \"%s\", \"version\": %d}%n", turn, LANGUAGE, version);
    } catch (RuntimeException error) {
      System.err.println(error.toString().replace('\n', ' '));
      System.exit(1);
    }
  }

  private static long takeTurn(Client client, String sessionId, int turn) {
    client.checkServer();
    SessionHandle session = client.session(sessionId);
    List<CommitReceipt> receipts = new ArrayList<>();
    session.run(
        RunOptions.worker(LANGUAGE).lease(Duration.ofSeconds(10)),
        run -> {
          List<String> languages = new ArrayList<>(check(run, turn - 1));
          languages.add(LANGUAGE);
          long version = run.get().getSession().getVersion();
          AppendRequest request =
              AppendRequest.newBuilder()
                  .addAllMessages(messagesOf(turn, LANGUAGE))
                  .setMemoryChange(Memory.mergePatch(patch(turn, languages)))
                  .setExpectedVersion(version)
                  .setRequestId(LANGUAGE + "-turn-" + turn)
                  .build();
          receipts.add(run.append(request));
          receipts.add(run.append(request));
          same(
              "replayed",
              receipts.stream().map(CommitReceipt::getReplayed).toList(),
              List.of(false, true));
          same("the replay's receipt", places(receipts.get(1)), places(receipts.get(0)));
          refuseTooLate(run, version, receipts.get(0).getVersion());
          checkMessages(follow(session, receipts.get(0).getVersion()), turn);
        });
    return receipts.get(0).getVersion();
  }

  /** Reads all there is of so many turns, compares it, and gives the languages that took them. */
  private static List<String> check(RunHandle run, int turns) {
    List<Message> messages = new ArrayList<>();
    run.messages().forEach(messages::add);
    List<String> languages = checkMessages(messages, turns);

    WorkingMemory memory = run.memory();
    same("completed", memory.getCompletedList(), completedBy(languages));
    same("next_action", memory.getNextAction(), turns == 0 ? "" : "turn " + (turns + 1));
    Set<String> counts = new TreeSet<>();
    for (int turn = 1; turn <= turns; turn++) {
      counts.add(count(turn));
    }
    same("extra_json", entries(memory.getExtraJson()), counts);

    List<List<String>> open = new ArrayList<>();
    ListToolCallsRequest pending =
        ListToolCallsRequest.newBuilder()
            .addStatuses(ToolCallStatus.TOOL_CALL_STATUS_PENDING)
            .build();
    for (ToolCall call : run.toolCalls(pending)) {
      open.add(List.of(call.getCallId(), call.getArgumentsJson()));
    }
    same(
        "the open calls",
        open,
        turns == 0 ? List.of() : List.of(List.of("call-" + turns, argumentsOf(turns))));
    return languages;
  }

  private static void refuseTooLate(RunHandle run, long expected, long current) {
    AppendRequest late =
        AppendRequest.newBuilder()
            .addMessages(Messages.user("too late"))
            .setExpectedVersion(expected)
            .build();
    try {
      run.append(late);
    } catch (VersionConflictException conflict) {
      same("current_version", conflict.currentVersion(), current);
      return;
    }
    throw new IllegalStateException("an append at an old version was stored");
  }

  /** Follows the session from its beginning, and gives the messages of its commits. */
  private static List<Message> follow(SessionHandle session, long upTo) {
    List<Message> messages = new ArrayList<>();
    try (Subscription<Commit> commits = session.subscribe(0)) {
      for (long wanted = 1; wanted <= upTo; wanted++) {
        Commit commit = commits.next();
        same("a commit's version", commit.getVersion(), wanted);
        messages.addAll(commit.getMessagesList());
      }
    }
    return messages;
  }

  private static String patch(int turn, List<String> languages) {
    String completed =
        completedBy(languages).stream()
            .map(one -> "\"" + one + "\"")
            .collect(Collectors.joining(",", "[", "]"));
    return "{\"completed\":%s,\"next_action\":\"turn %d\",%s}"
        .formatted(completed, turn + 1, count(turn));
  }

  private static String count(int turn) {
    return "\"count_" + turn + "\":" + BIG;
  }

  /** The entries of an object of plain numbers, as they are written. */
  private static Set<String> entries(String json) {
    return json.isEmpty()
        ? Set.of()
        : new TreeSet<>(Arrays.asList(json.substring(1, json.length() - 1).split(",")));
  }

  private static List<Long> places(CommitReceipt receipt) {
    return List.of(receipt.getVersion(), receipt.getFirstSeq(), receipt.getLastSeq());
  }
}
