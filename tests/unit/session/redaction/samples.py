"""Secrets of every known form."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import Any

_chance = random.Random(4)


def chars(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_chance.choice(alphabet) for _ in range(count))


def _jwt() -> str:
    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256'})}.{part({'sub': '1', 'n': chars(9)})}.{chars(43)}"


#: kind -> a secret of that form. Made at run time: none of them is anybody's.
SECRETS = {
    "openai": "sk-" + chars(48),
    "openai-project": "sk-proj-" + chars(60) + "_-" + chars(10),
    "anthropic": "sk-ant-api03-" + chars(40) + "-" + chars(20) + "AA",
    "google": "AIza" + chars(35),
    "aws": "AKIA" + chars(16, string.ascii_uppercase + string.digits),
    "github": "ghp_" + chars(36),
    "github-oauth": "gho_" + chars(36),
    "github-fine": "github_pat_" + chars(22) + "_" + chars(59),
    "gitlab": "glpat-" + chars(20),
    "slack": "xoxb-" + chars(12, string.digits) + "-" + chars(24),
    "stripe": "sk_live_" + chars(24),
    "stripe-restricted": "rk_live_" + chars(24),
    "huggingface": "hf_" + chars(34),
    "tavily": "tvly-" + chars(32),
    "groq": "gsk_" + chars(52),
    "jwt": _jwt(),
    "npm": "npm_" + chars(36),
    "sendgrid": "SG." + chars(22) + "." + chars(43),
    "slack-app": "xapp-1-" + chars(11, string.ascii_uppercase + string.digits) + "-" + chars(40),
    "langsmith": "lsv2_pt_" + chars(32, string.hexdigits.lower()) + "_" + chars(10, string.hexdigits.lower()),
    "nvidia": "nvapi-" + chars(64),
    "together": "tgp_v1_" + chars(43),
    "e2b": "e2b_" + chars(40, "0123456789abcdef"),
    "pinecone": "pcsk_" + chars(6) + "_" + chars(60),
    "notion": "ntn_" + chars(46),
    "atlassian": "ATATT3x" + chars(60),
    "databricks": "dapi" + chars(32, "0123456789abcdef"),
    "vault": "hvs." + chars(90),
    "google-refresh": "1//0" + chars(60),
    "service-account": base64.b64encode(
        json.dumps({"type": "service_account", "id": chars(9)}).encode()
    ).decode(),
    "service-account-file": base64.b64encode(
        json.dumps({"type": "service_account", "id": chars(9)}, indent=2).encode()
    ).decode(),
    "telegram": "123456789:AA" + chars(33),
    "base64": base64.b64encode(f"sk-proj-{chars(40)}".encode()).decode(),
    "private-key": chars(64) + "\n" + chars(64),
}
