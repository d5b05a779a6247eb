//! The testbed: real servers, and networks that fail when they are told to (`../testdata/README.md`).

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub struct Testbed {
    // Kept for as long as it runs; it ends when its input is closed.
    _process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    pub target: String,
    pub proxy_target: String,
    pub between_target: String,
}

impl Testbed {
    pub async fn start() -> Self {
        let root = repository();
        let command = env::var("LOCKSTITCH_TESTBED")
            .unwrap_or_else(|_| format!("{0}/.venv/bin/python {0}/client/testdata/testbed.py", root.display()));
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the testbed starts: `make setup` makes its Python");
        let input = process.stdin.take().expect("its input is a pipe");
        let mut output = BufReader::new(process.stdout.take().expect("its output is a pipe")).lines();
        let line = output
            .next_line()
            .await
            .expect("it can be read")
            .expect("it says where it is");
        let targets: Value = serde_json::from_str(&line).expect("its first line is JSON");
        let target = |key: &str| targets[key].as_str().expect("a target is text").to_owned();
        Self {
            _process: process,
            input,
            output,
            target: target("target"),
            proxy_target: target("proxy_target"),
            between_target: target("between_target"),
        }
    }

    /// Sends a command, and gives its answer or why it failed.
    pub async fn send(&mut self, command: &str, keywords: &Value) -> Result<Value, String> {
        let mut asked = json!({ "command": command });
        for (key, value) in keywords.as_object().into_iter().flatten() {
            asked[key] = value.clone();
        }
        self.input
            .write_all(format!("{asked}\n").as_bytes())
            .await
            .map_err(|cause| cause.to_string())?;
        let line = self.output.next_line().await.map_err(|cause| cause.to_string())?;
        let answer: Value =
            serde_json::from_str(&line.ok_or("the testbed ended")?).map_err(|cause| cause.to_string())?;
        if answer["ok"] == json!(true) {
            Ok(answer)
        } else {
            Err(format!("{command}: {}", answer["error"]))
        }
    }

    pub async fn token(&mut self, keywords: Value) -> String {
        let answer = self.send("token", &keywords).await.expect("it signs a token");
        answer["token"].as_str().expect("a token is text").to_owned()
    }
}

/// The folder that has `protos/`, above this crate's.
pub fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .find(|folder| folder.join("protos").is_dir())
        .expect("within the repository")
        .to_owned()
}
