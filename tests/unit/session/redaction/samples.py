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


_HEX = "0123456789abcdef"


def _uuid() -> str:
    return "-".join(chars(count, _HEX) for count in (8, 4, 4, 4, 12))


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
    "docker-registries": base64.b64encode(json.dumps({"auths": {"e.com": chars(21)}}).encode()).decode(),
    "discord": base64.b64encode(chars(19, string.digits).encode()).decode().rstrip("=")
    + f".{chars(6)}.{chars(38)}",
    "doppler": "dp.pt." + chars(43),
    "doppler-service": "dp.st.dev_main." + chars(43),
    "azure": chars(3) + "8Q~" + chars(34),
    "supabase": f"sb_secret_{chars(22)}_{chars(8)}",
    "vercel": "vcp_" + chars(56),
    "netlify": "nfp_" + chars(36),
    "cloudflare": "cfut_" + chars(40),
    "apify": "apify_api_" + chars(36),
    "resend": f"re_{chars(8)}_{chars(24)}",
    "neon": "napi_" + chars(64, string.ascii_lowercase + string.digits),
    "sonar": "sqp_" + chars(40, _HEX),
    "onepassword": "ops_eyJ" + chars(200),
    "mailgun": "key-" + chars(32, _HEX),
    "mailchimp": chars(32, _HEX) + "-us12",
    "brevo": f"xkeysib-{chars(64, _HEX)}-{chars(16)}",
    "hubspot": "pat-na1-" + _uuid(),
    "airtable": f"pat{chars(14)}.{chars(64, _HEX)}",
    "square": "sq0atp-" + chars(22),
    "paypal": f"access_token$production${chars(16, _HEX)}${chars(32, _HEX)}",
    "plaid": "access-production-" + _uuid(),
    "tailscale": f"tskey-auth-{chars(16)}-{chars(30)}",
    "terraform": f"{chars(14)}.atlasv1.{chars(67)}",
    "vault-batch": "hvb." + chars(130),
    "bitbucket": "ATBB" + chars(32),
    "bedrock": "ABSK" + chars(110),
    "gitlab-agent": "glagent-" + chars(50),
    "zhipu": f"{chars(32, _HEX)}.aB3{chars(13)}",
    "dynatrace": f"dt0c01.{chars(24, string.ascii_uppercase)}.{chars(64, string.ascii_uppercase)}",
    "private-key": chars(64) + "\n" + chars(64),
}
