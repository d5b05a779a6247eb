//! What comes one after the other: commits of a session, items of a list.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::stream;

use crate::error::Error;

/// Items as they come; a [`Stream`] too. After an error nothing follows. Drop it to end it.
pub struct Items<T>(Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>);

impl<T: Send + 'static> Items<T> {
    /// The next item; none where all were given.
    pub async fn try_next(&mut self) -> Result<Option<T>, Error> {
        poll_fn(|context| self.0.as_mut().poll_next(context)).await.transpose()
    }

    /// Each item that a source gives until it has none or fails.
    pub(crate) fn from_source<S, F>(source: S, next: impl Fn(S) -> F + Send + 'static) -> Self
    where
        S: Send + 'static,
        F: Future<Output = Result<Option<(T, S)>, Error>> + Send + 'static,
    {
        Self(Box::pin(stream::try_unfold(source, next)))
    }

    /// The items of a list's pages, each fetched when the one before it was given.
    pub(crate) fn of_pages<F>(fetch: impl Fn(String) -> F + Send + Sync + Clone + 'static) -> Self
    where
        F: Future<Output = Result<(Vec<T>, String), Error>> + Send + 'static,
    {
        let start = (Vec::new().into_iter(), Some(String::new()));
        Self::from_source(
            start,
            move |(mut page, mut token): (std::vec::IntoIter<T>, Option<String>)| {
                let fetch = fetch.clone();
                async move {
                    loop {
                        if let Some(item) = page.next() {
                            return Ok(Some((item, (page, token))));
                        }
                        let Some(asked) = token else { return Ok(None) };
                        let (items, further) = fetch(asked).await?;
                        page = items.into_iter();
                        token = Some(further).filter(|further| !further.is_empty());
                    }
                }
            },
        )
    }
}

impl<T> Stream for Items<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Items")
    }
}
