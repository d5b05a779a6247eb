//! One turn of the conversation that five languages share; `../../README.md` says what an engine does.

use std::collections::BTreeMap;
use std::env;
use std::error::Error as StdError;
use std::fmt::Debug;
use std::process::ExitCode;

use lockstitch::prost_types::Duration;
use lockstitch::v1::part::Content;
use lockstitch::v1::{
    AppendRequest, GetSessionRequest, GetSessionResponse, ListMessagesRequest, Message, Part, Role, StartRunRequest,
    ToolCallStatus,
};
use lockstitch::{Client, Error, HeldRun, call, merge_patch, tool, user};
use serde_json::value::RawValue;

const LANGUAGE: &str = "rust";
const COUNT: &str = "9007199254740993123";

type Failed = Box<dyn StdError>;

/// One turn, as whoever took it left it.
struct Turn {
    number: usize,
    language: String,
}

impl Turn {
    fn messages(&self) -> Vec<Message> {
        let number = self.number;
        let before = number - 1;
        let result = (before > 0).then(|| {
            tool(
                format!("call-{before}"),
                format!(r#"{{"of":{before},"least":-9223372036854775808}}"#),
            )
        });
        let arguments = format!(r#"{{"turn":{number},"big":{COUNT},"nothing":"\u0000","e":1e3}}"#);
        let said = [
            Content::Text(format!("👩🏽‍🚀 turn {number}")),
            Content::Text(String::new()),
            Content::ToolCall(call(self.call_id(), "count", arguments)),
        ];
        let answer = Message {
            role: Role::Assistant.into(),
            author: self.language.clone(),
            parts: said.map(|content| Part { content: Some(content) }).into(),
            ..Message::default()
        };
        let asked = user(format!("Turn {number}: what now?"));
        result.into_iter().chain([asked, answer]).collect()
    }

    fn call_id(&self) -> String {
        format!("call-{}", self.number)
    }

    fn completed(&self) -> String {
        format!("turn {} by {}", self.number, self.language)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match take().await {
        Ok((turn, version)) => {
            println!(r#"{{"turn": {turn}, "language": "{LANGUAGE}", "version": {version}}}"#);
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("{}", what.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

async fn take() -> Result<(usize, i64), Failed> {
    let (session_id, number) = (argument("--session-id")?, argument("--turn")?.parse()?);
    let client = Client::connect(env::var("LOCKSTITCH_TARGET")?, env::var("LOCKSTITCH_TOKEN")?)?;
    client.check_server().await?;
    let start = StartRunRequest {
        worker: LANGUAGE.into(),
        lease: Some(Duration { seconds: 10, nanos: 0 }),
        ..Default::default()
    };
    let session = client.session(&session_id);
    let version = session.run(start, async |run| take_turn(run, number).await).await?;
    Ok((number, version))
}

async fn take_turn(run: &HeldRun, number: usize) -> Result<i64, Failed> {
    let (version, mut turns) = read(run, number - 1).await?;
    turns.push(Turn {
        number,
        language: LANGUAGE.into(),
    });
    let [.., turn] = turns.as_slice() else { unreachable!() };
    let completed: Vec<String> = turns.iter().map(Turn::completed).collect();
    let patch = format!(
        r#"{{"completed":{completed:?},"next_action":"turn {}","count_{number}":{COUNT}}}"#,
        number + 1
    );
    let append = AppendRequest {
        request_id: format!("turn-{number}-{version}"),
        expected_version: Some(version),
        messages: turn.messages(),
        memory_change: Some(merge_patch(patch)),
        ..Default::default()
    };
    let receipt = run.append(append.clone()).await?;
    let again = run.append(append).await?;
    check("replayed", &(receipt.replayed, again.replayed), &(false, true))?;
    let what = |of: &lockstitch::v1::CommitReceipt| (of.version, of.first_seq, of.last_seq);
    check("the receipt of a repeat", &what(&again), &what(&receipt))?;
    let late = AppendRequest {
        expected_version: Some(version),
        messages: vec![user("too late")],
        ..Default::default()
    };
    match run.append(late).await {
        Err(Error::VersionConflict(conflict)) => {
            check("current_version", &conflict.current_version(), &receipt.version)?;
        }
        other => return Err(format!("no conflict but {other:?}").into()),
    }
    follow(run, receipt.version, &turns).await?;
    Ok(receipt.version)
}

/// Reads what the turns before this one left, compares it with what they must have left, and gives them and the version.
async fn read(run: &HeldRun, count: usize) -> Result<(i64, Vec<Turn>), Failed> {
    let request = GetSessionRequest {
        include_memory: true,
        include_open_tool_calls: true,
        ..Default::default()
    };
    let now = run.get(request).await?;
    let mut messages = Vec::new();
    let mut listed = run.messages(ListMessagesRequest::default());
    while let Some(message) = listed.try_next().await? {
        messages.push(message);
    }
    let answers = messages.iter().filter(|message| message.role() == Role::Assistant);
    let languages: Vec<&str> = answers.map(|message| message.author.as_str()).collect();
    check("turns", &languages.len(), &count)?;
    let turns: Vec<Turn> = (1..)
        .zip(languages)
        .map(|(number, language)| Turn {
            number,
            language: language.to_owned(),
        })
        .collect();
    check_messages(&messages, &turns)?;
    check_memory(&now, &turns)?;
    check_open_call(&now, turns.last())?;
    Ok((now.session.unwrap_or_default().version, turns))
}

fn check_memory(now: &GetSessionResponse, turns: &[Turn]) -> Result<(), Failed> {
    let memory = now.memory.clone().unwrap_or_default();
    let completed: Vec<String> = turns.iter().map(Turn::completed).collect();
    check("completed", &memory.completed, &completed)?;
    let next = (!turns.is_empty()).then(|| format!("turn {}", turns.len() + 1));
    check("next_action", &memory.next_action, &next)?;
    let extra: BTreeMap<String, Box<RawValue>> = match memory.extra_json.as_str() {
        "" => BTreeMap::new(),
        text => serde_json::from_str(text)?,
    };
    let found = extra.iter().map(|(key, value)| (key.clone(), value.get())).collect();
    let wanted: BTreeMap<String, &str> = turns
        .iter()
        .map(|turn| (format!("count_{}", turn.number), COUNT))
        .collect();
    check("extra_json", &found, &wanted)
}

fn check_open_call(now: &GetSessionResponse, last: Option<&Turn>) -> Result<(), Failed> {
    let what = |call_id: String, arguments: String, status| (call_id, arguments, status);
    let found: Vec<_> = now
        .open_tool_calls
        .iter()
        .map(|open| what(open.call_id.clone(), open.arguments_json.clone(), open.status()))
        .collect();
    let parts = last
        .into_iter()
        .flat_map(Turn::messages)
        .flat_map(|message| message.parts);
    let wanted: Vec<_> = parts
        .filter_map(|part| match part.content {
            Some(Content::ToolCall(asked)) => Some(what(asked.call_id, asked.arguments_json, ToolCallStatus::Pending)),
            _ => None,
        })
        .collect();
    check("open tool calls", &found, &wanted)
}

/// Follows the session from its beginning up to a version: every commit once, and in them all that the turns left.
async fn follow(run: &HeldRun, version: i64, turns: &[Turn]) -> Result<(), Failed> {
    let mut commits = run.subscribe(0);
    let mut messages = Vec::new();
    for wanted in 1..=version {
        let commit = commits.try_next().await?.ok_or("the subscription ended")?;
        check("a commit's version", &commit.version, &wanted)?;
        messages.extend(commit.messages);
    }
    check_messages(&messages, turns)
}

fn check_messages(messages: &[Message], turns: &[Turn]) -> Result<(), Failed> {
    let what = |seq: i64, message: &Message| {
        let message = message.clone();
        (seq, message.role, message.author, message.call_id, message.parts)
    };
    let found: Vec<_> = messages.iter().map(|message| what(message.seq, message)).collect();
    let left = turns.iter().flat_map(Turn::messages);
    let wanted: Vec<_> = (1..).zip(left).map(|(seq, message)| what(seq, &message)).collect();
    check("messages", &found, &wanted)
}

fn check<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Result<(), Failed> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, not {wanted:?}").into())
    }
}

fn argument(name: &str) -> Result<String, Failed> {
    let mut arguments = env::args().skip_while(|argument| argument != name).skip(1);
    arguments
        .next()
        .ok_or_else(|| "usage: engine --session-id S --turn N".into())
}
