"""Requests made from the descriptors: as they should be, as nobody would make them, and with names that there are."""

from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from support.drawn import JSON_VALUES
from support.drawn import messages as plausible_messages
from support.matrix import RPCS, request_of

INTEGERS = {3: (-(2**63), 2**63 - 1), 5: (-(2**31), 2**31 - 1)}
INTEGER_TYPES = {
    FieldDescriptor.TYPE_INT64: 3,
    FieldDescriptor.TYPE_INT32: 5,
}
DEPTH_MAX = 5
STEPS_MAX = 4
POOL_SIZE = 8

POOLS: dict[str, list[str]] = {}
"""Names that there are, by the field that takes them; a run fills them, POOL_SIZE each."""

wild_texts = st.one_of(
    st.sampled_from(
        ("", " ", "\x00", "\r\n", "x" * 129, "\U0001f600" * 40, "ﬃ", "e\u0301", "server:x", "sess_x", "%s%n", "'; --")
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.just("x" * 70_000),
)
json_texts = st.one_of(
    st.sampled_from(
        (*JSON_VALUES, "{", "NaN", '"\\ud800"', "[" * 513 + "]" * 513, "1e999", '{"a":1,"a":2}', "\ufeff1")
    ),
    wild_texts,
)
CHILD_NAMES = ("session_id", "message_id", "tool_call_id", "call_id", "run_id", "page_token", "user_id")


@cache
def requests(rpc: str) -> st.SearchStrategy[Any]:
    """Requests of an RPC, or the steps of its stream."""
    method: Any = RPCS[rpc]
    one = _messages(method.input_type, 0).map(lambda made: _aimed(rpc, made))
    return st.lists(one, min_size=1, max_size=STEPS_MAX) if method.client_streaming else one


def _aimed(rpc: str, request: Any) -> Any:
    """Give a request a request_id that is its own, as most have: else most would be told that they repeat one."""
    if "request_id" in request.DESCRIPTOR.fields_by_name and not request.request_id:
        request.request_id = request_of(rpc).request_id
    return request


@st.composite
def _messages(draw: st.DrawFn, descriptor: Descriptor, depth: int) -> Any:
    """A message with some of its fields; those that say whose it is nearly always."""
    if descriptor.full_name == "lockstitch.v1.Message" and draw(st.booleans()):
        return draw(plausible_messages)
    made: Any = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        chance = 9 if field.name in {"session_id", "session"} else 4
        if field.name == "request_id":
            chance = 1
        if draw(st.integers(0, 9)) >= chance:
            continue
        _fill(draw, made, field, depth)
    return made


def _fill(draw: st.DrawFn, made: Any, field: FieldDescriptor, depth: int) -> None:
    kind: Any = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        for key, value in draw(st.dictionaries(_texts("label"), _texts("label"), max_size=3)).items():
            getattr(made, field.name)[key] = value
    elif kind is not None:
        if depth < DEPTH_MAX:
            inner: st.SearchStrategy[Any] = _messages(kind, depth + 1)
            many = st.lists(inner, min_size=1, max_size=3) if field.is_repeated else inner.map(lambda one: [one])
            for one in draw(many):
                target = getattr(made, field.name)
                (target.add() if field.is_repeated else target).MergeFrom(one)
                if not field.is_repeated:
                    target.SetInParent()
    elif field.is_repeated:
        getattr(made, field.name).extend(draw(st.lists(_scalars(field), max_size=3)))
    else:
        setattr(made, field.name, draw(_scalars(field)))


def _scalars(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_STRING:
        return _texts(field.name)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=40)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_ENUM:
        values: Any = field.enum_type
        return st.sampled_from([value.number for value in values.values]) | st.sampled_from((-1, 99, 2**31 - 1))
    if field.type not in INTEGER_TYPES:
        raise AssertionError(f"say how to draw {field.full_name}")
    least, most = INTEGERS[INTEGER_TYPES[field.type]]
    return st.integers(0, 4) | st.sampled_from((least, -1, 1000, 1001, 253_402_300_800, most)).filter(
        lambda value: least <= value <= most
    )


def _texts(name: str) -> st.SearchStrategy[str]:
    if name in CHILD_NAMES:
        known = st.integers(0, POOL_SIZE - 1).map(lambda place: POOLS[name][place])
        return st.one_of(known, known, known, known, wild_texts)
    if name.endswith("json") or name == "json":
        return json_texts
    if name == "paths":
        return st.sampled_from(("title", "labels", "metadata_json", "goal", "plan", "extra_json", "x", "")) | wild_texts
    return wild_texts


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with some of them changed, left out or put in."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(changed)))
        changed[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(changed)
