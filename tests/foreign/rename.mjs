// Loaded into the conformance suite's own process: tools and resources that it wants of a test server get the names of
// real ones. Nothing else of a request is changed, and no answer.
const real = JSON.parse(process.env.RENAME ?? "{}");
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const message = typeof init?.body === "string" ? JSON.parse(init.body) : {};
  const member = { "tools/call": "name", "resources/read": "uri" }[message.method];
  const name = member && real[message.params[member]];
  if (!name) return send(input, init);
  message.params[member] = name;
  return send(input, { ...init, body: JSON.stringify(message) });
};
