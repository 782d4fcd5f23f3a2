"""llama.cpp with a model made here: it knows which letter follows which, and nothing else.

The model is a file of 4 MB that is written on the spot. Its attention does nothing, so each token
depends only on the one before, as `_scores` says. It answers "Ok", and where a grammar holds it, it
writes the shortest call or JSON that the grammar allows. So the server is tried, not the model.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NEEDED = ("xllamacpp", "gguf")
"""The packages: llama.cpp's own server, and a writer of its model files."""

IS_INSTALLED = all(importlib.util.find_spec(name) for name in NEEDED)
CONTEXT = 4096  # tokens, most of which are one character
KEY = "trial-key-0123456789"

_SIZE = 384  # of the vectors, one place for each token
_SPECIAL = ("<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>")
_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_LETTERS = ("▁", *map(chr, range(33, 127)))
_TOKENS = (*_SPECIAL, *_BYTES, *_LETTERS)
_END, _NEW_LINE, _CALL = "<|im_end|>", "<0x0A>", "<tool_call>"

_PREFERRED = {_END: 10, '"': 9, "}": 8.5, "]": 8.4, ":": 8, ",": 7, "1": 6, "{": 4, "[": 4, "f": 0}
_AFTER = {
    _NEW_LINE: {"O": 20, _END: 19, _CALL: 18},
    "O": {"k": 20},
    "k": {_END: 20, _CALL: 18},
    _CALL: {_NEW_LINE: 20},
    "1": {"7": 12},
}

_TEMPLATE = """\
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- if loop.first and tools %}
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>{% endif %}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@contextmanager
def serving_llama(folder: Path) -> Iterator[str]:
    """The address of a llama.cpp server with the tiny model; it asks for `KEY`."""
    file, port = folder / "tiny.gguf", _free_port()
    _write_model(file)
    command = [sys.executable, __file__, str(file), str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline, f"no server at {url}"
            time.sleep(0.1)


def _scores() -> Any:
    """How much each token (a row) wants each other one (a column) to follow it."""
    import numpy

    at = {token: index for index, token in enumerate(_TOKENS)}
    preferred = numpy.full(len(_TOKENS), -5.0, dtype=numpy.float32)
    preferred[[at[letter] for letter in _LETTERS]] = -1
    preferred[[at[token] for token in _PREFERRED]] = list(_PREFERRED.values())
    scores = numpy.tile(preferred, (len(_TOKENS), 1))
    for token, following in _AFTER.items():
        for other, score in following.items():
            scores[at[token], at[other]] = score
    return scores


def _write_model(file: Path) -> None:
    import gguf
    import numpy

    kinds = gguf.TokenType
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(_SIZE)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(12)
    writer.add_head_count_kv(12)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(_TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(_TOKENS)
    writer.add_token_scores([-1.0 if token in _LETTERS else 0.0 for token in _TOKENS])
    writer.add_token_types(
        [kinds.UNKNOWN, *[kinds.CONTROL] * 4, *[kinds.USER_DEFINED] * 2]
        + [kinds.BYTE] * len(_BYTES)
        + [kinds.NORMAL] * len(_LETTERS)
    )
    writer.add_eos_token_id(_TOKENS.index(_END))
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(_TEMPLATE)

    def tensor(name: str, values: Any) -> None:
        writer.add_tensor(f"{name}.weight", values.astype(numpy.float32))

    output = numpy.zeros((len(_TOKENS), _SIZE))
    output[:, : len(_TOKENS)] = _scores().T / _SIZE**0.5  # the norm makes one place this large
    tensor("token_embd", numpy.eye(len(_TOKENS), _SIZE))
    tensor("output", output)
    for norm in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        tensor(norm, numpy.ones(_SIZE))
    for part in ("q", "k", "v", "output"):
        tensor(f"blk.0.attn_{part}", numpy.zeros((_SIZE, _SIZE)))
    tensor("blk.0.ffn_gate", numpy.zeros((32, _SIZE)))
    tensor("blk.0.ffn_up", numpy.zeros((32, _SIZE)))
    tensor("blk.0.ffn_down", numpy.zeros((_SIZE, 32)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _serve(file: str, port: int) -> None:
    """Serve until standard input is closed, as it is when the tests are gone."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.api_keys = [KEY]
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.n_predict = 500
    parameters.use_jinja = True
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
