"""Makers of working memory and of its changes.

A change that says only what it changes (a merge patch, keys) needs no guard. One whose values were computed from what
you read (:func:`replace`, :func:`set_fields`) does: ``expected_memory_version=session.memory_version``.

    await session.update_memory(change={"next_action": "run the tests", "scratch": None})
    await session.update_memory(change=replace(memory), expected_memory_version=session.memory_version)
"""

from collections.abc import Iterable, Mapping

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys, MemorySet, WorkingMemory
from lockstitch.wire import JsonText, checked_text, to_json

Change = MemoryChange | Mapping[str, object]
"""A change of memory; a mapping is a merge patch."""


def working_memory(
    *,
    goal: str | None = None,
    plan: Iterable[str] = (),
    completed: Iterable[str] = (),
    errors: Iterable[str] = (),
    important_files: Iterable[str] = (),
    next_action: str | None = None,
    extra: Mapping[str, object] | JsonText | None = None,
) -> WorkingMemory:
    """Working memory: what the agent keeps in mind, at most 1 MiB.

    Args:
        goal: What the conversation is to reach. None and ``""`` are two things.
        plan, completed, errors, important_files: Steps to take, steps taken, what went wrong, files that matter.
        next_action: What is to be done next. None and ``""`` are two things.
        extra: Any other keys, each with a value that JSON can write. Not the names above.

    Raises:
        InvalidField: A text with a lone surrogate, or a value that JSON can't write.

    Example:
        ``working_memory(goal="Fix the start-up failure", plan=["read the log"], extra={"branch": "main"})``
    """
    memory = WorkingMemory(
        plan=_texts(plan, "plan"),
        completed=_texts(completed, "completed"),
        errors=_texts(errors, "errors"),
        important_files=_texts(important_files, "important_files"),
        extra_json="" if extra is None else to_json(extra, field="memory.extra"),
    )
    if goal is not None:
        memory.goal = checked_text(goal, field="memory.goal")
    if next_action is not None:
        memory.next_action = checked_text(next_action, field="memory.next_action")
    return memory


def merge_patch(patch: Mapping[str, object] | JsonText) -> MemoryChange:
    """An RFC 7396 merge patch of the whole object: None deletes a key, at every depth; lists are replaced whole.

    Example:
        ``merge_patch({"completed": ["read the log"], "next_action": "mend the unit file", "branch": None})``
    """
    return MemoryChange(merge_patch_json=to_json(patch, field="memory patch"))


def set_keys(values: Mapping[str, object], *, delete: Iterable[str] = ()) -> MemoryChange:
    """Top-level keys to set, each as a whole, where None is JSON's null and a value; and keys to delete.

    Example:
        ``set_keys({"retries": 3, "owner": None}, delete=["scratch"])``
    """
    keys = MemoryKeys(
        set={
            checked_text(key, field="memory key"): to_json(value, field=f"memory.{key}")
            for key, value in values.items()
        },
        delete=_texts(delete, "delete"),
    )
    return MemoryChange(keys=keys)


def replace(memory: WorkingMemory) -> MemoryChange:
    """The whole memory becomes this. Needs a guard, unless the session never had memory."""
    return MemoryChange(replace=memory)


def set_fields(memory: WorkingMemory, *fields: str) -> MemoryChange:
    """The named fields become what ``memory`` has; one it does not have is deleted. Needs a guard like :func:`replace`.

    Args:
        memory: The new values.
        fields: goal, plan, completed, errors, important_files, next_action, extra_json.

    Example:
        ``set_fields(working_memory(goal="Ship it"), "goal", "plan")`` sets the goal and deletes the plan.
    """
    return MemoryChange(set=MemorySet(memory=memory, update_mask=FieldMask(paths=fields)))


def memory_change(change: Change) -> MemoryChange:
    """The change itself; a mapping as the merge patch that it stands for."""
    return change if isinstance(change, MemoryChange) else merge_patch(change)


def _texts(values: Iterable[str], field: str) -> list[str]:
    return [checked_text(value, field=f"memory.{field}[{place}]") for place, value in enumerate(values)]
