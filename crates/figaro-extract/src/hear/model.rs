//! Whisper model in memory: its encoder, which hears a window, and its decoder, which writes one token after the other.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;

use rten::{
    Model, ModelOptions, NodeId, OpRegistry, RegisterOp, RunOptions, ThreadPool, Value, ValueOrView,
    op_types as ops,
};

use super::folder::WhisperFolder;
use super::mel::STEPS;

/// Maximum number of threads. More gain little.
const MAX_THREADS: usize = 4;

/// Operators of Whisper models, plain or in eight bits, as exported by different versions of Optimum. With all operators the
/// program would be a megabyte larger.
const OPERATORS: &[&dyn RegisterOp] = &[
    &ops::Add,
    &ops::And,
    &ops::Cast,
    &ops::CastLike,
    &ops::Clip,
    &ops::Concat,
    &ops::ConstantOfShape,
    &ops::Conv,
    &ops::ConvInteger,
    &ops::DequantizeLinear,
    &ops::Div,
    &ops::DynamicQuantizeLinear,
    &ops::Equal,
    &ops::Erf,
    &ops::Expand,
    &ops::Flatten,
    &ops::Gather,
    &ops::GatherElements,
    &ops::GatherND,
    &ops::Gelu,
    &ops::Gemm,
    &ops::Greater,
    &ops::GreaterOrEqual,
    &ops::Identity,
    &ops::If,
    &ops::IsNaN,
    &ops::LayerNormalization,
    &ops::Less,
    &ops::LessOrEqual,
    &ops::MatMul,
    &ops::MatMulInteger,
    &ops::Max,
    &ops::Min,
    &ops::Mod,
    &ops::Mul,
    &ops::Neg,
    &ops::Not,
    &ops::Or,
    &ops::Pad,
    &ops::Pow,
    &ops::QuantizeLinear,
    &ops::Range,
    &ops::Reciprocal,
    &ops::ReduceMax,
    &ops::ReduceMean,
    &ops::ReduceSum,
    &ops::Reshape,
    &ops::ScatterND,
    &ops::Shape,
    &ops::Slice,
    &ops::Softmax,
    &ops::Split,
    &ops::Sqrt,
    &ops::Squeeze,
    &ops::Sub,
    &ops::Tanh,
    &ops::Tile,
    &ops::Transpose,
    &ops::Trilu,
    &ops::Unsqueeze,
    &ops::Where,
];

/// A model whose files are loaded.
#[derive(Debug)]
pub(super) struct WhisperModel {
    encoder: Model,
    decoder: Model,
    nodes: DecoderNodes,
    /// Shape of what the decoder knows before its first token.
    empty: [usize; 4],
    bands: usize,
    threads: Arc<ThreadPool>,
}

/// Inputs and outputs of the decoder.
#[derive(Debug)]
struct DecoderNodes {
    tokens: NodeId,
    heard: NodeId,
    is_later: NodeId,
    logits: NodeId,
    /// Memories of the decoder: inputs and outputs for its own tokens, then those for what it hears.
    past: Vec<(NodeId, NodeId)>,
    cross: Vec<(NodeId, NodeId)>,
}

impl WhisperModel {
    /// Loads a model.
    ///
    /// # Errors
    /// Names the file that cannot be used, and why.
    pub(super) fn load(folder: &WhisperFolder) -> Result<Self, String> {
        let encoder = load_file(&folder.encoder)?;
        let decoder = load_file(&folder.decoder)?;
        let config = &folder.config;
        let nodes = DecoderNodes::of(&decoder, config.decoder_layers)
            .map_err(|why| unusable(&folder.decoder, &why))?;
        let threads = available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let heads = config.decoder_attention_heads;
        Ok(Self {
            encoder,
            decoder,
            nodes,
            empty: [1, heads, 0, config.d_model / heads],
            bands: config.num_mel_bins,
            threads: Arc::new(ThreadPool::with_num_threads(threads)),
        })
    }

    /// Hears a window, and begins to write.
    pub(super) fn hear(&self, spectrogram: Vec<f32>) -> Result<DecodedWindow<'_>, String> {
        let input = self.encoder.input_ids().first().copied().ok_or("the encoder has no input")?;
        let output = self.encoder.output_ids().first().copied().ok_or("the encoder has no output")?;
        let spectrogram = floats(&[1, self.bands, STEPS], spectrogram)?;
        let mut given = self.run(&self.encoder, vec![(input, spectrogram.into())], &[output])?;
        let heard = given.pop().ok_or("the encoder gives nothing")?;
        let empty = |nodes: &[_]| {
            nodes.iter().map(|_| floats(&self.empty, Vec::new())).collect::<Result<Vec<_>, _>>()
        };
        let (past, cross) = (empty(&self.nodes.past)?, empty(&self.nodes.cross)?);
        Ok(DecodedWindow { model: self, heard, past, cross, is_later: false })
    }

    fn run(
        &self,
        model: &Model,
        inputs: Vec<(NodeId, ValueOrView)>,
        outputs: &[NodeId],
    ) -> Result<Vec<Value>, String> {
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        model.run(inputs, outputs, Some(options)).map_err(|error| error.to_string())
    }
}

/// A window that was heard, and what the decoder remembers of the tokens so far.
#[derive(Debug)]
pub(super) struct DecodedWindow<'a> {
    model: &'a WhisperModel,
    heard: Value,
    past: Vec<Value>,
    cross: Vec<Value>,
    is_later: bool,
}

impl DecodedWindow<'_> {
    /// Adds a token. Returns how likely each token is to come next, as logits.
    pub(super) fn next(&mut self, token: u32) -> Result<Vec<f32>, String> {
        let nodes = &self.model.nodes;
        let token = i32::try_from(token).map_err(|error| error.to_string())?;
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![
            (nodes.tokens, numbers(&[1, 1], vec![token])?.into()),
            (nodes.is_later, numbers(&[1], vec![i32::from(self.is_later)])?.into()),
            (nodes.heard, (&self.heard).into()),
        ];
        let past = std::mem::take(&mut self.past);
        inputs.extend(nodes.past.iter().zip(past).map(|((input, _), past)| (*input, past.into())));
        inputs.extend(nodes.cross.iter().zip(&self.cross).map(|((input, _), cross)| (*input, cross.into())));
        let mut outputs = vec![nodes.logits];
        outputs.extend(nodes.past.iter().map(|(_, output)| *output));
        // What is heard stays the same; later the graph gives nothing for it.
        if !self.is_later {
            outputs.extend(nodes.cross.iter().map(|(_, output)| *output));
        }
        let mut given = self.model.run(&self.model.decoder, inputs, &outputs)?.into_iter();
        let logits = given.next().ok_or("the decoder gives nothing")?;
        self.past = given.by_ref().take(nodes.past.len()).collect();
        if !self.is_later {
            self.cross = given.collect();
        }
        self.is_later = true;
        let (_, logits) = logits.into_shape_vec::<f32, 3>().map_err(|error| error.to_string())?;
        Ok(logits)
    }
}

impl DecoderNodes {
    fn of(decoder: &Model, layers: usize) -> Result<Self, String> {
        let name = |node: &NodeId| decoder.node_info(*node).and_then(|info| info.name().map(str::to_owned));
        let named = |nodes: &[NodeId]| -> HashMap<String, NodeId> {
            nodes.iter().filter_map(|node| Some((name(node)?, *node))).collect()
        };
        let (inputs, outputs) = (named(decoder.input_ids()), named(decoder.output_ids()));
        let find = |nodes: &HashMap<String, NodeId>, name: String| {
            let missing = format!("it has no `{name}`: is it the decoder_model_merged of a Whisper model?");
            nodes.get(&name).copied().ok_or(missing)
        };
        let memories = |side: &str| {
            let parts =
                (0..layers).flat_map(|layer| ["key", "value"].map(|part| format!("{layer}.{side}.{part}")));
            let memory = |part: String| {
                Ok((
                    find(&inputs, format!("past_key_values.{part}"))?,
                    find(&outputs, format!("present.{part}"))?,
                ))
            };
            parts.map(memory).collect::<Result<Vec<_>, String>>()
        };
        Ok(Self {
            tokens: find(&inputs, "input_ids".to_owned())?,
            heard: find(&inputs, "encoder_hidden_states".to_owned())?,
            is_later: find(&inputs, "use_cache_branch".to_owned())?,
            logits: find(&outputs, "logits".to_owned())?,
            past: memories("decoder")?,
            cross: memories("encoder")?,
        })
    }
}

fn load_file(file: &Path) -> Result<Model, String> {
    let options = ModelOptions::with_ops(OpRegistry::with_ops(OPERATORS));
    options.load_file(file).map_err(|error| unusable(file, &error.to_string()))
}

fn unusable(file: &Path, why: &str) -> String {
    format!("the model {} cannot be used: {why}", file.display())
}

fn floats(shape: &[usize], values: Vec<f32>) -> Result<Value, String> {
    Value::from_shape(shape, values).map_err(|error| error.to_string())
}

fn numbers(shape: &[usize], values: Vec<i32>) -> Result<Value, String> {
    Value::from_shape(shape, values).map_err(|error| error.to_string())
}
