"""What secrets look like: the formats of real keys, and the names under which they are kept."""

from __future__ import annotations

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<secret>[\s\S]*?)(?=-----END [A-Z0-9 ]*PRIVATE KEY|\Z)"
)
# A port in front of a path, a query or the end: such a URL has no password.
_PORT = r"(?!\d{1,5}(?:/|\?[\w.-]+=|[\"'\s]|\Z))"
_TEMPLATE = r"(?!/|\{[\w.]*\}|\$\{?\w+\}?/|%[sd])"
# What a program's quote looks like is not in a password; an apostrophe in the middle is.
_IN_PASSWORD = r"(?:[^\s/?#\"'<>]|'(?=[\w@!#$%^&*.-]))"
# As `urlsplit` has it, up to the last `@` before the path; else, where a `/` in it came first, up to the last
# `@` that a host may follow.
_URL_PASSWORD = (
    rf"(?<=://)(?!\[)(?:[^\s/:\"'<>]*:{_PORT}(?=(?P<plain>{_IN_PASSWORD}+)@)|"
    rf"[^\s/@:\"'<>]*:{_PORT}{_TEMPLATE}(?=(?P<slashed>(?:{_IN_PASSWORD}|[/?#]){{1,1000}})@[\w.\[-]))"
    r"(?P<secret>(?(plain)(?P=plain)|(?P=slashed)))"
)
_SCHEMES = r"token|api-?key|bot|oauth|negotiate|ntlm|dpop|key|geniekey|ssws"
_AUTHORIZATION = (
    rf"(?i)authorization[\"'\\]*\s*(?:=>|[=:])\s*[\"'\\]*"
    rf"(?:(?:{_SCHEMES})\s+(?=[a-z._~+/=:-]*[0-9]|[a-z0-9._~+/=:-]{{20}})|"
    r"[a-z][a-z0-9-]*\s+(?=[a-z._~+/=:-]*[0-9])(?=[a-z0-9._~+/=:-]{16}))"
    r"(?P<secret>[a-z0-9._~+/=:-]{6,})"
)
#: (kind, pattern). The whole match is the secret, or its group `secret` where there is one. Each, but
#: for those in `WITHOUT_RUN`, has a run of 20 letters, digits, `-` and `_`: `Suspicion` counts on that.
FORMATS: tuple[tuple[str, str], ...] = (
    ("anthropic", r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{13,}"),
    ("openrouter", r"(?<![A-Za-z0-9])sk-or-[A-Za-z0-9_-]{14,}"),
    ("openai", r"(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{17,}"),
    ("stripe", r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{12,}|whsec_[A-Za-z0-9]{14,})"),
    (
        "google",
        r"(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})",
    ),
    ("aws", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github", r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})"),
    ("gitlab", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{16,}"),
    ("slack", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{15,}"),
    ("slack", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}"),
    ("huggingface", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{17,}"),
    ("tavily", r"(?<![A-Za-z0-9])tvly-[A-Za-z0-9-]{16,}"),
    ("groq", r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{16,}"),
    ("xai", r"(?<![A-Za-z0-9])xai-[A-Za-z0-9]{20,}"),
    ("perplexity", r"(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{20,}"),
    ("replicate", r"(?<![A-Za-z0-9])r8_[A-Za-z0-9]{20,}"),
    ("npm", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{20,}"),
    ("pypi", r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{20,}"),
    ("sendgrid", r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    ("jwt", r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{17,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
    ("signature", r"(?i)[?&](?:sig|x-amz-signature|x-amz-security-token)=(?P<secret>[^\s&\"'\\]{20,})"),
    (
        "private-key",
        _PRIVATE_KEY,
    ),
    ("url-password", _URL_PASSWORD),
    ("authorization", _AUTHORIZATION),
    (
        "bearer",
        r"(?i)\bBearer\s+(?P<secret>(?=[A-Za-z._~+/=-]*[0-9]|[A-Za-z0-9._~+/=-]{20})[A-Za-z0-9._~+/=-]{6,})",
    ),
    # "basic" is a word too: only what decodes to `user:password` is taken
    ("basic", r"(?i)\bBasic\s+(?P<secret>[A-Za-z0-9+/]{6,}={0,2})"),
)

#: Kinds that need no such run, and what is in each of them, in lower case.
WITHOUT_RUN = {
    "slack": "hooks.slack.com/services/",
    "signature": "=",
    "private-key": "private key",
    "url-password": "://",
    "authorization": "authorization",
    "bearer": "bearer",
    "basic": "basic",
}

_SECRET = """
apikey xapikey xgoogapikey authorization proxyauthorization xauthorization password passwd passphrase
passcode secret secrets clientsecret secretkey accesskey secretaccesskey accountkey sharedaccesskey
accesstoken refreshtoken idtoken sessiontoken securitytoken token privatekey signingkey encryptionkey
masterkey sshkey cookie cookies setcookie subscriptionkey ocpapimsubscriptionkey
"""
_PLAIN = """
pagetoken nextpagetoken prevpagetoken nexttoken continuationtoken continuetoken synctoken padtoken
eostoken bostoken unktoken septoken clstoken masktoken stoptoken starttoken endtoken imagetoken
specialtoken firsttoken lasttoken maxtoken pertoken costpertoken priceperinputtoken perinputtoken
priceperoutputtoken peroutputtoken timetofirsttoken timeperoutputtoken
"""
#: Names (lower case, without `-`, `_`, `.` and space) whose string values are secrets.
SECRET_NAMES = frozenset(_SECRET.split())
#: Names that end like this are secret too (`slack_bot_token`, `db_password`).
SECRET_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey", "privatekey"),
    *("token", "authorization", "signingkey", "encryptionkey", "accountkey", "subscriptionkey"),
)
#: ... but for these, which only say so.
PLAIN_NAMES = frozenset(_PLAIN.split())

#: The last word of a name, in any case, that says in a text that a secret follows: with `=`, `:` or, for
#: options, a space.
NAME = (
    r"(?:pass(?:word|wd|phrase|code)|(?<![A-Za-z])pwd|secret|token|authorization|cookie|(?:api|access|account|"
    r"private|secret|signing|encryption|subscription|master|ssh)[_. -]?key)"
)
#: What comes between such a name and its value, and the value. Quotes may be escaped any number of times.
VALUE = (
    r"(?P<quote>\\*[\"'])?(?P<sign>\s*(?:=>|[=:])\s*|\s+)(?P<open>\\*[\"'])?"
    r"(?P<secret>(?(open)[^\"'\\\r\n]+|[^\s\"'\\&;,)}\]]+))"
)
#: The header of cookies in a text. A value ends at its `;`, the last one also at a space.
_COOKIE = r"(?:\\*\"[^\"\r\n]{0,4096}\"|[^;\"'\\\r\n]{0,4096}(?=;)|[^\s;\"'\\]*)"
_COOKIE_NAME = r"[^\s=;,:&\"'\\(){}\[\]<>]+"
COOKIES = (
    r"(?i)(?P<set>set-?)?cookies?[\"'\\]*\s*[:=]\s*[\"'\\]*"
    rf"(?P<cookies>{_COOKIE_NAME}={_COOKIE}(?:[;,][ \t]*{_COOKIE_NAME}(?:={_COOKIE})?)*)"
)
#: One of them, and what else such a header says.
COOKIE = r"(?P<name>[^\s=;,]+)=(?P<secret>\\*\"[^\"]*\"|[^;]*?(?=;|,\s*[^\s=;,]+=|\Z))"
COOKIE_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "priority", "version"))

#: A field of a form that is sent in parts (`multipart/form-data`), with the headers it has.
FORM_FIELD = (
    r"(?i)form-data;[^\r\n]*?\bname=\"?(?P<name>[^\"\r\n;]{1,64})\"?[^\r\n]*\r?\n(?:[a-z-]+:[^\r\n]*\r?\n)*"
    r"\r?\n(?P<secret>[\s\S]+?)(?=\r?\n--|\Z)"
)

#: Values that stand for a secret without being one.
NO_SECRET = (
    r"(?i)\s*(?:|\*+|x+|\.+|none|null|nil|true|false|undefined|str|string|bytes|int|bool|optional.*|secretstr|"
    r"required|missing|invalid|expired|redacted|hidden|masked|<.*|\$.*|\{.*|%.*|your[-_ ].*)[.!?]?\s*"
)
#: What this module leaves in a secret's place.
PLACEHOLDER = r"\[redacted:[a-z-]+:[0-9a-f]{4}\]"

#: Environment variables whose values are secrets, and those that only say where one is.
ENVIRONMENT = (
    r"(?i)(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIALS?)(?:$|_)|"
    r"(?:APIKEY|TOKEN|SECRET|PASSWORD)$"
)
ENVIRONMENT_PLACE = (
    r"(?i)_(?:FILE|PATH|DIR|SOCK|URL|URI|HOST|PORT|USER|NAME|ENABLED|TYPE|PROVIDER|TTL|EXPIRY)$"
)
