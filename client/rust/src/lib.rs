#![doc = include_str!("../README.md")]

mod changes;
mod client;
mod endpoint;
mod error;
mod failures;
mod items;
mod lease;
mod random;
mod retries;
mod rpc;
mod run;
mod session;
mod subscription;
mod token;
mod transport;
mod versions;
mod wire;

/// The wire's messages, and stubs for whoever calls without this crate's client; generated from `protos/`.
#[allow(missing_docs, clippy::all, clippy::pedantic, rustdoc::all)]
pub mod v1 {
    include!("generated/lockstitch.v1.rs");
}

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use client::{Builder, Client};
pub use endpoint::Tls;
pub use error::{Error, Failure, FieldViolation};
pub use items::Items;
pub use prost_types;
pub use rpc::Rpc;
pub use run::HeldRun;
pub use session::Session;
pub use token::Token;
pub use tonic::Code;
pub use tonic::transport::{Certificate, ClientTlsConfig, Identity};
pub use v1::subscribe_response::Frame;
pub use wire::{assistant, call, calling, merge_patch, run_end, system, tool, user};

/// What a mutex guards; whoever panicked with it left it whole, since nothing here is changed in steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
