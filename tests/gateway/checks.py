"""The checks of the gateway by clients that are not ours, counted: `run` starts this in the clients' own Python.

The official clients for Python and Node, LangChain and the AI SDK chat, stream, and see results and errors of tools;
instructor, pydantic-ai and LiteLLM's proxy do so in a Python of their own (`more.py`); schemathesis tries what the OpenAPI
document allows. Ends with 1 if anything is not as it should be.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "foreign"))

import model  # noqa: E402
from expect import Wrong, expect, shortened  # noqa: E402
from servers import environment, started  # noqa: E402

KEY = "key-of-the-clients-01"
GREETING = "Hello from the model."
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
RESULTS = ["It rains.", '{"error": "no such city"}']
START = 30


def user(words: str) -> dict:
    return {"role": "user", "content": words}


def openai_chats(url: str) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=KEY)
    expect("figaro" in [one.id for one in client.models.list()], True, "the models")
    answer = client.chat.completions.create(model="figaro", messages=[user("hello")])
    expect(answer.choices[0].message.content, GREETING, "an answer")
    expect(answer.usage.total_tokens, 35, "its tokens")
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model="figaro", messages=[user("hello")], stream=True, stream_options=options))
    words = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    expect("".join(words), GREETING, "the words of a stream")
    expect(len([word for word in words if word]) > 1, True, "it comes in parts")
    expect(chunks[-1].usage.total_tokens, 35, "the tokens of a stream")
    session = {"X-Session-Id": "a", "X-User-Id": "ann"}
    for _ in range(2):
        client.chat.completions.create(model="figaro", messages=[user("hello")], extra_headers=session)


def openai_calls_tools(url: str) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=KEY)
    for result in RESULTS:
        messages: list = [user("How is the weather?")]
        first = client.chat.completions.create(model="figaro", messages=messages, tools=[TOOL])
        expect(first.choices[0].finish_reason, "tool_calls", "why it ends")
        message = first.choices[0].message
        call = message.tool_calls[0]
        expect((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Riga"}), "the call")
        messages += [message, {"role": "tool", "tool_call_id": call.id, "content": result}]
        second = client.chat.completions.create(model="figaro", messages=messages, tools=[TOOL])
        seen = second.choices[0].message.content
        expect(result.split('"')[-2] in seen if result.startswith("{") else result in seen, True, f"{seen} has the result")


def openai_sees_errors(url: str) -> None:
    import openai
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
    asks = client.chat.completions.create
    for error, asking in [
        (openai.NotFoundError, lambda: asks(model="figarro", messages=[user("x")])),
        (openai.BadRequestError, lambda: asks(model="figaro", messages=[user("x")], n=2)),
        (openai.BadRequestError, lambda: asks(model="figaro", messages=[user("please fail")])),
        # A stream has begun by then, so that it has no status any more.
        (openai.APIError, lambda: list(asks(model="figaro", messages=[user("please fail")], stream=True))),
        (openai.AuthenticationError, lambda: OpenAI(base_url=f"{url}/v1", api_key="no-key-of-ours").models.list()),
    ]:
        try:
            asking()
        except error as raised:
            expect(bool(raised.code), True, f"{raised} has a code")
        else:
            raise Wrong(f"no {error.__name__}")


def openai_responds(url: str) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=KEY)
    answer = client.responses.create(model="figaro", input="hello", instructions="Be brief.")
    expect(answer.output_text, GREETING, "a response")
    with client.responses.stream(model="figaro", input="hello") as stream:
        words = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        expect((words, stream.get_final_response().output_text), (GREETING, GREETING), "a response as a stream")
    tool = {"type": "function", **TOOL["function"]}
    items: list = [user("How is the weather?")]
    first = client.responses.create(model="figaro", input=items, tools=[tool])
    call = first.output[0]
    items += [call, {"type": "function_call_output", "call_id": call.call_id, "output": "It rains."}]
    second = client.responses.create(model="figaro", input=items, tools=[tool])
    expect("It rains." in second.output_text, True, second.output_text)


def langchain(url: str) -> None:
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=f"{url}/v1", api_key=KEY, model="figaro", use_responses_api=False)
    expect(chat.invoke("hello").content, GREETING, "LangChain's answer")
    parts = [part.content for part in chat.stream("hello") if part.content]
    expect(("".join(parts), len(parts) > 1), (GREETING, True), "LangChain's stream")
    with_tools = chat.bind_tools([TOOL])
    for result in RESULTS:
        messages: list = [HumanMessage("How is the weather?")]
        called = with_tools.invoke(messages)
        expect([(call["name"], call["args"]) for call in called.tool_calls], [("get_weather", {"city": "Riga"})], "its calls")
        messages += [called, ToolMessage(result, tool_call_id=called.tool_calls[0]["id"])]
        seen = with_tools.invoke(messages).content
        expect("no such city" in seen if result.startswith("{") else result in seen, True, f"{seen} has the result")
    schema = {
        "title": "weather",
        "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }
    held = chat.with_structured_output(schema, method="json_schema").invoke("The weather as JSON")
    expect(held, {"city": "Riga", "degrees": 21}, "LangChain's structured output")


def node(url: str, folder: Path) -> None:
    done = subprocess.run(
        ["node", str(HERE / "client.mjs"), url, KEY],
        env=environment(folder, {"CLIENTS": str(HERE.parents[1] / "target" / "gateway" / "node_modules")}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode != 0:
        raise Wrong(f"the clients of Node: {shortened(done.stdout + done.stderr)}")


def more(url: str, folder: Path) -> None:
    python = HERE.parents[1] / "target" / "gateway" / "more" / "bin" / "python"
    done = subprocess.run(
        [str(python), str(HERE / "more.py"), url, KEY],
        env=environment(folder, {}),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    print(done.stdout, end="")
    if done.returncode != 0:
        raise Wrong(f"further clients of Python: {shortened(done.stdout + done.stderr)}")


def schemathesis(url: str, folder: Path) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        "run",
        f"{url}/openapi.json",
        f"--header=Authorization: Bearer {KEY}",
        f"--checks={checks}",
        "--max-examples=30",
        "--seed=1",
        "--request-timeout=30",
        "--no-color",
    ]
    done = subprocess.run(command, cwd=folder, env=environment(folder, {}), capture_output=True, text=True, timeout=900)
    print(done.stdout[-1500:])
    if done.returncode != 0:
        raise Wrong(f"schemathesis: {done.stdout[-6000:]}{done.stderr[-2000:]}")


def address(log: Path) -> str:
    """Where the gateway listens, as the bot logs it."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        words = log.read_text().split("the HTTP gateway listens at ")
        if len(words) > 1 and "\n" in words[1]:
            return words[1].split()[0]
        time.sleep(0.05)
    raise Wrong(f"no gateway: {log.read_text()}")


def main() -> int:
    binaries = Path(sys.argv[1])
    server, base = model.start()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variables = {
            "HTTP_ADDR": "127.0.0.1:0",
            "API_KEYS": f"clients:{KEY}",
            "LLM_PROVIDER": "compatible",
            "COMPATIBLE_BASE_URL": base,
            "COMPATIBLE_MODEL": "rule",
            "LLM_PRICES": "compatible:rule=0/0",
            "SESSION_NAMES": "off",
            "MEMORY_LIMIT": "0",
            "RUST_LOG": "info",
        }
        with started([binaries / "figaro", "demo", "--port", "0"], variables, folder, "demo"):
            url = address(folder / "demo.log")
            checks: list[tuple[str, Callable[[], None]]] = [
                ("openai (Python): chats and streams", lambda: openai_chats(url)),
                ("openai (Python): tools", lambda: openai_calls_tools(url)),
                ("openai (Python): errors", lambda: openai_sees_errors(url)),
                ("openai (Python): responses", lambda: openai_responds(url)),
                ("LangChain", lambda: langchain(url)),
                ("openai (Node) and AI SDK", lambda: node(url, folder)),
                ("instructor, pydantic-ai, LiteLLM", lambda: more(url, folder)),
                ("schemathesis", lambda: schemathesis(url, folder)),
            ]
            for what, check in checks:
                if len(sys.argv) > 2 and sys.argv[2] not in what:
                    continue
                try:
                    check()
                    print(f"passed: {what}")
                except Exception as error:  # noqa: BLE001: every client has errors of its own
                    failed += 1
                    print(f"FAILED: {what}: {type(error).__name__}: {error}")
    server.shutdown()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
