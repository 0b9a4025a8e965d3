//! Sentence model in a local folder, run in this process: an ONNX file with its WordPiece vocabulary. It is loaded on
//! first use and dropped after a while without use.

mod engine;
mod folder;
mod model;
mod words;

pub use engine::LocalEmbedder;
