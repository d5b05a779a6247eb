//! Many tasks over two clients and two servers.

mod support;

use std::collections::BTreeSet;

use lockstitch::v1::part::Content;
use lockstitch::v1::{AppendRequest, CreateSessionRequest, ListMessagesRequest, Message};
use lockstitch::{Client, Error, Session, user};
use serde_json::json;
use support::testbed::Testbed;
use tokio::task::JoinSet;

const WRITERS_EACH: usize = 4;
const APPENDS_EACH: usize = 10;
const APPENDS: usize = 2 * WRITERS_EACH * APPENDS_EACH;
const ROUNDS: usize = 10;

/// A new session by a way of the testbed's, and the same session by a second server.
async fn sessions(testbed: &mut Testbed, tenant: &str, way: &str) -> [Session; 2] {
    let token = testbed.token(json!({ "tenant": tenant })).await;
    let second = testbed
        .send("second_server", &json!({}))
        .await
        .expect("a second server");
    let far = Client::connect(second["target"].as_str().expect("text"), token.as_str()).expect("a target");
    let near = Client::connect(way, token).expect("a target");
    let session = near.create(CreateSessionRequest::default()).await.expect("a session");
    let other = far.session(session.session_id());
    [session, other]
}

fn append(text: String) -> AppendRequest {
    AppendRequest {
        messages: vec![user(text)],
        ..Default::default()
    }
}

fn text_of(message: &Message) -> String {
    match message.parts.first().and_then(|part| part.content.as_ref()) {
        Some(Content::Text(text)) => text.clone(),
        other => panic!("no text but {other:?}"),
    }
}

async fn texts(session: &Session) -> Vec<String> {
    let mut messages = session.messages(ListMessagesRequest::default());
    let mut texts = Vec::new();
    while let Some(message) = messages.try_next().await.expect("a page") {
        texts.push(text_of(&message));
    }
    texts
}

/// Reads a session's commits until so many messages came, and breaks the network meanwhile.
async fn follow(session: &Session, testbed: &mut Testbed) -> Vec<String> {
    let mut commits = session.subscribe(0);
    let mut texts = Vec::new();
    for version in 1.. {
        let commit = commits.try_next().await.expect("a commit").expect("no end");
        assert_eq!(commit.version, version);
        texts.extend(commit.messages.iter().map(text_of));
        if texts.len() >= APPENDS {
            break;
        }
        if version % 6 == 0 {
            let breaks = if version % 12 == 0 { "cut" } else { "lose_next_reply" };
            testbed.send(breaks, &json!({})).await.expect("it breaks the network");
        }
    }
    texts
}

async fn writers_over_a_bad_network_lose_nothing_and_store_nothing_twice(testbed: &mut Testbed) {
    let way = testbed.proxy_target.clone();
    let sessions = sessions(testbed, "concurrency-writers", &way).await;
    let mut writing = JoinSet::new();
    let mut wanted = BTreeSet::new();
    for writer in 0..2 * WRITERS_EACH {
        let session = sessions[writer % 2].clone();
        wanted.extend((0..APPENDS_EACH).map(|place| format!("{writer}.{place}")));
        writing.spawn(async move {
            for place in 0..APPENDS_EACH {
                session.append(append(format!("{writer}.{place}"))).await?;
            }
            Ok::<(), Error>(())
        });
    }
    let followed = follow(&sessions[0], testbed).await;
    for written in writing.join_all().await {
        written.expect("every append is made");
    }
    testbed.send("restore", &json!({})).await.expect("a good network");
    let stored = texts(&sessions[1]).await;
    assert_eq!(followed, stored);
    assert_eq!(stored.len(), APPENDS);
    assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), wanted);
}

async fn of_writers_that_expect_the_same_version_one_wins(testbed: &mut Testbed) {
    let way = testbed.target.clone();
    let sessions = sessions(testbed, "concurrency-versions", &way).await;
    for version in (1..).take(ROUNDS) {
        let mut writing = JoinSet::new();
        for writer in 0..2 * WRITERS_EACH {
            let session = sessions[writer % 2].clone();
            let expected_version = Some(version);
            writing.spawn(async move {
                let request = append(format!("{version}.{writer}"));
                session
                    .append(AppendRequest {
                        expected_version,
                        ..request
                    })
                    .await
            });
        }
        let outcomes = writing.join_all().await;
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{outcomes:?}");
        for outcome in outcomes {
            match outcome {
                Ok(receipt) => assert_eq!(receipt.version, version + 1),
                Err(Error::VersionConflict(conflict)) => assert_eq!(conflict.current_version(), version + 1),
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(texts(&sessions[0]).await.len(), ROUNDS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_over_two_servers_lose_nothing_and_one_wins() {
    // One testbed for both: to start two at once is much for a small machine.
    let mut testbed = Testbed::start().await;
    writers_over_a_bad_network_lose_nothing_and_store_nothing_twice(&mut testbed).await;
    of_writers_that_expect_the_same_version_one_wins(&mut testbed).await;
}
