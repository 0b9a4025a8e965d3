"""Instructor, pydantic-ai and LiteLLM's proxy, each by its default way, against the gateway; `checks.py` starts this in a Python of
their own, since their packages do not go together with those of the others.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

URL, KEY = sys.argv[1], sys.argv[2]
GREETING = "Hello from the model."
START = 60
MASTER = "sk-of-the-proxy-0123"


def expect(got: object, wanted: object, what: str) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: {got!r} and not {wanted!r}")


def with_instructor() -> None:
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Weather(BaseModel):
        city: str
        degrees: float

    messages = [{"role": "user", "content": "The weather as JSON"}]
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON):
        client = instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=KEY), mode=mode)
        weather = client.chat.completions.create(model="figaro", response_model=Weather, messages=messages)
        expect((weather.city, weather.degrees), ("Riga", 21), f"instructor by {mode}")


def with_pydantic_ai() -> None:
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    class Weather(BaseModel):
        city: str
        degrees: float

    provider = OpenAIProvider(base_url=f"{URL}/v1", api_key=KEY)
    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        model = kind("figaro", provider=provider)
        expect(Agent(model).run_sync("hello").output, GREETING, f"pydantic-ai by {kind.__name__}")
        weather = Agent(model, output_type=Weather).run_sync("The weather").output
        expect((weather.city, weather.degrees), ("Riga", 21), f"pydantic-ai's output by {kind.__name__}")

    async def streamed() -> str:
        async with Agent(OpenAIChatModel("figaro", provider=provider)).run_stream("hello") as result:
            return await result.get_output()

    expect(asyncio.run(streamed()), GREETING, "pydantic-ai's stream")
    agent = Agent(OpenAIChatModel("figaro", provider=provider))

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        return f"It rains in {city}."

    told = agent.run_sync("How is the weather?").output
    expect("It rains in Riga." in told, True, f"{told} has the result")


def with_litellm() -> None:
    from openai import OpenAI

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "config.yaml"
        config.write_text(
            "model_list:\n  - model_name: house\n    litellm_params:\n"
            f"      model: openai/figaro\n      api_base: {URL}/v1\n      api_key: {KEY}\n"
        )
        command = [str(Path(sys.executable).parent / "litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with (Path(name) / "log").open("w") as log:
            # Its own list of prices, not one of the network; without a key it does not start.
            more = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": MASTER}
            proxy = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | more, cwd=name)
        try:
            wait_for(f"http://127.0.0.1:{port}/health/liveliness", Path(name) / "log")
            client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=MASTER)
            messages = [{"role": "user", "content": "hello"}]
            answer = client.chat.completions.create(model="house", messages=messages)
            expect(answer.choices[0].message.content, GREETING, "LiteLLM's answer")
            chunks = client.chat.completions.create(model="house", messages=messages, stream=True)
            words = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
            expect("".join(words), GREETING, "LiteLLM's stream")
            expect(client.responses.create(model="house", input="hello").output_text, GREETING, "LiteLLM's response")
        finally:
            proxy.terminate()
            proxy.wait(timeout=20)


def wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"LiteLLM does not start: {log.read_text()[-2000:]}")


def main() -> int:
    failed = 0
    for check in (with_instructor, with_pydantic_ai, with_litellm):
        try:
            check()
            print(f"passed: {check.__name__}")
        except Exception as error:  # noqa: BLE001: every client has errors of its own
            failed += 1
            print(f"FAILED: {check.__name__}: {type(error).__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
