"""Hypothesis strategies for requests: small alphabets, so that ids, keys and names meet."""

from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from hypothesis import strategies as st

from lockstitch.v1 import message_pb2 as m
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.run_pb2 import RUN_STATUS_CANCELLED, RUN_STATUS_FAILED, RUN_STATUS_SUCCEEDED, RunEnd
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys, MemorySet, WorkingMemory

CALL_IDS = ("c0", "c1", "search:0")
NAMES = ("search", "write_file")
KEYS = ("a", "b", "ü")
JSON_VALUES = (
    "null",
    "0",
    "-0.0",
    "1e3",
    "1.0",
    "12345678901234567890",
    '""',
    '"\\u0000\\ud83d\\ude00"',
    '"a b"',
    "[]",
    "{}",
    "[ 1,2 ]",
    '{"x" : 1, "y":{"z":[1,{"q":null}]}}',
    ' {"x":{"y":null}, "k":"v"} ',
    '{"x":1,"x":2}',
    '{"y":{"z":null,"w": 0}}',
    '{"x":null}',
    '{ "y" : {"z" : {"deep":[]}} }',
)
values = st.sampled_from(JSON_VALUES)
objects = st.dictionaries(st.sampled_from((*KEYS, "goal ", "x")), values, max_size=3).map(
    lambda members: "{" + " , ".join(f'"{key}":{value}' for key, value in members.items()) + "}"
)
texts = st.sampled_from(("", "hi", "hello there", "naïve — \U0001f600", "a\nb"))
call_ids = st.sampled_from(CALL_IDS)
NO_JSON = ("", "{", "NaN", '"\\ud800"', "[" * 513 + "]" * 513)


def _rarely(strategy: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
    return st.integers(0, 5).flatmap(lambda n: strategy if n == 3 else st.just(otherwise))


tool_calls = st.builds(m.ToolCallPart, call_id=call_ids, name=st.sampled_from(NAMES), arguments_json=values)
plain_parts = st.one_of(
    st.builds(m.Part, text=texts),
    st.builds(m.Part, json=values),
    st.builds(m.Part, blob=st.builds(m.Blob, mime_type=st.just("image/png"), data=st.sampled_from((b"", b"\x00\xff")))),
)
results = st.one_of(
    st.builds(m.ToolResultPart, json=values, is_error=st.booleans()),
    st.builds(m.ToolResultPart, text=texts, is_error=st.booleans()),
    st.builds(m.ToolResultPart, is_error=st.booleans()),
)
message_ids = _rarely(st.sampled_from(tuple(f"m{number}" for number in range(12))), "")

user_messages = st.builds(
    m.Message,
    message_id=message_ids,
    role=st.just(m.ROLE_USER),
    parts=st.lists(plain_parts, min_size=1, max_size=2),
    metadata_json=_rarely(values, ""),
    seq=_rarely(st.just(77), 0),
)
assistant_messages = st.builds(
    m.Message,
    message_id=message_ids,
    role=st.just(m.ROLE_ASSISTANT),
    author=_rarely(st.just("planner"), ""),
    parts=st.lists(
        st.one_of(
            st.builds(m.Part, text=texts),
            st.builds(m.Part, tool_call=tool_calls),
            st.builds(m.Part, tool_call=tool_calls),
            st.builds(m.Part, reasoning=texts),
        ),
        min_size=1,
        max_size=3,
    ),
    usage=st.none() | st.just(m.Usage(model="gpt", input_tokens=3)),
    original=_rarely(st.just(m.Original(format="openai", data=b"\x00{")), None),
    incomplete=st.booleans(),
)
tool_messages = st.one_of(
    st.builds(
        m.Message,
        message_id=message_ids,
        role=st.just(m.ROLE_TOOL),
        call_id=call_ids,
        parts=st.one_of(
            st.lists(plain_parts, min_size=1, max_size=2), st.builds(lambda r: [m.Part(tool_result=r)], results)
        ),
    ),
    st.builds(
        lambda call_id, result: m.Message(
            role=m.ROLE_TOOL, parts=[m.Part(tool_result=result), m.Part(text="boom")], call_id=call_id
        ),
        call_ids,
        results,
    ),
    st.builds(
        lambda call_id: m.Message(role=m.ROLE_TOOL, parts=[m.Part(tool_result=m.ToolResultPart(call_id=call_id))]),
        call_ids,
    ),
)
instructions = st.builds(
    m.Message,
    role=st.sampled_from((m.ROLE_SYSTEM, m.ROLE_DEVELOPER)),
    parts=st.lists(plain_parts, min_size=1, max_size=1),
)
messages = st.one_of(user_messages, assistant_messages, assistant_messages, tool_messages, tool_messages, instructions)

memories = st.builds(
    WorkingMemory,
    goal=st.none() | texts,
    next_action=st.none() | texts,
    plan=st.lists(texts, max_size=2),
    errors=st.lists(texts, max_size=1),
    extra_json=_rarely(objects, "") | objects,
)
paths = st.lists(
    st.sampled_from(("goal", "plan", "completed", "errors", "important_files", "next_action", "extra_json")),
    min_size=1,
    max_size=3,
    unique=True,
)
patches = st.one_of(
    objects,
    st.sampled_from(('{"goal":null}', '{"goal":"g\\u00fc", "plan":["a"]}', '{"next_action":"", "completed":[]}', "{}")),
)


@st.composite
def memory_keys(draw: st.DrawFn) -> MemoryKeys:
    keys = draw(st.lists(st.sampled_from((*KEYS, "x")), min_size=1, max_size=3, unique=True))
    split = draw(st.integers(0, len(keys)))
    return MemoryKeys(set={key: draw(values) for key in keys[:split]}, delete=keys[split:])


memory_changes = st.one_of(
    st.builds(MemoryChange, replace=memories),
    st.builds(
        lambda memory, paths: MemoryChange(set=MemorySet(memory=memory, update_mask=FieldMask(paths=paths))),
        memories,
        paths,
    ),
    st.builds(MemoryChange, merge_patch_json=patches),
    st.builds(MemoryChange, merge_patch_json=patches),
    st.builds(MemoryChange, keys=memory_keys()),
)

open_statuses = st.sampled_from(
    (t.TOOL_CALL_STATUS_PENDING, t.TOOL_CALL_STATUS_RUNNING, t.TOOL_CALL_STATUS_AWAITING_APPROVAL)
)
run_ends = st.one_of(
    st.just(RunEnd(status=RUN_STATUS_SUCCEEDED)),
    st.builds(
        RunEnd,
        status=st.sampled_from((RUN_STATUS_FAILED, RUN_STATUS_CANCELLED)),
        error=st.sampled_from(("", "no disk — ü")),
    ),
)
approvals = st.builds(t.Approval, granted=st.booleans(), note=st.sampled_from(("", "why not")))


@st.composite
def endings(draw: st.DrawFn) -> dict[str, Any]:
    """The fields that end a call."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return {"result_json": draw(values)}
    if kind == 1:
        return {"error": draw(st.sampled_from(("boom", "lost")))}
    if kind == 2:
        return {"status": t.TOOL_CALL_STATUS_FAILED, "error": "boom", "result_json": draw(values)}
    if kind == 3:
        return {"status": draw(st.sampled_from((t.TOOL_CALL_STATUS_SUCCEEDED, t.TOOL_CALL_STATUS_CANCELLED)))}
    return {
        "status": t.TOOL_CALL_STATUS_INTERRUPTED,
        "error": draw(st.sampled_from(("", "lost"))),
        "result_json": draw(st.sampled_from(("", "1"))),
    }


@st.composite
def new_calls(draw: st.DrawFn) -> t.ToolCallChange:
    """A call that no message makes, which may have ended already."""
    change = t.ToolCallChange(call_id=draw(call_ids), name=draw(st.sampled_from(NAMES)), arguments_json=draw(values))
    if draw(st.booleans()):
        change.status = draw(open_statuses)
    else:
        change.MergeFrom(t.ToolCallChange(**draw(endings())))
        ended = t.TOOL_CALL_STATUS_FAILED if change.error else t.TOOL_CALL_STATUS_SUCCEEDED
        change.status = change.status or ended
    return change
