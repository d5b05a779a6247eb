//! What a right client does, read from `../testdata/*.json`, which every language's test reads, against real servers.

mod support;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::time::Duration;

use lockstitch::v1::{FinishRunRequest, OnBusy, RunStatus, StartRunRequest, SubscribeRequest};
use lockstitch::{Client, Code, Error, Frame, HeldRun, Items, Token};
use serde_json::{Value, json};
use support::patterns::{Saved, at, filled, misfit};
use support::proto_json::{ProtoJson, Way, call};
use support::testbed::{Testbed, repository};
use tokio::time::{Instant, sleep, timeout};

const FRAME_WITHIN: Duration = Duration::from_secs(30);
const BECOMES_SO_WITHIN: Duration = Duration::from_secs(20);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// How a step ended: with an answer, or an error.
type Outcome = Result<Value, Error>;

struct Case<'a> {
    json: &'a ProtoJson,
    testbed: &'a mut Testbed,
    tenant: String,
    second: String,
    saved: Saved,
    clients: HashMap<(String, String), Client>,
    runs: HashMap<String, HeldRun>,
    subscriptions: HashMap<String, Items<Frame>>,
}

impl Case<'_> {
    async fn run(&mut self, steps: &[Value]) -> Result<(), String> {
        for (number, step) in steps.iter().enumerate() {
            self.step(step)
                .await
                .map_err(|what| format!("step {}: {what}", number + 1))?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Value) -> Result<(), String> {
        if let Some(method) = step["call"].as_str() {
            return self.call(method, step).await;
        }
        if let Some(command) = step["testbed"].as_str() {
            let answer = self.testbed.send(command, &filled(&step["with"], &self.saved)).await?;
            if command == "second_server" {
                let target = answer["target"].as_str().ok_or("a target is text")?;
                target.clone_into(&mut self.second);
            }
            return self.settle(step, "answer", Ok(answer));
        }
        if let Some(name) = step["subscribe"].as_str() {
            let request: SubscribeRequest = self
                .json
                .read("SubscribeRequest", &filled(&step["request"], &self.saved));
            let frames = self
                .client(step)
                .await
                .session(&request.session_id.clone())
                .frames(request);
            self.subscriptions.insert(name.to_owned(), frames);
            return Ok(());
        }
        if let Some(name) = step["next"].as_str() {
            let outcome = timeout(FRAME_WITHIN, self.next(name, step))
                .await
                .map_err(|_| "no such frame came")??;
            return self.settle(step, "frame", outcome);
        }
        if let Some(name) = step["close"].as_str() {
            self.subscriptions.remove(name).ok_or("there is no such subscription")?;
            return Ok(());
        }
        if let Some(name) = step["run"].as_str() {
            let outcome = self.start_run(name, step).await;
            return self.settle(step, "answer", outcome);
        }
        if let Some(name) = step["finish"].as_str() {
            let run = self.runs.get(name).ok_or("there is no such run")?;
            let status = match step["status"].as_str() {
                None | Some("succeeded") => RunStatus::Succeeded,
                Some("failed") => RunStatus::Failed,
                Some("cancelled") => RunStatus::Cancelled,
                Some(other) => return Err(format!("no status {other}")),
            };
            let request = FinishRunRequest {
                status: status.into(),
                ..Default::default()
            };
            let outcome = run
                .finish(request)
                .await
                .map(|answer| self.json.write("FinishRunResponse", &answer));
            return self.settle(step, "answer", outcome);
        }
        if let Some(name) = step["lost"].as_str() {
            let run = self.runs.get(name).ok_or("there is no such run")?;
            let waiting = async {
                while run.loss().is_none() {
                    sleep(LOOK_AGAIN_AFTER).await;
                }
            };
            return timeout(BECOMES_SO_WITHIN, waiting)
                .await
                .map_err(|_| "the run was not lost".to_owned());
        }
        if step["check_server"] == json!(true) {
            let outcome = self.client(step).await.check_server().await;
            if let Some(wanted) = step["error"]["type"].as_str() {
                let error = outcome.err().ok_or("it fits the server")?;
                return if kind(&error) == wanted {
                    Ok(())
                } else {
                    Err(format!("{error:?}"))
                };
            }
            let outcome = outcome.map(|answer| self.json.write("GetServerInfoResponse", &answer));
            return self.settle(step, "answer", outcome);
        }
        Err(format!("a step of no known kind: {step}"))
    }

    async fn call(&mut self, method: &str, step: &Value) -> Result<(), String> {
        let request = filled(&step["request"], &self.saved);
        let start = Instant::now();
        loop {
            let outcome = if let Some(name) = step["under"].as_str() {
                let run = self.runs.get(name).ok_or("there is no such run")?;
                call(self.json, Way::Run(run), method, &request).await
            } else {
                let client = self.client(step).await;
                let client = match step["timeout_ms"].as_u64() {
                    Some(milliseconds) => client.within(Duration::from_millis(milliseconds)),
                    None => client,
                };
                call(self.json, Way::Client(&client), method, &request).await
            };
            let settled = self.settle(step, "answer", outcome);
            if settled.is_ok() || step["until"] != json!(true) || start.elapsed() > BECOMES_SO_WITHIN {
                return settled;
            }
            sleep(LOOK_AGAIN_AFTER).await;
        }
    }

    /// The next frame of the kind that a step wants; its content.
    async fn next(&mut self, name: &str, step: &Value) -> Result<Outcome, String> {
        let frames = self
            .subscriptions
            .get_mut(name)
            .ok_or("there is no such subscription")?;
        loop {
            let frame = match frames.try_next().await {
                Ok(frame) => frame.ok_or("the subscription ended")?,
                Err(error) => return Ok(Err(error)),
            };
            let frame = lockstitch::v1::SubscribeResponse { frame: Some(frame) };
            let written = self.json.write("SubscribeResponse", &frame);
            let (kind, content) = written
                .as_object()
                .and_then(|fields| fields.iter().next())
                .ok_or("an empty frame")?;
            if step["kind"].as_str() == Some(kind) {
                return Ok(Ok(content.clone()));
            }
            if kind == "commit" {
                return Err(format!("a commit came first: {content}"));
            }
        }
    }

    async fn start_run(&mut self, name: &str, step: &Value) -> Outcome {
        let session_id = filled(&step["session_id"], &self.saved);
        let session = self
            .client(step)
            .await
            .session(session_id.as_str().expect("an id is text"));
        let on_busy = match step["on_busy"].as_str() {
            None | Some("reject") => OnBusy::Reject,
            Some("join") => OnBusy::Join,
            Some("interrupt") => OnBusy::Interrupt,
            Some(other) => panic!("no on_busy {other}"),
        };
        let lease = step["lease_ms"]
            .as_u64()
            .map(|milliseconds| Duration::from_millis(milliseconds).try_into().unwrap());
        let worker = step["worker"].as_str().unwrap_or_default().to_owned();
        let start = StartRunRequest {
            worker,
            lease,
            on_busy: on_busy.into(),
            ..Default::default()
        };
        let run = session.start_run(start).await?;
        let answer = json!({ "run": self.json.write("Run", &run.info()) });
        self.runs.insert(name.to_owned(), run);
        Ok(answer)
    }

    /// Compares how a step ended with what it wants, and saves what it wants saved.
    fn settle(&mut self, step: &Value, pattern: &str, outcome: Outcome) -> Result<(), String> {
        let answer = match (outcome, step.get("error")) {
            (Ok(answer), None) => answer,
            (Ok(answer), Some(wanted)) => return Err(format!("no error {wanted} but {answer}")),
            (Err(error), None) => return Err(format!("{error:?}")),
            (Err(error), Some(wanted)) => return fits(&error, &filled(wanted, &self.saved)),
        };
        if let Some(wanted) = step.get(pattern)
            && let Some(what) = misfit(&filled(wanted, &self.saved), &answer)
        {
            return Err(format!("{pattern}{what}"));
        }
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let path = path.as_str().ok_or("a path is text")?;
            self.saved.insert(name.clone(), at(&answer, path));
        }
        Ok(())
    }

    async fn client(&mut self, step: &Value) -> Client {
        let caller = step["as"].as_str().unwrap_or("engine").to_owned();
        let way = step["through"].as_str().unwrap_or("direct").to_owned();
        if let Some(client) = self.clients.get(&(caller.clone(), way.clone())) {
            return client.clone();
        }
        let target = match way.as_str() {
            "direct" => &self.testbed.target,
            "proxy" => &self.testbed.proxy_target,
            "between" => &self.testbed.between_target,
            "second" => &self.second,
            other => panic!("no way {other}"),
        }
        .clone();
        let client = Client::connect(target, self.token(&caller).await).expect("a target");
        self.clients.insert((caller, way), client.clone());
        client
    }

    async fn token(&mut self, caller: &str) -> Token {
        let (role, user) = match caller {
            "nobody" => return Token::none(),
            "forged" => return Token::from("forged"),
            "engine" | "expired" => ("engine", "engine-1"),
            "admin" => ("admin", "admin-1"),
            other => ("user", other.strip_prefix("user:").expect("a caller")),
        };
        let ttl_seconds = if caller == "expired" { -60 } else { 3600 };
        let asked = json!({ "tenant": self.tenant, "user": user, "role": role, "ttl_seconds": ttl_seconds });
        self.testbed.token(asked).await.into()
    }
}

/// The name of an error's variant.
fn kind(error: &Error) -> String {
    format!("{error:?}").split('(').next().unwrap_or_default().to_owned()
}

/// The variant that a failure of this reason and code is.
fn kind_of(reason: &str, code: &str) -> String {
    if reason == "TOOL_CALL_STATUS" {
        return "ToolCallStatusRefused".to_owned();
    }
    let is_known = lockstitch::v1::ErrorReason::from_str_name(&format!("ERROR_REASON_{reason}")).is_some();
    let words = match code {
        _ if is_known => reason,
        "UNAVAILABLE" | "DEADLINE_EXCEEDED" => code,
        _ => "OTHER",
    };
    let letters = words.split('_').flat_map(|word| {
        let (first, rest) = word.split_at(1);
        first
            .chars()
            .chain(rest.chars().map(|letter| letter.to_ascii_lowercase()))
    });
    letters.collect()
}

fn code_name(code: Code) -> String {
    // Its debug form is CamelCase: FailedPrecondition.
    let camel = format!("{code:?}");
    let broken = camel.char_indices().flat_map(|(index, letter)| {
        let gap = (index > 0 && letter.is_uppercase()).then_some('_');
        gap.into_iter().chain(letter.to_uppercase())
    });
    broken.collect()
}

fn fits(error: &Error, wanted: &Value) -> Result<(), String> {
    let failure = error.failure();
    let fields: Vec<&str> = failure
        .field_violations
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    let told = json!({
        "code": code_name(failure.code),
        "reason": failure.reason,
        "metadata": failure.metadata,
        "fields": fields,
        "retry_after_ms": failure.retry_after.map(|after| u64::try_from(after.as_millis()).unwrap()),
        "request_id": failure.request_id,
    });
    if let Some(what) = misfit(wanted, &told) {
        return Err(format!("error{what}: {failure:?}"));
    }
    let (reason, code) = (
        wanted["reason"].as_str().unwrap_or_default(),
        wanted["code"].as_str().unwrap_or_default(),
    );
    let variant = kind_of(reason, code);
    if kind(error) == variant {
        Ok(())
    } else {
        Err(format!("not a {variant} but {error:?}"))
    }
}

async fn failures_of(json: &ProtoJson, testbed: &mut Testbed, file: &str, vectors: &Value) -> Vec<String> {
    let mut failures = Vec::new();
    for (number, case) in vectors["cases"].as_array().expect("cases").iter().enumerate() {
        let name = case["name"].as_str().expect("a case has a name");
        let mut running = Case {
            json,
            testbed,
            tenant: format!("rust-{file}-{number}"),
            second: String::new(),
            saved: Saved::new(),
            clients: HashMap::new(),
            runs: HashMap::new(),
            subscriptions: HashMap::new(),
        };
        if let Err(what) = running.run(case["steps"].as_array().expect("steps")).await {
            failures.push(format!("{file}: {name}: {what}"));
        }
        drop(running);
        for command in ["forgive", "restore", "forget_calls"] {
            testbed
                .send(command, &json!({}))
                .await
                .expect("the testbed is put right again");
        }
    }
    failures
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_client_does_what_the_vectors_say() {
    let only = std::env::var("VECTORS").unwrap_or_default();
    let files: BTreeMap<String, Value> = fs::read_dir(repository().join("client/testdata"))
        .expect("vectors")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            let name = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .expect("a name")
                .to_owned();
            (name, serde_json::from_str(&text).expect("JSON"))
        })
        .filter(|(name, _)| only.is_empty() || only == *name)
        .collect();
    assert!(!files.is_empty());
    let (json, mut testbed) = (ProtoJson::new(), Testbed::start().await);
    let mut failures = Vec::new();
    for (file, vectors) in &files {
        failures.extend(failures_of(&json, &mut testbed, file, vectors).await);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
