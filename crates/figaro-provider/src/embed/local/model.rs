//! Sentence model in memory: its graph, its vocabulary, and the computation of vectors.

use std::sync::Arc;
use std::thread::available_parallelism;

use rten::{
    Model, ModelOptions, NodeId, OpRegistry, RegisterOp, RunOptions, ThreadPool, Value, ValueOrView,
    op_types as ops,
};

use super::folder::{ModelFolder, Pooling};
use super::words::WordPieces;

/// Maximum number of threads per text. More gain little.
const MAX_THREADS: usize = 4;

/// Operators of sentence models of the BERT family, plain or quantised. With all operators the program would be a
/// megabyte larger.
const OPERATORS: &[&dyn RegisterOp] = &[
    &ops::Add,
    &ops::And,
    &ops::Cast,
    &ops::CastLike,
    &ops::Clip,
    &ops::Concat,
    &ops::ConstantOfShape,
    &ops::CumSum,
    &ops::DequantizeLinear,
    &ops::Div,
    &ops::DynamicQuantizeLinear,
    &ops::Equal,
    &ops::Erf,
    &ops::Exp,
    &ops::Expand,
    &ops::Flatten,
    &ops::Floor,
    &ops::Gather,
    &ops::GatherElements,
    &ops::GatherND,
    &ops::Gelu,
    &ops::Gemm,
    &ops::Greater,
    &ops::GreaterOrEqual,
    &ops::Identity,
    &ops::IsNaN,
    &ops::LayerNormalization,
    &ops::Less,
    &ops::LessOrEqual,
    &ops::Log,
    &ops::MatMul,
    &ops::MatMulInteger,
    &ops::Max,
    &ops::Min,
    &ops::Mod,
    &ops::Mul,
    &ops::Neg,
    &ops::Not,
    &ops::Or,
    &ops::Pow,
    &ops::QuantizeLinear,
    &ops::Range,
    &ops::Reciprocal,
    &ops::ReduceL2,
    &ops::ReduceMax,
    &ops::ReduceMean,
    &ops::ReduceSum,
    &ops::Relu,
    &ops::Reshape,
    &ops::Shape,
    &ops::Sigmoid,
    &ops::Sin,
    &ops::Cos,
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

#[derive(Debug)]
pub(super) struct LoadedModel {
    model: Model,
    words: WordPieces,
    inputs: Vec<(NodeId, ModelInput)>,
    output: NodeId,
    pooling: Pooling,
    max_tokens: usize,
    threads: Arc<ThreadPool>,
}

/// Input of a model for each token.
#[derive(Debug, Clone, Copy)]
enum ModelInput {
    Number,
    /// Attention mask, always 1.
    Mask,
    /// Index of the text that the token belongs to.
    Part,
}

impl LoadedModel {
    /// Loads the model of a folder.
    ///
    /// # Errors
    /// Names what is unreadable or unknown, with the file.
    pub(super) fn load(folder: &ModelFolder) -> Result<Self, String> {
        let is_json = folder.vocabulary.extension().is_some_and(|end| end == "json");
        let words = WordPieces::read(&folder.read_vocabulary()?, is_json, folder.is_lowercase)
            .map_err(|why| format!("the vocabulary {} {why}", folder.vocabulary.display()))?;
        let of_model = |why: String| format!("the model {} cannot be used: {why}", folder.model.display());
        let model = ModelOptions::with_ops(OpRegistry::with_ops(OPERATORS)).load_file(&folder.model);
        let model = model.map_err(|error| of_model(error.to_string()))?;
        let (inputs, output) = ends(&model).map_err(of_model)?;
        let threads = available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        Ok(Self {
            model,
            words,
            inputs,
            output,
            pooling: folder.pooling,
            max_tokens: folder.max_tokens,
            threads: Arc::new(ThreadPool::with_num_threads(threads)),
        })
    }

    /// Returns the vector of a text as the model computes it, and the number of tokens.
    ///
    /// Texts are processed one by one. A batch would have to be padded to the longest text, and the vectors of a
    /// quantised model would depend on the rest of the batch. With few cores a batch is hardly faster.
    pub(super) fn vector(&self, text: &str) -> Result<(Vec<f32>, usize), String> {
        let numbers = self.words.numbers(text, self.max_tokens);
        let count = numbers.len();
        let inputs = self.inputs.iter().map(|(node, input)| {
            let values = match input {
                ModelInput::Number => numbers.clone(),
                ModelInput::Mask => vec![1; count],
                ModelInput::Part => vec![0; count],
            };
            let value = Value::from_shape(&[1, count], values).map_err(|error| error.to_string())?;
            Ok((*node, ValueOrView::from(value)))
        });
        let inputs = inputs.collect::<Result<Vec<_>, String>>()?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let given =
            self.model.run(inputs, &[self.output], Some(options)).map_err(|error| error.to_string())?;
        let given = given.into_iter().next().ok_or("it gives nothing")?;
        Ok((self.pooled(given)?, count))
    }

    /// Returns the vector of a text: the model's own, or one computed from its tokens' vectors.
    fn pooled(&self, given: Value) -> Result<Vec<f32>, String> {
        let of_tokens = given.clone().into_shape_vec::<f32, 3>().ok();
        let Some(([_, _, size], values)) = of_tokens else {
            let whole = given.into_shape_vec::<f32, 2>();
            let form = "its output is neither a vector nor one for each token";
            return whole.map(|(_, values)| values).map_err(|error| format!("{form}: {error}"));
        };
        let mut tokens = values.chunks_exact(size.max(1));
        Ok(match self.pooling {
            Pooling::First => tokens.next().unwrap_or_default().to_vec(),
            // The length is irrelevant, so the sum serves as the mean.
            Pooling::Mean => tokens.fold(vec![0.0; size], |mut sum, token| {
                sum.iter_mut().zip(token).for_each(|(sum, part)| *sum += part);
                sum
            }),
        })
    }
}

/// Returns the inputs of the model, and the output to use.
fn ends(model: &Model) -> Result<(Vec<(NodeId, ModelInput)>, NodeId), String> {
    let name = |node: NodeId| model.node_info(node).and_then(|info| info.name()).unwrap_or_default();
    let input = |node: &NodeId| match name(*node) {
        "input_ids" => Ok((*node, ModelInput::Number)),
        "attention_mask" => Ok((*node, ModelInput::Mask)),
        "token_type_ids" => Ok((*node, ModelInput::Part)),
        other => Err(format!("it wants an input `{other}`, which no sentence model of the BERT family does")),
    };
    let inputs = model.input_ids().iter().map(input).collect::<Result<Vec<_>, _>>()?;
    let outputs = model.output_ids();
    let of_name = |wanted: &str| outputs.iter().find(|node| name(**node) == wanted);
    // BERT's own pooler is not meant for sentences.
    let output =
        ["sentence_embedding", "last_hidden_state", "token_embeddings"].into_iter().find_map(of_name);
    output.or(outputs.first()).map(|node| (inputs, *node)).ok_or_else(|| "it has no output".to_owned())
}
