// The official client for Node: does for it what driver.py does for Python, with CLIENTS the folder of the packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.CLIENTS}/x.js`);
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)));
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");
const { StreamableHTTPClientTransport } = await load("streamableHttp");

async function allTools(client) {
  const names = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor });
    names.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor);
  return names;
}

function transportTo({ url, headers, program }, statuses) {
  if (!url) return new StdioClientTransport(program);
  const noted = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: noted });
}

async function record(visit) {
  const seen = { statuses: [], tools: null, answers: [], error: null };
  const transport = transportTo(visit, seen.statuses);
  const client = new Client({ name: "foreign", version: "1.0.0" });
  try {
    await client.connect(transport);
    seen.tools = await allTools(client);
    for (const [name, args] of visit.calls) {
      const result = await client.callTool({ name, arguments: args });
      seen.answers.push([result.isError ?? false, result.structuredContent]);
    }
    await transport.terminateSession?.();
  } catch (error) {
    seen.error = `${error}`;
  }
  await client.close();
  return seen;
}

const records = [];
for (const visit of JSON.parse(readFileSync(0, "utf8"))) records.push(await record(visit));
console.log(JSON.stringify(records));
