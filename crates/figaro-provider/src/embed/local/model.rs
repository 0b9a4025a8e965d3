//! A sentence model in memory: its graph, its vocabulary, and how a text goes through.

use std::sync::Arc;
use std::thread::available_parallelism;

use rten::{
    Model, ModelOptions, NodeId, OpRegistry, RegisterOp, RunOptions, ThreadPool, Value, ValueOrView,
    op_types as ops,
};

use super::folder::{Folder, Pooling};
use super::words::Words;

/// The most threads that work on a text; more gain little.
const MAX_THREADS: usize = 4;

/// What sentence models of the BERT family are made of, plain or quantised; with all that there are the program would be
/// a megabyte larger.
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

/// A model that is loaded.
#[derive(Debug)]
pub(super) struct Loaded {
    model: Model,
    words: Words,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    pooling: Pooling,
    max_tokens: usize,
    threads: Arc<ThreadPool>,
}

/// What a model takes of each token.
#[derive(Debug, Clone, Copy)]
enum Input {
    Number,
    /// That it counts.
    Mask,
    /// Of which of two texts it is.
    Part,
}

impl Loaded {
    /// Loads the model of a folder.
    ///
    /// # Errors
    /// What cannot be read or is not known of it, with the file.
    pub(super) fn load(folder: &Folder) -> Result<Self, String> {
        let is_json = folder.vocabulary.extension().is_some_and(|end| end == "json");
        let words = Words::read(&folder.read_vocabulary()?, is_json, folder.is_lowercase)
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

    /// The vector of a text as the model gives it, and the tokens of the text.
    ///
    /// Texts go one by one. A batch would have to be filled up to the longest, the vectors of a quantised model would depend
    /// on what else is in it, and where there are few cores it is hardly faster.
    pub(super) fn vector(&self, text: &str) -> Result<(Vec<f32>, usize), String> {
        let numbers = self.words.numbers(text, self.max_tokens);
        let count = numbers.len();
        let inputs = self.inputs.iter().map(|(node, input)| {
            let values = match input {
                Input::Number => numbers.clone(),
                Input::Mask => vec![1; count],
                Input::Part => vec![0; count],
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

    /// The vector of a text: the model's own, or that of its tokens' vectors.
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
            // The length does not matter, so the sum does for the mean.
            Pooling::Mean => tokens.fold(vec![0.0; size], |mut sum, token| {
                sum.iter_mut().zip(token).for_each(|(sum, part)| *sum += part);
                sum
            }),
        })
    }
}

/// What the model takes, and which of its outputs is asked for.
fn ends(model: &Model) -> Result<(Vec<(NodeId, Input)>, NodeId), String> {
    let name = |node: NodeId| model.node_info(node).and_then(|info| info.name()).unwrap_or_default();
    let input = |node: &NodeId| match name(*node) {
        "input_ids" => Ok((*node, Input::Number)),
        "attention_mask" => Ok((*node, Input::Mask)),
        "token_type_ids" => Ok((*node, Input::Part)),
        other => Err(format!("it wants an input `{other}`, which no sentence model of the BERT family does")),
    };
    let inputs = model.input_ids().iter().map(input).collect::<Result<Vec<_>, _>>()?;
    let outputs = model.output_ids();
    let of_name = |wanted: &str| outputs.iter().find(|node| name(**node) == wanted);
    // The pooler that BERT itself has is not for sentences.
    let output =
        ["sentence_embedding", "last_hidden_state", "token_embeddings"].into_iter().find_map(of_name);
    output.or(outputs.first()).map(|node| (inputs, *node)).ok_or_else(|| "it has no output".to_owned())
}
