//! The first program of the README.

use lockstitch::v1::{AppendRequest, CreateSessionRequest, ListMessagesRequest, UpdateMemoryRequest};
use lockstitch::{Client, Error, assistant, merge_patch, user};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::connect(std::env::var("LOCKSTITCH_TARGET")?, std::env::var("LOCKSTITCH_TOKEN")?)?;
    let session = client
        .create(CreateSessionRequest {
            user_id: "u1".into(),
            ..Default::default()
        })
        .await?;

    let messages = vec![user("Where were we?"), assistant("At the tests.")];
    session
        .append(AppendRequest {
            messages,
            ..Default::default()
        })
        .await?;
    let change = Some(merge_patch(r#"{"next_action":"run the tests"}"#));
    session
        .update_memory(UpdateMemoryRequest {
            change,
            ..Default::default()
        })
        .await?;

    // Only if nobody wrote since we looked: the version says how far this handle has seen.
    let late = AppendRequest {
        messages: vec![user("Hello?")],
        expected_version: Some(1),
        ..Default::default()
    };
    if let Err(Error::VersionConflict(conflict)) = session.append(late).await {
        println!(
            "conflict: expected {}, is at {}",
            conflict.expected_version(),
            conflict.current_version()
        );
    }

    let mut messages = session.messages(ListMessagesRequest::default());
    while let Some(message) = messages.try_next().await? {
        println!("{} {:?}", message.seq, message.role());
    }
    Ok(())
}
