"""A server written by hand, to say what the SDK would refuse to say."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

WAY = sys.argv[-1]
FINE = {"name": "do", "description": "Does it.", "inputSchema": {"type": "object"}}
TOOLS = {
    "array-schema": [FINE, {"name": "broken", "inputSchema": {"type": "array"}}],
    "no-schema": [FINE, {"name": "broken"}],
    "not-an-object": [FINE, "broken"],
    "nan": [{**FINE, "inputSchema": {"type": "object", "default": float("nan")}}],
}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    asked: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            info = {"name": "raw", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            send(id=number, result=result)
        elif method == "tools/list":
            more = {"nextCursor": str(number)} if WAY == "endless" else {}
            send(id=number, result={"tools": TOOLS.get(WAY, [] if more else [FINE]), **more})
        elif method == "tools/call" and WAY in ("error", "wordless-error"):
            text = "no such pet" if WAY == "error" else ""
            send(id=number, error={"code": -32000, "message": text})
        elif method == "tools/call" and WAY == "no-result":
            send(id=number, result={"content": "fine"})
        elif method == "tools/call" and WAY == "leaves":
            send(id=number, result={"content": [{"type": "text", "text": str(os.getpid())}]})
            return
        elif method == "tools/call":
            asked = number
            said = {"role": "user", "content": {"type": "text", "text": "Tell me a key."}}
            if WAY == "samples":
                parameters: Any = {"messages": [said], "maxTokens": 10}
                send(id="q", method="sampling/createMessage", params=parameters)
            else:
                schema = {"type": "object", "properties": {}}
                parameters = {"message": "Your password?", "requestedSchema": schema}
                send(id="q", method="elicitation/create", params=parameters)
        elif number == "q":
            text = json.dumps(message.get("error") or message.get("result"))
            send(id=asked, result={"content": [{"type": "text", "text": text}]})
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "Method not found"})


if __name__ == "__main__":
    main()
