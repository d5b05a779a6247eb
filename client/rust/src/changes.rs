//! What can be changed about a session: each change notes how far its handle has seen.

use crate::error::Error;
use crate::session::Session;
use crate::v1;

impl Session {
    /// Stores what a turn brought, in one commit: all of it or nothing.
    ///
    /// ```no_run
    /// # use lockstitch::{Error, Session, user, v1::AppendRequest};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let messages = vec![user("hello")];
    /// let expected_version = Some(session.version());
    /// session.append(AppendRequest { messages, expected_version, ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    pub async fn append(&self, request: v1::AppendRequest) -> Result<v1::CommitReceipt, Error> {
        let (expected, expected_memory) = (request.expected_version, request.expected_memory_version);
        let receipt = self.call(request).await?.receipt.unwrap_or_default();
        self.made(Some(&receipt), expected, expected_memory);
        Ok(receipt)
    }

    /// Changes working memory and gives it as it is then.
    pub async fn update_memory(&self, request: v1::UpdateMemoryRequest) -> Result<v1::UpdateMemoryResponse, Error> {
        let (expected, expected_memory) = (request.expected_version, request.expected_memory_version);
        let is_the_sessions = request.run_id.is_empty();
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, expected_memory);
        if is_the_sessions {
            self.saw_memory(answer.memory.as_ref());
        }
        Ok(answer)
    }

    /// Changes what is said about the session: the fields that the mask names.
    pub async fn update(&self, mut request: v1::UpdateSessionRequest) -> Result<v1::UpdateSessionResponse, Error> {
        let session = request.session.get_or_insert_default();
        if session.session_id.is_empty() {
            self.session_id().clone_into(&mut session.session_id);
        }
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        self.note(answer.session.as_ref());
        Ok(answer)
    }

    /// Says where a tool call stands: before it acts, say, that it is RUNNING.
    pub async fn update_tool_call(
        &self,
        request: v1::UpdateToolCallRequest,
    ) -> Result<v1::UpdateToolCallResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        Ok(answer)
    }

    /// Ends a tool call: writes its TOOL message and the ledger together.
    pub async fn complete_tool_call(
        &self,
        request: v1::CompleteToolCallRequest,
    ) -> Result<v1::CompleteToolCallResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        Ok(answer)
    }

    /// Changes one message.
    pub async fn update_message(&self, request: v1::UpdateMessageRequest) -> Result<v1::UpdateMessageResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        Ok(answer)
    }

    /// Takes messages back from the end, and gives them.
    pub async fn remove_messages(
        &self,
        request: v1::RemoveMessagesRequest,
    ) -> Result<v1::RemoveMessagesResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        Ok(answer)
    }

    /// Puts a checkpoint: an opaque blob that whoever goes on finds as the latest.
    pub async fn put_checkpoint(&self, request: v1::PutCheckpointRequest) -> Result<v1::CommitReceipt, Error> {
        let expected = request.expected_version;
        let receipt = self.call(request).await?.receipt.unwrap_or_default();
        self.made(Some(&receipt), expected, None);
        Ok(receipt)
    }

    /// Closes the session: it takes no more until it is restored.
    pub async fn close(&self, request: v1::CloseSessionRequest) -> Result<v1::CloseSessionResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        self.note(answer.session.as_ref());
        Ok(answer)
    }

    /// Makes a closed or expired session take changes again.
    pub async fn restore(&self, request: v1::RestoreSessionRequest) -> Result<v1::RestoreSessionResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        self.note(answer.session.as_ref());
        Ok(answer)
    }

    /// Deletes the session; it can be undeleted until its `purge_time`.
    pub async fn delete(&self, request: v1::DeleteSessionRequest) -> Result<v1::DeleteSessionResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        self.note(answer.session.as_ref());
        Ok(answer)
    }

    /// Takes a deletion back.
    pub async fn undelete(&self, request: v1::UndeleteSessionRequest) -> Result<v1::UndeleteSessionResponse, Error> {
        let expected = request.expected_version;
        let answer = self.call(request).await?;
        self.made(answer.receipt.as_ref(), expected, None);
        self.note(answer.session.as_ref());
        Ok(answer)
    }

    /// Makes a new session that begins with what this one holds, and gives its handle.
    pub async fn fork(&self, request: v1::ForkSessionRequest) -> Result<Session, Error> {
        let answer = self.call(request).await?;
        let made = answer.session.unwrap_or_default();
        let fork = self.another(&made.session_id);
        fork.made(answer.receipt.as_ref(), None, None);
        fork.note(Some(&made));
        Ok(fork)
    }
}
