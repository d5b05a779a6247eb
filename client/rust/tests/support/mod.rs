//! What the tests share: the testbed with its real servers, proto3 JSON, and the patterns of the vectors.
#![allow(dead_code)] // each test uses its part

pub mod patterns;
pub mod proto_json;
pub mod testbed;
