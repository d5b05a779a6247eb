//! Messages as proto3 JSON and back, by the descriptors of `protos/`, which `make test` makes first.

use std::fs;

use lockstitch::{Client, Error, Rpc, Session, v1};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::Value;

pub struct ProtoJson(DescriptorPool);

impl ProtoJson {
    pub fn new() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/descriptors.bin");
        let descriptors = fs::read(path).unwrap_or_else(|cause| panic!("{path}: {cause}: run `make test` first"));
        Self(DescriptorPool::decode(descriptors.as_slice()).expect("descriptors"))
    }

    /// A message of that name (within `lockstitch.v1`) from JSON.
    pub fn read<M: Message + Default>(&self, name: &str, value: &Value) -> M {
        let kind = self
            .0
            .get_message_by_name(&format!("lockstitch.v1.{name}"))
            .expect("there is such a message");
        let message =
            DynamicMessage::deserialize(kind, value).unwrap_or_else(|cause| panic!("{name}: {cause}: {value}"));
        message.transcode_to().expect("the stubs are of the same protos")
    }

    pub fn write<M: Message>(&self, name: &str, message: &M) -> Value {
        let kind = self
            .0
            .get_message_by_name(&format!("lockstitch.v1.{name}"))
            .expect("there is such a message");
        let mut dynamic = DynamicMessage::new(kind);
        dynamic
            .transcode_from(message)
            .expect("the stubs are of the same protos");
        dynamic
            .serialize_with_options(serde_json::value::Serializer, &SerializeOptions::new())
            .expect("it has a form in JSON")
    }
}

/// Through what a call goes: a client, or the handle of a run that is held.
pub enum Way<'a> {
    Client(&'a Client),
    Run(&'a Session),
}

impl Way<'_> {
    async fn call<Q: Rpc>(&self, request: Q) -> Result<Q::Answer, Error> {
        match self {
            Self::Client(client) => client.call(request).await,
            Self::Run(run) => run.call(request).await,
        }
    }
}

macro_rules! calls {
    ($($request:ident)*) => {
        /// Calls the method of that name with a request in JSON; its answer in JSON.
        pub async fn call(json: &ProtoJson, way: Way<'_>, method: &str, request: &Value) -> Result<Value, Error> {
            let (asks, answers) = (format!("{method}Request"), format!("{method}Response"));
            $(if stringify!($request) == asks {
                let request: v1::$request = json.read(&asks, request);
                return way.call(request).await.map(|answer| json.write(&answers, &answer));
            })*
            panic!("there is no call {method}");
        }
    };
}

calls! {
    CreateSessionRequest GetSessionRequest ListSessionsRequest UpdateSessionRequest AppendRequest UpdateMemoryRequest
    GetMemoryRequest ListMemoryVersionsRequest UpdateToolCallRequest CompleteToolCallRequest ListToolCallsRequest
    ListMessagesRequest RemoveMessagesRequest UpdateMessageRequest ListCommitsRequest GetContextRequest CloseSessionRequest
    RestoreSessionRequest DeleteSessionRequest UndeleteSessionRequest ForkSessionRequest StartRunRequest RenewRunRequest
    CancelRunRequest FinishRunRequest GetRunRequest ListRunsRequest PutCheckpointRequest PutCheckpointWritesRequest
    GetCheckpointRequest ListCheckpointsRequest CopyCheckpointsRequest DeleteCheckpointsRequest GetServerInfoRequest
    PurgeSessionRequest EraseUserRequest
}
