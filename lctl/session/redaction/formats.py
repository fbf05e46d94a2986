"""What secrets look like: keys by their letters, and passwords by what stands around them."""

from __future__ import annotations

from lctl.session.redaction.tokens import TOKENS, word

# Some tools put a space in place of the fifth hyphen.
_PRIVATE_KEY = (
    r"----[- ]BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?[- ]----"
    r"(?P<secret>[\s\S]*?)(?=----[- ]END [A-Z0-9 ]*PRIVATE KEY|\Z)"
)
_PUTTY_KEY = r"PuTTY-User-Key-File-\d[\s\S]{1,4096}?Private-Lines: \d+(?P<secret>[\s\S]+?)(?=Private-MAC|\Z)"
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
# A token in the place of a user.
_URL_TOKEN = r"(?<=://)(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{20,}(?=@[\w.\[-])"
_SCHEMES = r"token|api-?key|bot|oauth|negotiate|ntlm|dpop|key|geniekey|ssws"
_AUTHORIZATION = (
    rf"(?i)authorization[\"'\\]*\s*(?:=>|[=:])\s*[\"'\\]*"
    rf"(?:(?:{_SCHEMES})\s+(?=[a-z._~+/=:-]*[0-9]|[a-z0-9._~+/=:-]{{20}})|"
    r"[a-z][a-z0-9-]*\s+(?=[a-z._~+/=:-]*[0-9])(?=[a-z0-9._~+/=:-]{16}))"
    r"(?P<secret>[a-z0-9._~+/=:-]{6,})"
)
_BEARER = r"\s+(?P<secret>(?=[A-Za-z._~+/=-]*[0-9]|[A-Za-z0-9._~+/=-]{20})[A-Za-z0-9._~+/=-]{6,})"
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
_ORACLE = (
    r"(?i)(?:(?<![\w-])sqlplus\s+(?:-\w+\s+){0,4}|jdbc:oracle:\w+:)\\*[\"']?"
    rf"[\w$#.-]{{1,64}}/{_NO_ARGUMENT}(?P<secret>[^\s@\"'\\]+)@"
)
_CHPASSWD = (
    rf"echo (?:-e )?\\*[\"']?[\w.-]{{1,64}}:{_NO_ARGUMENT}(?P<secret>[^\s\"'\\$|]+)\\*[\"']?\s*\|\s*"
    r"(?:sudo )?chpasswd"
)
_PGPASS = (
    r"(?<![\w.*:-])[\w.*-]{1,253}:(?:5432|\*):[\w*-]{1,63}:[A-Za-z_][\w.-]{0,62}:"
    r"(?P<secret>[^\s:\"'\\*]+)(?![:*])"
)
# Said in a sentence: only what no word of one looks like, be it the name of a method.
_METHOD = (
    r"(?!(?:sha|md|base|utf|argon|pbkdf|oauth|aes|rsa|rot|x|b|s)-?[0-9]|s?crypt|bcrypt|https?:|[0-9]+[-+])"
)
_SAID = (
    r"(?i)\bpass(?:word|code|phrase)(?: (?:for|of|to) [\w.@-]{1,40})? (?:is|was)(?: now| still| set to)?:? "
    rf"(?:\\*[\"'`])?{_METHOD}"
    r"(?P<secret>(?=[^\s\"'`]*[a-z])(?=[^\s\"'`]*[0-9])[a-z0-9!@#$%^&*_.+?-]{6,64})"
)
#: (kind, pattern). The whole match is the secret, or its group `secret` where there is one. Each, but
#: for those in `WITHOUT_RUN`, has a run of 20 letters, digits, `-` and `_`: `Suspicion` counts on that.
FORMATS: tuple[tuple[str, str], ...] = (
    *TOKENS,
    ("curl", _CURL),
    ("mysql", rf"(?<![\w-])mysql(?:dump|admin|sh)?\s+(?=-){_OPTIONS}-p{_ARGUMENT}"),
    ("sshpass", rf"(?<![\w-])sshpass -p *{_ARGUMENT}"),
    ("openssl", rf"(?<![\w-])-pass(?:in|out)?\s+pass:{_ARGUMENT}"),
    ("docker", rf"(?<![\w-])docker login\s{_OPTIONS}-p[ =]*{_ARGUMENT}"),
    ("chpasswd", _CHPASSWD),
    ("oracle", _ORACLE),
    ("pgpass", _PGPASS),
    ("said", _SAID),
    ("identified", _IDENTIFIED),
    ("signature", r"(?i)[?&](?:sig|x-amz-signature|x-amz-security-token)=(?P<secret>[^\s&\"'\\]{20,})"),
    (
        "private-key",
        _PRIVATE_KEY,
    ),
    ("putty", _PUTTY_KEY),
    ("url-password", _URL_PASSWORD),
    ("url-token", _URL_TOKEN),
    ("authorization", _AUTHORIZATION),
    ("bearer", rf"(?i){word('Bearer')}{_BEARER}"),
    # "basic" is a word too: only what decodes to `user:password` is taken
    ("basic", rf"(?i){word('Basic')}\s+(?P<secret>[A-Za-z0-9+/]{{6,}}={{0,2}})"),
    # The same as Docker and npm keep it
    (
        "auth",
        (
            r"(?<![A-Za-z])auth[\"'\\]*\s*[:=]\s*[\"'\\]*(?P<secret>[A-Za-z0-9]{20,}[A-Za-z0-9+/]*={0,2})"
            r"(?![A-Za-z0-9+/=(._])"
        ),
    ),
)

#: Kinds that may be without such a run, and words one of which is in each of them, in lower case.
WITHOUT_RUN = {
    "slack": ("hooks.slack.com/", "xox", "xapp-"),
    "webhook": ("hook",),
    "azure": ("q~",),
    "paypal": ("access_token$",),
    "openssl": ("pass:",),
    "docker": ("docker login",),
    "chpasswd": ("chpasswd",),
    "oracle": ("sqlplus", "jdbc:oracle:"),
    "pgpass": (":5432:", ":*:"),
    "said": ("pass",),
    "putty": ("putty-user",),
    "url-token": ("@",),
    "curl": ("curl",),
    "mysql": ("mysql",),
    "sshpass": ("sshpass -p",),
    "identified": ("identified by",),
    "signature": ("sig=", "x-amz-signature=", "x-amz-security-token="),
    "private-key": ("private key",),
    "url-password": ("@",),
    "authorization": ("authorization",),
    "bearer": ("bearer",),
    "basic": ("basic",),
}
