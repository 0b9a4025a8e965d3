//! A sentence model in a folder of this machine, run in this process: an ONNX file and its WordPiece vocabulary. It is
//! loaded when it is first asked and dropped once nobody has asked for a while.

mod engine;
mod folder;
mod model;
mod words;

pub use engine::LocalEmbedder;
