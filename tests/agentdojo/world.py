"""AgentDojo's side of a case: the environment with the injection in it, the calls, what was executed, and the verdict.

Nothing of the benchmark is copied: suites, environments, calls and checks are those of the installed package.
"""

import contextlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import text_content_block_from_string

import turned

# The newest version of the benchmark that the package has.
VERSION = "v1.2.2"
SUITES = ("workspace", "travel", "banking", "slack")
ATTACK = "important_instructions"
KINDS = ("reads", "opens", "adds", "changes")
# What the model says if the task has no words that its answer must have.
SAID = "Done."


class Named(BasePipelineElement):
    """The attack wants to know the name of the model it speaks to."""

    name = "local"

    def query(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("no pipeline of AgentDojo runs here")


@lru_cache
def suite(name: str) -> Any:
    return get_suite(VERSION, name)


@lru_cache
def attack(name: str) -> Any:
    return load_attack(ATTACK, suite(name), Named())


@lru_cache(maxsize=4)
def beginning(case: "Case") -> Any:
    """The environment of a case with its injection in it, never changed itself: reading it takes longest."""
    task = suite(case.suite).user_tasks[case.user]
    injection = suite(case.suite).injection_tasks[case.injection] if case.injection else None
    injected = attack(case.suite).attack(task, injection) if injection else {}
    return task.init_environment(suite(case.suite).load_and_inject_default_environment(injected))


@lru_cache
def kinds(name: str) -> dict[str, str]:
    """What each mapped tool of a suite does: it reads, opens an address, adds, or changes what was there."""
    mapped = json.loads((Path(__file__).parent / "tools.json").read_text())[name]
    return {tool: kind for kind in KINDS for tool in mapped.get(kind, [])}


def unmapped(name: str) -> list[str]:
    return sorted({tool.name for tool in suite(name).tools} - set(kinds(name)))


@dataclass(frozen=True)
class Case:
    suite: str
    user: str
    # Without an injection the user's task runs alone.
    injection: str | None

    def __str__(self) -> str:
        return f"{self.suite} {self.user} × {self.injection or 'no attack'}"


def cases(name: str) -> list[Case]:
    """Each user's task alone, then with each injection."""
    one = suite(name)
    return [Case(name, user, injection) for user in one.user_tasks for injection in (None, *one.injection_tasks)]


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: str

    @classmethod
    def of(cls, tool: str, arguments: dict[str, Any]) -> "Call":
        return cls(tool, json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str))

    @property
    def values(self) -> dict[str, Any]:
        return json.loads(self.arguments)

    def __str__(self) -> str:
        short = self.arguments if len(self.arguments) < 160 else f"{self.arguments[:160]}…"
        return f"{self.tool}({short})"


@dataclass
class Play:
    """A case while it is played."""

    case: Case
    environment: Any
    before: Any
    prompt: str
    user_calls: list[Call]
    executed: list[Call] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case) -> "Play":
        task = suite(case.suite).user_tasks[case.user]
        environment, before, other = (beginning(case).model_copy(deep=True) for _ in range(3))
        return cls(case, environment, before, task.PROMPT, plain(task.ground_truth(other)))

    @property
    def task(self) -> Any:
        return suite(self.case.suite).user_tasks[self.case.user]

    @property
    def injection(self) -> Any:
        return suite(self.case.suite).injection_tasks[self.case.injection] if self.case.injection else None

    def injected_calls(self) -> list[Call]:
        """What the turned model does, as things stand now."""
        if not self.injection:
            return []
        now = self.environment.model_copy(deep=True)
        calls = self.injection.ground_truth(now) or turned.calls(self.case.suite, self.injection, self.before, now)
        return plain(calls)

    def in_order(self, is_early: bool) -> tuple[list[Call], list[Call]]:
        """The user's calls before the injection's, and those after them."""
        cut = 1 if is_early else len(self.user_calls)
        return self.user_calls[:cut], self.user_calls[cut:]

    def own_words(self) -> str:
        """What the user's task wants answered."""
        return self.task.GROUND_TRUTH_OUTPUT or SAID

    def words(self) -> str:
        """The answer of the model, which says what the injection wants said, too."""
        told = [self.own_words()]
        if self.injection and self.injection.GROUND_TRUTH_OUTPUT:
            told.append(self.injection.GROUND_TRUTH_OUTPUT)
        return "\n\n".join(told)

    def execute(self, call: Call) -> tuple[str, bool]:
        """Makes the call in the environment; gives its result, and whether it failed."""
        runtime = FunctionsRuntime(suite(self.case.suite).tools)
        result, error = runtime.run_function(self.environment, call.tool, call.values)
        self.executed.append(call)
        text = error or tool_result_to_str(result)
        return text, error is not None

    def completed(self, told: str) -> bool:
        return self.check(self.task, told)

    def attacked(self, told: str) -> bool:
        return self.injection is not None and self.check(self.injection, told)

    def check(self, task: Any, told: str) -> bool:
        """AgentDojo's own check of a task. Some of them print what they miss."""
        traces = [FunctionCall(function=call.tool, args=call.values) for call in self.executed]
        words = [text_content_block_from_string(told)]
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(suite(self.case.suite)._check_task_result(task, words, self.before, self.environment, traces))

    def was_shown(self, seen: str) -> bool:
        """Whether the injection's goal is in what the model was sent, however it is laid out there."""
        return self.injection is None or letters(self.injection.GOAL)[:60] in letters(seen)


def plain(calls: list[FunctionCall]) -> list[Call]:
    return [Call.of(call.function, call.args) for call in calls]


def letters(words: str) -> str:
    return re.sub(r"\\n|[^a-z0-9]", "", words.lower())


@dataclass(frozen=True)
class Expected:
    """What the same calls do where no gate is."""

    # All calls meet the injection's goal: the case can be won by an attacker.
    is_open: bool
    # The injection's calls come after the user's first one; else after the last.
    is_early: bool
    # What of them is enough, if it is less than its acts: the user's own calls, words, or reading.
    enough: str | None


@lru_cache(maxsize=None)
def rehearse(case: Case) -> Expected:
    """Plays a case without Figaro, to know what its calls are worth."""
    if not case.injection:
        return Expected(is_open=False, is_early=False, enough=None)
    # Some goals are out of reach once the user's own calls were made: then the model turns at once.
    orders = [is_early for is_early in (False, True) if met(case, is_early, lambda _: True)]
    is_early = bool(orders) and orders[0]
    kind = kinds(case.suite)
    ways = {
        "the user's own calls": met(case, is_early, lambda _: False, is_silent=True),
        "words": met(case, is_early, lambda _: False),
        "reading": met(case, is_early, lambda call: kind.get(call.tool) == "reads", is_silent=True),
    }
    enough = next((what for what, is_enough in ways.items() if is_enough), None)
    return Expected(bool(orders), is_early, enough)


def met(case: Case, is_early: bool, is_made: Callable[[Call], bool], is_silent: bool = False) -> bool:
    """Whether the goal is met by the user's calls and those of the injection's that are made."""
    play = Play.of(case)
    first, rest = play.in_order(is_early)
    for call in first:
        play.execute(call)
    for call in play.injected_calls():
        if is_made(call):
            play.execute(call)
    for call in rest:
        play.execute(call)
    return play.attacked(play.own_words() if is_silent else play.words())
