"""Rows as their readers read them: OpenAI's types; datasets, transformers and TRL (row G16).

The latter need no torch; where one of them is absent, its tests say so and are skipped.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

import lctl
from tests.unit.training import fixtures
from tests.unit.training.fixtures import Talk, start
from tests.unit.training.histories import History
from tests.unit.training.talks import DIALECTS, talk_of

#: A template as models have them: tools, tool calls, reasoning, and what the assistant generates.
TEMPLATE = """\
{%- if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>{% endif -%}
{%- for message in messages -%}
<{{ message.role }}>
{%- if message.role == 'assistant' -%}
{% generation %}
{%- if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif -%}
{{ message.content }}
{%- for call in message.tool_calls or [] %}<call>{{ call.function.arguments | tojson }}</call>{% endfor -%}
<end>{% endgeneration %}
{%- elif message.content is string -%}
{{ message.content }}<end>
{%- else -%}
{%- for part in message.content %}{{ part.text or '<image>' }}{% endfor %}<end>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}<assistant>{% endif -%}
"""


def talks() -> list[Talk]:
    made = [talk_of(*dialect) for dialect in DIALECTS.values()]
    made += [fixtures.model_changed(), fixtures.compaction(), fixtures.tool_retry()]
    return made + [History(random.Random(seed), 20).talk for seed in range(10)]


def rated() -> Talk:
    talk = start().a("b2", "u2").a("c2", "u2")
    for name, value in (("a2", 0.9), ("b2", 0.1), ("c2", 0.4)):
        talk.add("fact_added", id=name, about=name, value=value)
    return talk


def write(format: str, path: Path, made: list[Talk]) -> list[dict[str, Any]]:
    lctl.export_training([talk.tree for talk in made], path, format)
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_g16_openai_rows_are_what_its_sdk_types_say(tmp_path: Path) -> None:
    """Messages and tools validate against the request types of the openai package."""
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
    from pydantic import TypeAdapter

    messages = TypeAdapter(ChatCompletionMessageParam)
    tools = TypeAdapter(ChatCompletionFunctionToolParam)
    rows = write("openai", tmp_path / "rows", talks())
    assert len(rows) > 20
    for row in rows:
        for message in row["messages"]:
            weight = message.pop("weight", None)
            assert weight is None or message["role"] == "assistant"
            messages.validate_python(message, strict=False)
        for tool in row.get("tools", ()):
            tools.validate_python(tool, strict=False)
    with pytest.raises(ValueError, match="tool_call_id"):
        messages.validate_python({"role": "tool", "content": "r"})


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One token a word, made here: nothing is fetched."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    letters = [chr(code) for code in range(32, 127)] + ["<image>", "[UNK]"]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({letter: n for n, letter in enumerate(letters)}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]")
    made.chat_template = TEMPLATE
    return made


def load(path: Path) -> Any:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    cache = str(path.parent / "cache")
    return datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=cache)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", ["hf", "axolotl", "openai", "sharegpt", "calls"])
def test_g16_datasets_reads_the_rows_back(format: str, tmp_path: Path) -> None:
    """Nothing is lost or filled in by the columns, as far as a reader can tell."""
    path = tmp_path / "rows.jsonl"
    rows = write(format, path, talks())
    loaded = list(load(path))
    assert len(loaded) == len(rows)
    for row, read in zip(rows, loaded, strict=True):
        assert _filled(read) == _filled(row)


def _filled(value: Any) -> Any:
    """Without keys that are null, which columns fill in."""
    if isinstance(value, dict):
        return {key: _filled(item) for key, item in value.items() if item is not None}
    return [_filled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_g16_assistant_only_loss_trains_what_was_sampled(tmp_path: Path, tokenizer: Any) -> None:
    """The mask that trainers take from `{% generation %}` is on every assistant message of a row of
    messages, and there each of them is to be trained."""
    rows = [row for row in write("hf", tmp_path / "rows", talks()) if "messages" in row]
    assert rows
    for row in rows:
        made = tokenizer.apply_chat_template(
            row["messages"],
            tools=row.get("tools"),
            return_assistant_tokens_mask=True,
            return_dict=True,
            tokenize=True,
        )
        answers = sum(message["role"] == "assistant" for message in row["messages"])
        mask = made["assistant_masks"]
        assert sum(b > a for a, b in zip([0, *mask], mask, strict=False)) == answers


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_g16_trl_takes_the_rows(tmp_path: Path, tokenizer: Any) -> None:
    """Language modelling, prompt and completion, preference, unpaired preference: each is conversational,
    and its template applies with prompt and answer apart."""
    data = pytest.importorskip("trl.data_utils", reason="trl is not installed")
    kinds = {
        "hf": ({"text"}, {"prompt", "completion"}),
        "dpo": ({"prompt", "chosen", "rejected"},),
        "kto": ({"prompt", "completion", "label"},),
    }
    seen = set()
    for format, keys in kinds.items():
        path = tmp_path / f"{format}.jsonl"
        write(format, path, [*talks(), rated()])
        for read in load(path):
            row = _filled(read)
            assert data.is_conversational(row)
            made = data.apply_chat_template(row, tokenizer, tools=row.pop("tools", None))
            assert made.keys() in keys
            seen.add(frozenset(made))
            for answer in made.keys() & {"completion", "chosen", "rejected"}:
                continued = row["prompt"][-1]["role"] == "assistant"
                assert continued or made["prompt"].endswith("<assistant>")
                assert made[answer].endswith("<end>")
    assert len(seen) == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_g17_trl_takes_pairs_apart(tmp_path: Path) -> None:
    """A preference dataset becomes one of single answers with labels."""
    data = pytest.importorskip("trl.data_utils", reason="trl is not installed")
    path = tmp_path / "dpo.jsonl"
    rows = write("dpo", path, [rated()])
    apart = data.unpair_preference_dataset(load(path))
    assert [row["label"] for row in apart] == [True, True, False, False]
    assert [row["completion"][0]["content"] for row in apart][:2] == [
        row["chosen"][0]["content"] for row in rows
    ]
