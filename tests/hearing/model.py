#!/usr/bin/env python3
"""Writes a Whisper model in ONNX, in eight bits: model.py WEIGHTS CONFIG TOKENIZER FOLDER

Packages with a whole model in ONNX are not to be had, but some carry the weights of whisper-base for CTranslate2. This writes
them with the same inputs and outputs as the files of onnx-community at Hugging Face: `encoder_model` and
`decoder_model_merged`. It needs nothing but Python.

Weights: https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/specs/model_spec.py (binary format 6, halves)
Model: https://github.com/openai/whisper/blob/main/whisper/model.py
"""
import array
import json
import pathlib
import struct
import sys

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
HEAD = 64
WINDOW = 1500
# Value of each of the halves that 16 bits can be.
HALVES = struct.unpack("<65536e", array.array("H", range(65536)).tobytes())


def number(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(key, value):
    """A field of a protocol buffer: a number, text, bytes, or several of them."""
    if isinstance(value, list):
        return b"".join(field(key, one) for one in value)
    if isinstance(value, int):
        return number(key << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(value)) + value


def tensor(name, kind, shape, data):
    return field(1, list(shape)) + field(2, kind) + field(8, name) + field(9, data)


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + number(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, list):
        return field(1, name) + field(8, value) + field(20, 7)
    return field(1, name) + field(6, value) + field(20, 5)


def port(name, kind, shape):
    size = lambda one: field(1, one) if isinstance(one, int) else field(2, one)
    dims = b"".join(field(1, size(one)) for one in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


class Graph:
    def __init__(self, weights, constants=None):
        self.weights, self.nodes, self.inputs, self.outputs = weights, [], [], []
        # A branch uses the constants of the graph around it.
        self.constants = {} if constants is None else constants

    def op(self, kind, inputs, outputs=1, **attributes):
        names = [f"{kind}_{id(self)}_{len(self.nodes)}_{at}" for at in range(outputs)]
        parts = field(1, list(inputs)) + field(2, names) + field(4, kind)
        self.nodes.append(parts + field(5, [attribute(*one) for one in attributes.items()]))
        return names[0] if outputs == 1 else names

    def constant(self, name, kind, shape, data):
        self.constants[name] = tensor(name, kind, shape, data)
        return name

    def ints(self, *values):
        return self.constant(f"ints_{'_'.join(map(str, values))}", INT64, [len(values)], struct.pack(f"<{len(values)}q", *values))

    def scalar(self, value):
        return self.constant(f"scalar_{value}", FLOAT, [], struct.pack("<f", value))

    def floats(self, name):
        shape, halves = self.weights[name]
        return self.constant(name, FLOAT, shape, array.array("f", map(HALVES.__getitem__, halves)).tobytes())

    def eight_bits(self, name, rows=slice(None)):
        """Weights of a layer in eight bits: [out, in] becomes [in, out]. Returns them, their scale and their zero."""
        (_, width), halves = self.weights[name]
        halves = halves[rows.start * width:rows.stop * width] if rows.start is not None else halves
        used = set(halves)
        scale = max(abs(HALVES[half]) for half in used) / 127
        table = {half: round(HALVES[half] / scale) & 255 for half in used}
        data = bytes(map(table.__getitem__, halves))
        name = f"{name}_{rows.start}"
        turned = b"".join(data[column::width] for column in range(width))
        self.constant(name, INT8, [width, len(data) // width], turned)
        self.constant(f"{name}_scale", FLOAT, [], struct.pack("<f", scale))
        return name, f"{name}_scale", self.constant("zero", INT8, [], b"\0")

    def times(self, x, weights):
        """Multiplies as onnxruntime's dynamic quantisation does."""
        weights, scale, zero = weights
        x, x_scale, x_zero = self.op("DynamicQuantizeLinear", [x], 3)
        product = self.op("Cast", [self.op("MatMulInteger", [x, weights, x_zero, zero])], to=FLOAT)
        return self.op("Mul", [product, self.op("Mul", [x_scale, scale])])

    def linear(self, x, name, part=0, parts=1):
        rows = self.weights[f"{name}/bias"][0][0] // parts
        rows = slice(part * rows, (part + 1) * rows)
        _, halves = self.weights[f"{name}/bias"]
        bias = array.array("f", map(HALVES.__getitem__, halves[rows])).tobytes()
        bias = self.constant(f"{name}/bias_{part}", FLOAT, [rows.stop - rows.start], bias)
        return self.op("Add", [self.times(x, self.eight_bits(f"{name}/weight", rows)), bias])

    def norm(self, x, name):
        scale, bias = self.floats(f"{name}/gamma"), self.floats(f"{name}/beta")
        return self.op("LayerNormalization", [x, scale, bias], axis=-1, epsilon=1e-5)

    def gelu(self, x):
        erf = self.op("Add", [self.op("Erf", [self.op("Div", [x, self.scalar(2**0.5)])]), self.scalar(1.0)])
        return self.op("Mul", [self.op("Mul", [x, erf]), self.scalar(0.5)])

    def heads(self, x):
        return self.op("Transpose", [self.op("Reshape", [x, self.ints(1, -1, self.weights["heads"], HEAD)])], perm=[0, 2, 1, 3])

    def attend(self, x, keys, values):
        x = self.op("Mul", [self.heads(x), self.scalar(HEAD**-0.5)])
        scores = self.op("Softmax", [self.op("MatMul", [x, self.op("Transpose", [keys], perm=[0, 1, 3, 2])])], axis=-1)
        x = self.op("Transpose", [self.op("MatMul", [scores, values])], perm=[0, 2, 1, 3])
        return self.op("Reshape", [x, self.ints(1, -1, self.weights["heads"] * HEAD)])

    def added(self, x, more):
        return self.op("Add", [x, more])

    def feed(self, x, name):
        hidden = self.gelu(self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0"))
        return self.added(x, self.linear(hidden, f"{name}/linear_1"))

    def give(self, value, name, shape):
        self.nodes.append(field(1, value) + field(2, name) + field(4, "Identity"))
        self.outputs.append(port(name, FLOAT, shape))

    def take(self, name, kind, shape):
        self.inputs.append(port(name, kind, shape))
        return name

    def bytes(self, constants=True):
        parts = field(1, self.nodes) + field(2, f"graph_{id(self)}")
        return parts + field(5, list(self.constants.values()) if constants else []) + field(11, self.inputs) + field(12, self.outputs)

    def write(self, path):
        path.write_bytes(field(1, 8) + field(7, self.bytes()) + field(8, field(2, 17)))


def encoder(weights, layers):
    graph = Graph(weights)
    x = graph.take("input_features", FLOAT, [1, weights["encoder/conv1/weight"][0][1], 2 * WINDOW])
    for layer, step in (("conv1", 1), ("conv2", 2)):
        inputs = [x, graph.floats(f"encoder/{layer}/weight"), graph.floats(f"encoder/{layer}/bias")]
        x = graph.gelu(graph.op("Conv", inputs, kernel_shape=[3], strides=[step], pads=[1, 1]))
    x = graph.added(graph.op("Transpose", [x], perm=[0, 2, 1]), graph.floats("encoder/position_encodings/encodings"))
    for layer in range(layers):
        name = f"encoder/layer_{layer}"
        normed = graph.norm(x, f"{name}/self_attention/layer_norm")
        query, key, value = (graph.linear(normed, f"{name}/self_attention/linear_0", part, 3) for part in range(3))
        attended = graph.attend(query, graph.heads(key), graph.heads(value))
        x = graph.feed(graph.added(x, graph.linear(attended, f"{name}/self_attention/linear_1")), f"{name}/ffn")
    graph.give(graph.norm(x, "encoder/layer_norm"), "last_hidden_state", [1, WINDOW, weights["heads"] * HEAD])
    return graph


def remembered(graph, heard, name, layer):
    """Keys and values of what is heard: computed at the first token, then as they were given."""
    parts = ["key", "value"]
    given = [graph.take(f"past_key_values.{layer}.encoder.{part}", FLOAT, [1, weights_heads(graph), "heard", HEAD]) for part in parts]
    branches = {}
    for branch in ("then_branch", "else_branch"):
        inner = Graph(graph.weights, graph.constants)
        for at, part in enumerate(parts):
            fresh = branch == "else_branch"
            value = inner.heads(inner.linear(heard, f"{name}/attention/linear_1", at, 2)) if fresh else given[at]
            inner.give(value, f"{branch}_{layer}_{part}", [1, weights_heads(graph), "any", HEAD])
        branches[branch] = inner.bytes(constants=False)
    both = graph.op("If", ["use_cache_branch"], 2, **branches)
    for value, part in zip(both, parts):
        graph.give(value, f"present.{layer}.encoder.{part}", [1, weights_heads(graph), "heard", HEAD])
    return both


def weights_heads(graph):
    return graph.weights["heads"]


def decoder(weights, layers):
    graph = Graph(weights)
    heads, width = weights["heads"], weights["heads"] * HEAD
    tokens = graph.take("input_ids", INT64, [1, "tokens"])
    heard = graph.take("encoder_hidden_states", FLOAT, [1, WINDOW, width])
    graph.take("use_cache_branch", BOOL, [1])
    # The words in eight bits serve at both ends: as rows to look up, and as columns to multiply with.
    words = graph.eight_bits("decoder/embeddings/weight")
    row = graph.op("DequantizeLinear", [graph.op("Gather", [words[0], tokens], axis=1), words[1], words[2]])
    x = graph.op("Transpose", [row], perm=[1, 2, 0])
    for layer in range(layers):
        name = f"decoder/layer_{layer}"
        normed = graph.norm(x if layer else (x := placed(graph, x)), f"{name}/self_attention/layer_norm")
        query, *both = (graph.linear(normed, f"{name}/self_attention/linear_0", part, 3) for part in range(3))
        memory = []
        for part, new in zip(("key", "value"), both):
            past = f"past_key_values.{layer}.decoder.{part}"
            # The first one is taken by `placed`.
            if (layer, part) != (0, "key"):
                graph.take(past, FLOAT, [1, heads, "past", HEAD])
            memory.append(graph.op("Concat", [past, graph.heads(new)], axis=2))
            graph.give(memory[-1], f"present.{layer}.decoder.{part}", [1, heads, "all", HEAD])
        x = graph.added(x, graph.linear(graph.attend(query, *memory), f"{name}/self_attention/linear_1"))
        query = graph.linear(graph.norm(x, f"{name}/attention/layer_norm"), f"{name}/attention/linear_0")
        attended = graph.attend(query, *remembered(graph, heard, name, layer))
        x = graph.feed(graph.added(x, graph.linear(attended, f"{name}/attention/linear_2")), f"{name}/ffn")
    logits = graph.times(graph.norm(x, "decoder/layer_norm"), words)
    graph.give(logits, "logits", [1, "tokens", weights["decoder/embeddings/weight"][0][0]])
    return graph


def placed(graph, x):
    """Adds the place of the token, which is the number of those before it."""
    past = graph.take("past_key_values.0.decoder.key", FLOAT, [1, graph.weights["heads"], "past", HEAD])
    place = graph.op("Gather", [graph.op("Shape", [past]), graph.ints(2)], axis=0)
    return graph.added(x, graph.op("Gather", [graph.floats("decoder/position_encodings/encodings"), place], axis=0))


def read(path):
    data, at, weights = path.read_bytes(), 0, {}

    def take(form):
        nonlocal at
        values = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return values

    def text():
        nonlocal at
        (size,) = take("<H")
        at += size
        return data[at - size:at - 1].decode()

    if take("<I") != (6,) or text() != "WhisperSpec":
        sys.exit(f"{path}: not a Whisper model in the binary format 6 of CTranslate2")
    take("<I")
    for _ in range(take("<I")[0]):
        name = text()
        shape = take(f"<{take('<B')[0]}I")
        kind, size = take("<BI")
        if kind == 4:
            weights[name] = (shape, array.array("H", data[at:at + size]))
        at += size
    return weights


def main(path, config, tokenizer, folder):
    weights, given = read(path), json.loads(config.read_text())
    layers = sum(name.startswith("decoder/") and name.endswith("self_attention/layer_norm/beta") for name in weights)
    vocabulary, width = weights["decoder/embeddings/weight"][0]
    weights["heads"] = width // HEAD
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "d_model": width, "decoder_layers": layers, "decoder_attention_heads": width // HEAD, "vocab_size": vocabulary,
        "num_mel_bins": weights["encoder/conv1/weight"][0][1], "suppress_tokens": given["suppress_ids"],
        "begin_suppress_tokens": given["suppress_ids_begin"],
    }
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    encoder(weights, layers).write(folder / "encoder_model_quantized.onnx")
    decoder(weights, layers).write(folder / "decoder_model_merged_quantized.onnx")


main(*map(pathlib.Path, sys.argv[1:]))
