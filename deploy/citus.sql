-- Spreads the store over the nodes of a Citus cluster: a session's rows lie together, on the node of its session_key. Run once on
-- the coordinator, as the owner, after `lockstitch-server migrate` on an empty database. The tests check that every table
-- of sessions is named here; they do not run it, since no registry has Citus.
--
-- Serve it with LOCKSTITCH_GROUP_COMMIT=false: commit_batch_v1 is for one node.
--
-- `store` and `migrations` stay on the coordinator. What is over sessions (list_sessions_v1, session_versions_v1, sessions_to_sweep_v1,
-- sessions_of_user_v1, count_sessions_of_user_v1, count_sessions_v1, add_draft_steps_v1, renew_runs_v1, list_checkpoint_places_v1, checkpoints_by_place_v1,
-- copy_checkpoints_v1, fork_session_v1, forks_of_erasure_v1) runs there, and asks the nodes that it needs.

select create_distributed_table('lockstitch.sessions', 'session_key');
select create_distributed_table('lockstitch.session_details', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.session_details_history', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.session_labels', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.commits', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.messages', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.messages_history', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.memory', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.memory_history', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.tool_calls', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.tool_calls_history', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.checkpoints', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.checkpoint_values', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.checkpoint_writes', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.runs', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.run_leases', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.sweeps', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.drafts', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.draft_steps', 'session_key', colocate_with => 'lockstitch.sessions');
select create_distributed_table('lockstitch.purged_sessions', 'session_key', colocate_with => 'lockstitch.sessions');

-- What a call runs goes to the node of its session.
select create_distributed_function(p.oid::regprocedure, 'p_session_key', colocate_with => 'lockstitch.sessions')
from pg_proc p
where p.pronamespace = 'lockstitch'::regnamespace
    and p.proname in (
        'change_run_v1',
        'commit_v1',
        'delete_checkpoints_v1',
        'get_checkpoint_v1',
        'get_draft_v1',
        'get_session_at_v1',
        'get_session_v1',
        'list_commits_v1',
        'list_drafts_v1',
        'list_memory_versions_v1',
        'list_messages_v1',
        'list_messages_with_removed_v1',
        'list_runs_v1',
        'list_tool_calls_v1',
        'memory_at_v1',
        'memory_keys_v1',
        'messages_of_commits_v1',
        'open_draft_v1',
        'purge_session_v1',
        'put_checkpoint_v1',
        'put_checkpoint_writes_v1',
        'put_off_sweep_v1',
        'remove_messages_v1',
        'removed_messages_v1',
        'run_memory_v1',
        'runs_by_id_v1',
        'session_at_v1',
        'set_status_v1',
        'start_run_v1',
        'sweep_session_v1',
        'tool_calls_at_v1',
        'touch_session_v1',
        'update_message_v1',
        'update_session_v1'
    );

-- What those call is there on every node.
select create_distributed_function(p.oid::regprocedure)
from pg_proc p
where p.pronamespace = 'lockstitch'::regnamespace
    and p.proname in (
        'add_checkpoint_writes_v1',
        'begin_change_v1',
        'begin_or_create_v1',
        'change_refusal_v1',
        'checkpoint_rows_v1',
        'commit_details_v1',
        'copy_refusal_v1',
        'creation_refusal_v1',
        'draft_end_v1',
        'draft_step_time_v1',
        'drop_unshared_values_v1',
        'end_run_v1',
        'erase_messages_v1',
        'fence_refusal_v1',
        'fork_made_v1',
        'incomplete_message_v1',
        'keep_tool_calls_v1',
        'lock_lease_v1',
        'lose_drafts_v1',
        'message_at_v1',
        'minute_v1',
        'new_session_v1',
        'plan_ledger_v1',
        'plan_memory_v1',
        'purge_v1',
        'reaches_v1',
        'run_is_live_v1',
        'run_rows_v1',
        'server_request_v1',
        'session_expired_v1',
        'session_shown_v1',
        'session_status_v1',
        'sweep_by_v1',
        'take_messages_v1',
        'taken_message_id_v1',
        'tool_calls_with_bodies_v1',
        'varint_v1',
        'visible_session_v1',
        'whole_versions_v1',
        'write_commit_v1',
        'write_first_details_v1',
        'write_ledger_v1',
        'write_memory_v1'
    );
