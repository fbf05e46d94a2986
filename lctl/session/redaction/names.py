"""The names under which secrets are kept, and how a text says one with its value."""

from __future__ import annotations

_SECRET = """
apikey apikeys xapikey xgoogapikey authorization proxyauthorization xauthorization password passwords passwd
passphrase passcode secret secrets clientsecret secretstring secretkey accesskey secretaccesskey accountkey
sharedaccesskey
accesstoken refreshtoken idtoken sessiontoken securitytoken token privatekey signingkey encryptionkey
masterkey sshkey authkey xauthkey clientkeydata mysqlpwd
cookie cookies setcookie subscriptionkey ocpapimsubscriptionkey
"""
_PLAIN = """
pagetoken nextpagetoken prevpagetoken nexttoken continuationtoken continuetoken synctoken padtoken
eostoken bostoken unktoken septoken clstoken masktoken stoptoken starttoken endtoken imagetoken
specialtoken firsttoken lasttoken maxtoken pertoken costpertoken priceperinputtoken perinputtoken
priceperoutputtoken peroutputtoken timetofirsttoken timeperoutputtoken
"""
#: Of these, `db_pass` and such is a password; `first_pass` is none.
PASS_OF = (
    "db",
    "smtp",
    "mail",
    "email",
    "ssh",
    "become",
    "sudo",
    "admin",
    "ftp",
    "redis",
    "mysql",
    "postgres",
)
#: Names (lower case, without `-`, `_`, `.` and space) whose string values are secrets.
SECRET_NAMES = frozenset(_SECRET.split())
#: Names that end like this are secret too (`slack_bot_token`, `db_password`).
SECRET_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "apikey", "accesskey", "secretkey", "privatekey"),
    *("token", "authorization", "signingkey", "encryptionkey", "accountkey", "subscriptionkey"),
    *("authkey", *(f"{of}pass" for of in PASS_OF)),
)
#: ... but for these, which only say so.
PLAIN_NAMES = frozenset(_PLAIN.split())

#: The last word of a name, in any case, that says in a text that a secret follows: with `=`, `:` or, for
#: options, a space.
NAME = (
    rf"(?:pass(?:word|wd|phrase|code|(?![\w-])(?:{'|'.join(f'(?<={of}_pass)' for of in PASS_OF)}))|"
    r"(?<![A-Za-z])pwd|secret|token|authorization|cookie|client-key-data|(?:api|access|account|"
    r"private|secret|signing|encryption|subscription|master|ssh|auth)[_. -]?key)"
)
# What decorates a name or a value: Markdown, and the colours of terminals.
_DRESS = r"(?:\*\*|__|\x1b\[[0-9;]*m)*"
# A type between a name and its value: `password: str = "..."`, `key: &str = "..."`, `key?: string = "..."`.
_TYPED = r"\??:[ \t]*[&\w.\[\]]+(?:[ \t]*\|[ \t]*\w+)*[ \t]*="
#: What comes between such a name and its value, and the value. Quotes may be escaped any number of times.
VALUE = (
    rf"(?P<quote>\\*[\"'])?{_DRESS}(?P<sign>\s*(?:{_TYPED}|=>|->|:=|={{1,3}}|%3[Dd]|:)\s*(?!\s)|\s+(?!\s)){_DRESS}\s*"
    r"(?:[bBrRfFuU]{1,2}(?=\\*[\"']))?(?P<open>\\*[\"'])?"
    r"(?P<secret>(?(open)[^\"'\\\r\n]+|[^\s\"'\\&;,)}\]]+))"
)
#: The header of cookies in a text. A value ends at its `;`, the last one also at a space.
_COOKIE = r"(?:\\*\"[^\"\r\n]{0,4096}\"|[^;\"'\\\r\n]{0,4096}(?=;)|[^\s;\"'\\]*)"
_COOKIE_NAME = r"[^\s=;,:&\"'\\(){}\[\]<>]+"
COOKIES = (
    # The letters it may begin with first: so it is found twice as fast.
    r"(?i)(?=[sc])(?P<set>set-?)?cookies?[\"'\\]*\s*[:=]\s*[\"'\\]*"
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
#: A member of JSON that is in a URL, however often it was encoded.
_AGAIN = r"%(?:25){0,3}"
ENCODED = (
    rf"22(?P<name>[\w.-]{{1,64}}){_AGAIN}22(?:{_AGAIN}20|\+)*(?::|{_AGAIN}3[Aa])(?:{_AGAIN}20|\+)*{_AGAIN}22"
    rf"(?P<secret>(?:[^\s\"'&%]|%(?!(?:25){{0,3}}(?:22|5[Cc])))+)"
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
