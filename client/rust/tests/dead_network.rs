//! A network that dies without a word.

mod support;

use std::time::Duration;

use lockstitch::v1::{AppendRequest, CreateSessionRequest};
use lockstitch::{Client, user};
use serde_json::json;
use support::testbed::Testbed;

#[tokio::test]
async fn a_call_that_waits_on_a_dead_connection_is_made_again_on_a_new_one() {
    let mut testbed = Testbed::start().await;
    let token = testbed.token(json!({ "tenant": "dead-network" })).await;
    let client = Client::connect(testbed.proxy_target.clone(), token).expect("a target");
    let session = client.create(CreateSessionRequest::default()).await.expect("a session");
    testbed
        .send("freeze", &json!({}))
        .await
        .expect("it freezes the connection");
    // More than it takes, so that a slow machine is no failure; without a new connection it would be no less in vain.
    let patient = session.within(Duration::from_secs(60));
    let messages = vec![user("Is anybody there?")];
    let append = AppendRequest {
        messages,
        ..Default::default()
    };
    let receipt = patient.append(append).await.expect("it is made");
    assert_eq!(receipt.version, 2);
}
