//! Makes the messages and stubs of `lockstitch.v1` from a descriptor set: `generate DESCRIPTORS FOLDER`.

use std::path::Path;
use std::{env, error::Error, fs};

use prost::Message as _;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [descriptors, folder] = arguments.as_slice() else {
        return Err("usage: generate DESCRIPTORS FOLDER".into());
    };
    let files = FileDescriptorSet::decode(fs::read(descriptors)?.as_slice())?;
    fs::create_dir_all(Path::new(folder))?;
    tonic_prost_build::configure()
        .build_server(false)
        .out_dir(folder)
        .compile_fds(files)?;
    Ok(())
}
