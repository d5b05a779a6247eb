//! The README's first program does what it says, against a real server.

mod support;

use std::env;
use std::process::Command;

use serde_json::json;
use support::testbed::Testbed;

#[tokio::test]
async fn the_first_program_runs() {
    let mut testbed = Testbed::start().await;
    let token = testbed.token(json!({ "tenant": "first-program" })).await;
    // Beside this test's own program, where cargo puts examples when it builds tests.
    let tests = env::current_exe().expect("this program has a path");
    let built = tests.ancestors().nth(2).expect("the folder of what was built");
    let ran = Command::new(built.join("examples/first_program"))
        .env("LOCKSTITCH_TARGET", &testbed.target)
        .env("LOCKSTITCH_TOKEN", token)
        .output()
        .expect("the example was built");
    let told = String::from_utf8(ran.stdout).expect("text");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(told, "conflict: expected 1, is at 3\n1 User\n2 Assistant\n");
}
