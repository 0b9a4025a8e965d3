// The official client for Node and the AI SDK against the gateway: node client.mjs URL KEY, with CLIENTS the folder of
// the packages.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.CLIENTS}/x.js`);
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { default: OpenAI } = await load("openai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { generateText, streamText, tool, stepCountIs } = await load("ai");
const { z } = await load("zod");

const [url, apiKey] = process.argv.slice(2);
const baseURL = `${url}/v1`;
const GREETING = "Hello from the model.";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { type: "function", function: { name: "get_weather", description: "Tells the weather.", parameters } };
const hello = [{ role: "user", content: "hello" }];

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const answer = await client.chat.completions.create({ model: "figaro", messages: hello });
assert.equal(answer.choices[0].message.content, GREETING);

let words = "";
for await (const chunk of await client.chat.completions.create({ model: "figaro", messages: hello, stream: true })) {
  words += chunk.choices[0]?.delta?.content ?? "";
}
assert.equal(words, GREETING);

for (const result of ["It rains.", '{"error": "no such city"}']) {
  const messages = [{ role: "user", content: "How is the weather?" }];
  const first = await client.chat.completions.create({ model: "figaro", messages, tools: [weather] });
  const [call] = first.choices[0].message.tool_calls;
  assert.deepEqual(JSON.parse(call.function.arguments), { city: "Riga" });
  messages.push(first.choices[0].message, { role: "tool", tool_call_id: call.id, content: result });
  const second = await client.chat.completions.create({ model: "figaro", messages, tools: [weather] });
  const seen = second.choices[0].message.content;
  assert.ok(seen.includes(result.startsWith("{") ? "no such city" : result), seen);
}
await assert.rejects(client.chat.completions.create({ model: "nobody", messages: hello }), OpenAI.NotFoundError);
await assert.rejects(
  client.chat.completions.create({ model: "figaro", messages: [{ role: "user", content: "please fail" }] }),
  OpenAI.BadRequestError,
);

const model = createOpenAICompatible({ name: "figaro", baseURL, apiKey })("figaro");
assert.equal((await generateText({ model, prompt: "hello" })).text, GREETING);

let streamed = "";
for await (const part of streamText({ model, prompt: "hello" }).textStream) streamed += part;
assert.equal(streamed, GREETING);

for (const fails of [false, true]) {
  const execute = async () => {
    if (fails) throw new Error("no such city");
    return "It rains.";
  };
  const tools = { get_weather: tool({ description: "Tells the weather.", inputSchema: z.object({ city: z.string() }), execute }) };
  const { text, steps } = await generateText({ model, tools, prompt: "How is the weather?", stopWhen: stepCountIs(3) });
  assert.equal(steps.length, 2);
  assert.ok(text.includes(fails ? "no such city" : "It rains."), text);
}
console.log("passed");
