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
# What ends in a letter and yet begins a word: escapes of text that was written again (a newline is `\n`
# there), of URLs (`%3D`), and the colours of terminals.
ESCAPES = (r"\\[nrtfb]", r"\\x[0-9A-Fa-f]{2}", r"\\u[0-9A-Fa-f]{4}", r"%[0-9A-Fa-f]{2}", r"[0-9\[]m")


def _word(beginning: str) -> str:
    """`beginning` (of one length) where a word begins. Its letters stand first: so it is found faster."""
    escaped = "|".join(f"(?<={escape}{beginning})" for escape in ESCAPES)
    return f"{beginning}(?:(?<![A-Za-z0-9]{beginning})|{escaped})"


_BEARER = r"\s+(?P<secret>(?=[A-Za-z._~+/=-]*[0-9]|[A-Za-z0-9._~+/=-]{20})[A-Za-z0-9._~+/=-]{6,})"
# A class of scikit-learn's pages or of a style sheet, such as `sk-estimator-doc-link`.
_NO_NAME = r"(?!(?:[a-z]{1,12}[-_]+)+[a-z]{1,12}(?![A-Za-z0-9_-]))"
#: Keys of services that are told by how they begin: beginning, and what follows it.
_SERVICES = (
    ("lsv2_", r"[a-z]{2}_[A-Za-z0-9_]{12,}"),
    ("nvapi-", r"[A-Za-z0-9_-]{15,}"),
    ("tgp_", r"v1_[A-Za-z0-9_-]{16,}"),
    ("e2b_", r"[a-f0-9]{20,}"),
    ("fc-", r"[a-f0-9]{24,}"),
    ("jina_", r"[A-Za-z0-9]{20,}"),
    ("pcsk_", r"[A-Za-z0-9_]{20,}"),
    ("csk-", r"[a-z0-9]{20,}"),
    ("fw_", r"[A-Za-z0-9]{20,}"),
    ("sk_", r"[a-f0-9]{32,}"),
    ("do[opr]_", r"v1_[a-f0-9]{20,}"),
    ("shp(?:at|ca|pa|ss)_", r"[a-f0-9]{20,}"),
    ("sbp_", r"[a-f0-9]{20,}"),
    ("lin_", r"(?:api|oauth)_[A-Za-z0-9]{16,}"),
    ("ntn_", r"[A-Za-z0-9]{20,}"),
    ("secret_", r"[A-Za-z0-9]{32,}"),
    ("fig[dou]_", r"[A-Za-z0-9_-]{20,}"),
    ("sntry[su]_", r"[A-Za-z0-9_]{16,}[A-Za-z0-9_=+/-]*"),
    ("dckr_", r"[po]at_[A-Za-z0-9_-]{16,}"),
    ("glsa_", r"[A-Za-z0-9]{20,}_[a-f0-9]{8}"),
    ("pylf_", r"v[0-9]_[a-z]{2}_[A-Za-z0-9]{16,}"),
    ("NRAK-", r"[A-Z0-9]{20,}"),
    ("PMAK-", r"[a-f0-9]{20,}-[a-f0-9]{20,}"),
    ("ATATT3", r"[A-Za-z0-9_=-]{20,}"),
    ("AGE-SECRET-KEY-", r"1[A-Z0-9]{20,}"),
    ("dapi", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("hvs[.]", r"[A-Za-z0-9_-]{24,}"),
    ("1//0", r"[A-Za-z0-9_-]{30,}"),
)
#: In base64: `{"type": "service_account"`, as Google's files of keys begin.
_SERVICE_ACCOUNT = (
    rf"(?:{_word('eyJ0eXBlIjo')}|{_word('ewogICJ0eXBlIjo')})"
    r"(?:ic2VydmljZV9hY2NvdW50Ii|gInNlcnZpY2VfYWNjb3VudCI)[A-Za-z0-9+/_-]*={0,2}"
)
# What stands for the password in a command that is shown, or on another line.
_NO_ARGUMENT = r"(?![$<{%*;,)]|\[A-Za-z]|(?i:pass(?:wd|word)?|secret|token|your\S*)(?![\w!@#%]))"
_ARGUMENT = rf"\\*[\"']?{_NO_ARGUMENT}(?P<secret>[^\s\"'\\]+)"
_OPTIONS = r"(?:(?:[^\r\n|;]|\\\r?\n){0,200}?\s)?"
_CURL = (
    rf"(?<![\w-])curl\s{_OPTIONS}(?:-[a-zA-Z]{{0,8}}[uU]|--(?:proxy-)?user)[ =]*"
    rf"\\*[\"']?[^\s:\"'\\$]{{1,64}}:{_ARGUMENT}"
)
_IDENTIFIED = (
    r"(?:(?i:(?:create|alter)\s+user\s[^;]{1,200}?identified by)|IDENTIFIED BY)\s+"
    r"\\*[\"'](?P<secret>[^\"'\\\r\n]+)"
)
#: (kind, pattern). The whole match is the secret, or its group `secret` where there is one. Each, but
#: for those in `WITHOUT_RUN`, has a run of 20 letters, digits, `-` and `_`: `Suspicion` counts on that.
FORMATS: tuple[tuple[str, str], ...] = (
    ("anthropic", _word("sk-ant-") + r"[A-Za-z0-9_-]{13,}"),
    ("openrouter", _word("sk-or-") + r"[A-Za-z0-9_-]{14,}"),
    ("openai", _word("sk-") + _NO_NAME + r"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{17,}"),
    ("stripe", rf"{_word('[sr]k_')}(?:live|test)_[A-Za-z0-9]{{12,}}|{_word('whsec_')}[A-Za-z0-9]{{14,}}"),
    ("google", _word("AIza") + r"[A-Za-z0-9_-]{30,}"),
    ("google", rf"(?:{_word('ya29[.]')}|{_word('GOCSPX-')})[A-Za-z0-9_-]{{20,}}"),
    ("aws", _word("A[KS]IA") + r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github", rf"{_word('gh[pousr]_')}[A-Za-z0-9]{{16,}}|{_word('github_pat_')}[A-Za-z0-9_]{{16,}}"),
    ("gitlab", rf"(?:{_word('glpat-')}|{_word('gl[dr]t-')}|{_word('glptt-')})[A-Za-z0-9_-]{{16,}}"),
    ("slack", rf"(?:{_word('xox[abeoprs]-')}|{_word('xapp-')})[A-Za-z0-9-]{{15,}}"),
    ("slack", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}"),
    ("huggingface", _word("hf_") + r"[A-Za-z0-9]{17,}"),
    ("tavily", _word("tvly-") + r"[A-Za-z0-9-]{16,}"),
    ("groq", _word("gsk_") + r"[A-Za-z0-9]{16,}"),
    ("xai", _word("xai-") + r"[A-Za-z0-9]{20,}"),
    ("perplexity", _word("pplx-") + r"[A-Za-z0-9]{20,}"),
    ("replicate", _word("r8_") + r"[A-Za-z0-9]{20,}"),
    ("npm", _word("npm_") + r"[A-Za-z0-9]{20,}"),
    ("pypi", _word("pypi-") + r"[A-Za-z0-9_-]{20,}"),
    ("sendgrid", _word("SG[.]") + r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    ("jwt", _word("eyJ") + r"[A-Za-z0-9_-]{17,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
    ("service", "|".join(_word(beginning) + rest for beginning, rest in _SERVICES)),
    ("telegram", r"(?<=[0-9]:)AA[A-Za-z0-9_-]{30,}"),
    # What begins with `sk-`, in base64
    ("encoded", r"(?<![A-Za-z0-9+/_-])c2st[A-Za-z0-9_-]{16,}[A-Za-z0-9+/_-]*={0,2}"),
    ("encoded", _SERVICE_ACCOUNT),
    ("curl", _CURL),
    ("mysql", rf"(?<![\w-])mysql(?:dump|admin|sh)?\s+(?=-){_OPTIONS}-p{_ARGUMENT}"),
    ("sshpass", rf"(?<![\w-])sshpass -p *{_ARGUMENT}"),
    ("identified", _IDENTIFIED),
    ("signature", r"(?i)[?&](?:sig|x-amz-signature|x-amz-security-token)=(?P<secret>[^\s&\"'\\]{20,})"),
    (
        "private-key",
        _PRIVATE_KEY,
    ),
    ("url-password", _URL_PASSWORD),
    ("authorization", _AUTHORIZATION),
    ("bearer", rf"(?i){_word('Bearer')}{_BEARER}"),
    # "basic" is a word too: only what decodes to `user:password` is taken
    ("basic", rf"(?i){_word('Basic')}\s+(?P<secret>[A-Za-z0-9+/]{{6,}}={{0,2}})"),
)

#: Kinds that need no such run, and what is in each of them, in lower case.
WITHOUT_RUN = {
    "slack": "hooks.slack.com/services/",
    "curl": "curl ",
    "mysql": "mysql",
    "sshpass": "sshpass -p",
    "identified": "identified by",
    "signature": "=",
    "private-key": "private key",
    "url-password": "://",
    "authorization": "authorization",
    "bearer": "bearer",
    "basic": "basic",
}

_SECRET = """
apikey apikeys xapikey xgoogapikey authorization proxyauthorization xauthorization password passwords passwd
passphrase passcode secret secrets clientsecret secretstring secretkey accesskey secretaccesskey accountkey
sharedaccesskey
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
# What decorates a name or a value: Markdown, and the colours of terminals.
_DRESS = r"(?:\*\*|__|\x1b\[[0-9;]*m)*"
# A type between a name and its value: `password: str = "..."`, `key: &str = "..."`, `key?: string = "..."`.
_TYPED = r"\??:[ \t]*[&\w.\[\]]+(?:[ \t]*\|[ \t]*\w+)*[ \t]*="
#: What comes between such a name and its value, and the value. Quotes may be escaped any number of times.
VALUE = (
    rf"(?P<quote>\\*[\"'])?{_DRESS}(?P<sign>\s*(?:{_TYPED}|=>|->|:=|={{1,3}}|%3[Dd]|:)\s*|\s+){_DRESS}\s*"
    r"(?:[bBrRfFuU]{1,2}(?=\\*[\"']))?(?P<open>\\*[\"'])?"
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

#: An element of XML with nothing but a word in it.
ELEMENT = r"<(?P<name>[\w:.-]{1,64})(?:\s[^<>]*)?>(?P<secret>[^<>\s]{4,})(?=</)"

#: Attributes that say a name and its value: `<add key="ApiKey" value="..."/>`, `<input name="password" ...>`.
_BESIDE = r"(?:\s+[\w:-]{1,32}=\\*[\"'][^\"'\\<>]{0,64}\\*[\"']){0,3}"
ATTRIBUTES = (
    r"\b(?:key|name|id)=\\*[\"'](?P<name>[^\"'\\<>]{1,64})\\*[\"']"
    rf"{_BESIDE}\s+value=\\*[\"'](?P<secret>[^\"'\\<>\r\n]{{4,}})"
)
#: A row of two cells in a table of Markdown.
ROW = (
    r"(?m)^[ \t]*\|[ \t*`_]*(?P<name>[A-Za-z][\w .-]{1,63}?)[ \t*`_]*\|[ \t*`]*(?P<secret>[^\s|*`]{6,})"
    r"[ \t*`]*\|[ \t]*\r?$"
)

#: Values that stand for a secret without being one.
NO_SECRET = (
    r"(?i)\s*(?:|\*+|x+|\.+|none|null|nil|true|false|undefined|str|string|bytes|int|bool|optional.*|secretstr|"
    r"required|missing|invalid|expired|redacted|hidden|masked|<.*|\$.*|\{.*|%.*|(?:sk-)?(?:your|my)[-_ ].*|"
    r"[\w-]{0,12}(?:\.{3}|\u2026))[.!?]?\s*"
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
