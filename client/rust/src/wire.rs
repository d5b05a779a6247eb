//! What a session holds, made from what a program has.

use std::time::Duration;

use crate::v1::part::Content;
use crate::v1::tool_result_part::Output;
use crate::v1::{MemoryChange, Message, Part, Role, RunEnd, RunStatus, ToolCallPart, ToolResultPart, memory_change};

/// What the person said.
#[must_use]
pub fn user(text: impl Into<String>) -> Message {
    said(Role::User, text)
}

/// What the model said.
#[must_use]
pub fn assistant(text: impl Into<String>) -> Message {
    said(Role::Assistant, text)
}

/// Instructions of the application to the model.
#[must_use]
pub fn system(text: impl Into<String>) -> Message {
    said(Role::System, text)
}

/// What the model asks tools for; its calls enter the session's ledger with it.
///
/// ```
/// let message = lockstitch::calling([lockstitch::call("c1", "weather", r#"{"city":"Oslo"}"#)]);
/// ```
#[must_use]
pub fn calling(calls: impl IntoIterator<Item = ToolCallPart>) -> Message {
    let parts = calls
        .into_iter()
        .map(|call| Part {
            content: Some(Content::ToolCall(call)),
        })
        .collect();
    Message {
        role: Role::Assistant.into(),
        parts,
        ..Message::default()
    }
}

/// A tool call; its arguments are JSON text, which is kept byte for byte.
#[must_use]
pub fn call(call_id: impl Into<String>, name: impl Into<String>, arguments_json: impl Into<String>) -> ToolCallPart {
    ToolCallPart {
        call_id: call_id.into(),
        name: name.into(),
        arguments_json: arguments_json.into(),
    }
}

/// What a tool gave back, as JSON text, which is kept byte for byte. It ends its call in the ledger.
#[must_use]
pub fn tool(call_id: impl Into<String>, result_json: impl Into<String>) -> Message {
    let call_id = call_id.into();
    let output = Some(Output::Json(result_json.into()));
    let result = ToolResultPart {
        call_id: call_id.clone(),
        output,
        ..ToolResultPart::default()
    };
    let parts = vec![Part {
        content: Some(Content::ToolResult(result)),
    }];
    Message {
        role: Role::Tool.into(),
        call_id,
        parts,
        ..Message::default()
    }
}

/// A change of working memory by JSON merge patch: what it names is set, what it gives as null goes, the rest stays.
///
/// ```
/// let change = lockstitch::merge_patch(r#"{"next_action":"run the tests"}"#);
/// ```
#[must_use]
pub fn merge_patch(patch_json: impl Into<String>) -> MemoryChange {
    MemoryChange {
        change: Some(memory_change::Change::MergePatchJson(patch_json.into())),
    }
}

/// That the run ends well in the same commit: `AppendRequest { finish_run: Some(run_end()), .. }`.
#[must_use]
pub fn run_end() -> RunEnd {
    RunEnd {
        status: RunStatus::Succeeded.into(),
        error: String::new(),
    }
}

fn said(role: Role, text: impl Into<String>) -> Message {
    let parts = vec![Part {
        content: Some(Content::Text(text.into())),
    }];
    Message {
        role: role.into(),
        parts,
        ..Message::default()
    }
}

/// A length of time as the wire has it; what is longer than 292 million years is as long as that.
pub(crate) fn duration(length: Duration) -> prost_types::Duration {
    length.try_into().unwrap_or(prost_types::Duration {
        seconds: i64::MAX,
        nanos: 0,
    })
}
