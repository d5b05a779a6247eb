//! The calls there are: of each its path, its answer, and which of the fields that a client fills in it has.

use prost::Message;

use crate::v1;

/// A request, which knows its call: what [`crate::Client::call`] takes.
pub trait Rpc: Message + Clone + Default + 'static {
    /// What the call answers; of a stream, each of its messages.
    type Answer: Message + Default + 'static;
    /// The call's path on the wire.
    const PATH: &'static str;

    /// The id of the change, where it is one.
    fn request_id(&mut self) -> Option<&mut String> {
        None
    }

    /// Of which session it is.
    fn session_id(&mut self) -> Option<&mut String> {
        None
    }

    /// The run that it is made under.
    fn fence(&mut self) -> Option<&mut Option<v1::Fence>> {
        None
    }

    /// Whether it ends the run that it is made under.
    fn finishes(&self) -> bool {
        false
    }
}

macro_rules! rpcs {
    ($($service:literal: $($method:literal $request:ident -> $answer:ident [$($field:ident)*])*;)*) => {$($(
        impl Rpc for v1::$request {
            type Answer = v1::$answer;
            const PATH: &'static str = concat!("/lockstitch.v1.", $service, "/", $method);
            $(rpcs!(@ $field);)*
        }
    )*)*};
    (@ request_id) => {
        fn request_id(&mut self) -> Option<&mut String> {
            Some(&mut self.request_id)
        }
    };
    (@ session_id) => {
        fn session_id(&mut self) -> Option<&mut String> {
            Some(&mut self.session_id)
        }
    };
    (@ fence) => {
        fn fence(&mut self) -> Option<&mut Option<v1::Fence>> {
            Some(&mut self.fence)
        }
    };
    (@ finish_run) => {
        fn finishes(&self) -> bool {
            self.finish_run.is_some()
        }
    };
    (@ finishes) => {
        fn finishes(&self) -> bool {
            true
        }
    };
}

rpcs! {
    "SessionService":
        "CreateSession" CreateSessionRequest -> CreateSessionResponse [request_id]
        "GetSession" GetSessionRequest -> GetSessionResponse [session_id]
        "ListSessions" ListSessionsRequest -> ListSessionsResponse []
        "UpdateSession" UpdateSessionRequest -> UpdateSessionResponse [request_id fence]
        "Append" AppendRequest -> AppendResponse [request_id session_id fence finish_run]
        "UpdateMemory" UpdateMemoryRequest -> UpdateMemoryResponse [request_id session_id fence]
        "GetMemory" GetMemoryRequest -> GetMemoryResponse [session_id]
        "ListMemoryVersions" ListMemoryVersionsRequest -> ListMemoryVersionsResponse [session_id]
        "UpdateToolCall" UpdateToolCallRequest -> UpdateToolCallResponse [request_id session_id fence]
        "CompleteToolCall" CompleteToolCallRequest -> CompleteToolCallResponse [request_id session_id fence]
        "ListToolCalls" ListToolCallsRequest -> ListToolCallsResponse [session_id]
        "ListMessages" ListMessagesRequest -> ListMessagesResponse [session_id]
        "RemoveMessages" RemoveMessagesRequest -> RemoveMessagesResponse [request_id session_id fence]
        "UpdateMessage" UpdateMessageRequest -> UpdateMessageResponse [request_id session_id fence]
        "ListCommits" ListCommitsRequest -> ListCommitsResponse [session_id]
        "Subscribe" SubscribeRequest -> SubscribeResponse [session_id]
        "GetContext" GetContextRequest -> GetContextResponse [session_id]
        "CloseSession" CloseSessionRequest -> CloseSessionResponse [request_id session_id]
        "RestoreSession" RestoreSessionRequest -> RestoreSessionResponse [request_id session_id]
        "DeleteSession" DeleteSessionRequest -> DeleteSessionResponse [request_id session_id]
        "UndeleteSession" UndeleteSessionRequest -> UndeleteSessionResponse [request_id session_id]
        "ForkSession" ForkSessionRequest -> ForkSessionResponse [request_id session_id];
    "RunService":
        "StartRun" StartRunRequest -> StartRunResponse [request_id session_id]
        "RenewRun" RenewRunRequest -> RenewRunResponse [session_id fence]
        "CancelRun" CancelRunRequest -> CancelRunResponse [request_id session_id]
        "FinishRun" FinishRunRequest -> FinishRunResponse [request_id session_id fence finishes]
        "GetRun" GetRunRequest -> GetRunResponse [session_id]
        "ListRuns" ListRunsRequest -> ListRunsResponse [session_id];
    "CheckpointService":
        "PutCheckpoint" PutCheckpointRequest -> PutCheckpointResponse [request_id session_id fence]
        "PutCheckpointWrites" PutCheckpointWritesRequest -> PutCheckpointWritesResponse [session_id fence]
        "GetCheckpoint" GetCheckpointRequest -> GetCheckpointResponse [session_id]
        "ListCheckpoints" ListCheckpointsRequest -> ListCheckpointsResponse [session_id]
        "CopyCheckpoints" CopyCheckpointsRequest -> CopyCheckpointsResponse [request_id session_id]
        "DeleteCheckpoints" DeleteCheckpointsRequest -> DeleteCheckpointsResponse [request_id session_id fence];
    "AdminService":
        "GetServerInfo" GetServerInfoRequest -> GetServerInfoResponse []
        "PurgeSession" PurgeSessionRequest -> PurgeSessionResponse [request_id session_id]
        "EraseUser" EraseUserRequest -> EraseUserResponse [request_id];
}
