"""LangGraph's checkpoint saver on the client, as thin as it can be: a thread is a session, a saver a tenant."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)

from lockstitch import Client, InvalidField, NotFound, SessionExists, SessionNotFound
from lockstitch.types import Checkpoint as StoredCheckpoint
from lockstitch.types import CheckpointValue, CheckpointWrite, CreateIfMissing

AGENT = "langgraph"


class LockstitchSaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints with lockstitch; a channel's value lies apart, by version, so that it is sent once."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, namespace = _place(config)
        session = self._client.session(thread_id)
        checkpoint_id = get_checkpoint_id(config)
        try:
            if checkpoint_id:
                return self._tuple(await session.checkpoint(checkpoint_id, namespace=namespace))
            latest = await session.latest_checkpoint(namespace=namespace)
        except NotFound:
            return None
        return None if latest is None else self._tuple(latest)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        if limit is not None and limit < 1:
            return
        place = {} if config is None else config["configurable"]
        checkpoint_id = None if config is None else get_checkpoint_id(config)
        asked: dict[str, Any] = {
            "namespace": place.get("checkpoint_ns"),
            "metadata": filter,
            "before": (before and get_checkpoint_id(before)) or "",
            "page_size": min(limit or 0, 1000),
        }
        thread_id = place.get("thread_id")
        source = self._client if thread_id is None else self._client.session(thread_id)
        given = 0
        try:
            async for found in source.checkpoints(**asked):
                if checkpoint_id in {None, found.checkpoint_id}:
                    yield self._tuple(found)
                    given += 1
                if given == limit:
                    return
        except SessionNotFound:
            return

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, namespace = _place(config)
        content = dict(checkpoint)
        values = cast("dict[str, Any]", content.pop("channel_values"))
        kept = get_serializable_checkpoint_metadata(config, metadata)
        kind, data = self.serde.dumps_typed(content)
        fields: dict[str, Any] = {
            "namespace": namespace,
            "parent_id": get_checkpoint_id(config) or "",
            "format": kind,
            "data": data,
            "metadata": kept,
            "run_id": str(cast("dict[str, Any]", kept).get("run_id") or ""),
            "create_if_missing": CreateIfMissing(agent=AGENT),
        }
        held = {name: str(version) for name, version in checkpoint["channel_versions"].items() if name in values}
        shared = [
            self._value(name, version, values[name])
            if name in new_versions
            else CheckpointValue(channel=name, version=version)
            for name, version in held.items()
        ]
        session = self._client.session(thread_id)
        try:
            await session.put_checkpoint(checkpoint["id"], values=shared, **fields)
        except InvalidField as error:
            if not error.field_violations[0].field.startswith("checkpoint.values"):
                raise
            # A version that was used for something else, or never stored: then this checkpoint's values are its own.
            own = [self._value(name, f"{version} {checkpoint['id']}", values[name]) for name, version in held.items()]
            await session.put_checkpoint(checkpoint["id"], values=own, **fields)
        return _config(thread_id, namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        thread_id, namespace = _place(config)
        sent = [
            CheckpointWrite(
                task_id=task_id,
                task_path=task_path,
                index=WRITES_IDX_MAP.get(channel, place),
                channel=channel,
                format=kind,
                data=data,
            )
            for place, (channel, value) in enumerate(writes)
            for kind, data in [self.serde.dumps_typed(value)]
        ]
        if not sent:
            return
        session = self._client.session(thread_id)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        try:
            await session.put_checkpoint_writes(checkpoint_id, namespace=namespace, writes=sent)
        except SessionNotFound:
            # They may come before the thread's first checkpoint.
            with suppress(SessionExists):
                await self._client.create(session_id=thread_id, agent=AGENT)
            await session.put_checkpoint_writes(checkpoint_id, namespace=namespace, writes=sent)

    async def adelete_thread(self, thread_id: str) -> None:
        with suppress(SessionNotFound):
            await self._client.session(thread_id).delete_checkpoints(all=True)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            for thread_id in {found.session_id async for found in self._client.checkpoints(run_id=run_id)}:
                await self._client.session(thread_id).delete_checkpoints(run_id=run_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        source = self._client.session(source_thread_id)
        await source.copy_checkpoints(to=target_thread_id, create_if_missing=CreateIfMissing(agent=AGENT))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread_id in thread_ids:
            which: dict[str, Any] = {"all": True} if strategy == "delete" else {"keep_newest": 1}
            with suppress(SessionNotFound):
                await self._client.session(thread_id).delete_checkpoints(**which)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's own
        return f"{int((current or '0').split('.')[0]) + 1:032}.{uuid4().hex}"

    def _value(self, channel: str, version: str, value: Any) -> CheckpointValue:
        kind, data = self.serde.dumps_typed(value)
        return CheckpointValue(channel=channel, version=version, format=kind, data=data)

    def _tuple(self, found: StoredCheckpoint) -> CheckpointTuple:
        content = self.serde.loads_typed((found.format, found.data))
        values = {
            value.channel: self.serde.loads_typed((value.format, value.data))
            for value in found.values
            if value.HasField("data")
        }
        return CheckpointTuple(
            config=_config(found.session_id, found.namespace, found.checkpoint_id),
            checkpoint=cast("Checkpoint", {**content, "channel_values": values}),
            metadata=json.loads(found.metadata_json),
            parent_config=_config(found.session_id, found.namespace, found.parent_id) if found.parent_id else None,
            pending_writes=[
                (write.task_id, write.channel, self.serde.loads_typed((write.format, write.data)))
                for write in found.writes
            ],
        )


def _place(config: RunnableConfig) -> tuple[str, str]:
    place = config["configurable"]
    return place["thread_id"], place.get("checkpoint_ns", "")


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    place = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    return {"configurable": place}
