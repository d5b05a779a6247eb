-- The statements about checkpoints.

-- name: put_checkpoint
-- Puts a checkpoint.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject, $9 principal_role,
--     $10 traceparent, $11 expected_version, $12 run_id, $13 fencing_token, $14 create, $15 user, $16 agent, $17 namespace,
--     $18 checkpoint_id, $19 parent_id, $20 checkpoint_run_id, $21 format, $22 metadata, $23 data, $24 channels, $25 versions,
--     $26 value_formats, $27 values, $28 task_ids, $29 task_paths, $30 indexes, $31 write_channels, $32 write_formats,
--     $33 writes, $34 bytes_max
select *
from lockstitch.put_checkpoint_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
    $27, $28, $29, $30, $31, $32, $33, $34
)

-- name: put_checkpoint_writes
-- Puts pending writes of a checkpoint.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 run_id, $6 fencing_token, $7 namespace, $8 checkpoint_id,
--     $9 task_ids, $10 task_paths, $11 indexes, $12 channels, $13 formats, $14 writes
select *
from lockstitch.put_checkpoint_writes_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: delete_checkpoints
-- Deletes checkpoints.
-- $1 to $10 as for put_checkpoint, $11 expected_version, $12 run_id, $13 fencing_token, $14 all, $15 of_run, $16 keep
select *
from lockstitch.delete_checkpoints_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: copy_checkpoints
-- Copies checkpoints to another session.
-- $1 to $10 as for put_checkpoint, $11 expected_version, $12 source_key, $13 source_id, $14 create, $15 user, $16 agent
select *
from lockstitch.copy_checkpoints_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: get_checkpoint
-- A checkpoint, or its ancestors; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 namespace, $6 checkpoint_id, $7 after_path, $8 after_task,
--     $9 after_index, $10 ancestors, $11 ancestor_id, $12 bytes_max
select *
from lockstitch.get_checkpoint_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: list_checkpoint_places
-- Where checkpoints stand; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 namespace, $6 run_id, $7 before, $8 cursor_id, $9 cursor_key,
--     $10 cursor_namespace, $11 limit, $12 scan, $13 metadata_max
select *
from lockstitch.list_checkpoint_places_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: checkpoints_by_place
-- Checkpoints by their places.
-- $1 tenant, $2 session_keys, $3 namespaces, $4 ids, $5 bytes_max
select *
from lockstitch.checkpoints_by_place_v1($1, $2, $3, $4, $5)
