//! Who calls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tonic::Code;
use tonic::metadata::{Ascii, MetadataValue};

use crate::error::{Error, Failure};

type Giving = dyn Fn() -> Pin<Box<dyn Future<Output = Result<String, Error>> + Send>> + Send + Sync;

/// A token, or what gives one.
#[derive(Clone)]
pub struct Token(Kind);

#[derive(Clone)]
enum Kind {
    Nobody,
    Fixed(String),
    Given(Arc<Giving>),
}

impl Token {
    /// No token: where a client's certificate says who calls.
    #[must_use]
    pub fn none() -> Self {
        Self(Kind::Nobody)
    }

    /// A token that a function gives. It is asked before every attempt: let it keep what it gives for as long as it lives.
    ///
    /// ```
    /// # use lockstitch::Token;
    /// let token = Token::given(|| async { Ok("a fresh token".to_owned()) });
    /// ```
    pub fn given<F, T>(give: F) -> Self
    where
        F: Fn() -> T + Send + Sync + 'static,
        T: Future<Output = Result<String, Error>> + Send + 'static,
    {
        Self(Kind::Given(Arc::new(move || Box::pin(give()))))
    }

    /// The `authorization` header of an attempt.
    pub(crate) async fn header(&self) -> Result<Option<MetadataValue<Ascii>>, Error> {
        let token = match &self.0 {
            Kind::Nobody => return Ok(None),
            Kind::Fixed(token) => token.clone(),
            Kind::Given(give) => give().await?,
        };
        let header = format!("Bearer {token}").parse().map_err(|_| {
            Error::from(Failure::of_ours(
                Code::InvalidArgument,
                "The token holds characters that no header can carry.",
            ))
        })?;
        Ok(Some(header))
    }
}

impl<T: Into<String>> From<T> for Token {
    fn from(token: T) -> Self {
        Self(Kind::Fixed(token.into()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token") // and nothing of what it is
    }
}
