"""What secrets look like: the formats of real keys, and the names under which they are kept."""

from __future__ import annotations

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
    ("hv[br][.]", r"[A-Za-z0-9_-]{24,}"),
    ("hcp[.]", r"[A-Za-z0-9_-]{30,}"),
    ("dp[.]", r"(?:[psc]t|sa|scim|audit)[.](?:[a-z0-9_-]{2,35}[.])?[A-Za-z0-9]{40,44}(?![A-Za-z0-9])"),
    ("dt0[cs]0[1-9][.]", r"[A-Z0-9]{20,}[.][A-Z0-9]{60,}"),
    ("snyk_uat[.]", r"[a-f0-9]{8}[.][A-Za-z0-9_-]{20,}"),
    ("pat", r"[A-Za-z0-9]{14}[.][a-f0-9]{64}(?![A-Za-z0-9])"),
    ("sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    ("vc[pkiar]_", r"[A-Za-z0-9]{24,}"),
    ("vercel_blob_rw_", r"[A-Za-z0-9_]{20,}"),
    ("nf[pocbu]_", r"[A-Za-z0-9]{36,}"),
    ("cf[ua]t_", r"[A-Za-z0-9]{40,}"),
    ("cfk_", r"[A-Za-z0-9]{40,}"),
    ("apify_api_", r"[A-Za-z0-9]{20,}"),
    ("phx_", r"[A-Za-z0-9_-]{40,}"),
    ("pscale_", r"(?:tkn|pw)_[A-Za-z0-9_-]{30,}"),
    ("napi_", r"[a-z0-9]{60,}"),
    ("rnd_", r"[A-Za-z0-9]{28,}"),
    ("bb_live_", r"[A-Za-z0-9_-]{20,}"),
    ("glc_", r"[A-Za-z0-9]{20,}[A-Za-z0-9+/]{12,}={0,2}"),
    ("rubygems_", r"[a-f0-9]{48}"),
    ("bkua_", r"[a-f0-9]{40}"),
    ("CCIPAT_", r"[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    ("sgp_", r"(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    ("key_", r"[a-f0-9]{64}"),
    ("rpa_", r"[A-Z0-9]{40,}"),
    ("flp_", r"[A-Za-z0-9]{40,}"),
    ("dtn_", r"[a-f0-9]{40,}"),
    ("mdb_sa_sk_", r"[A-Za-z0-9_-]{20,}"),
    ("sq[pua]_", r"[a-f0-9]{40}"),
    ("wandb_v1_", r"[A-Za-z0-9_]{20,}"),
    ("ops_eyJ", r"[A-Za-z0-9_-]{100,}"),
    ("tfp_", r"[A-Za-z0-9_-]{40,}"),
    ("pnu_", r"[A-Za-z0-9]{36,}"),
    ("aio_", r"[A-Za-z0-9]{28}(?![A-Za-z0-9_])"),
    ("re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("fm2_", r"[A-Za-z0-9_-]{20,}[A-Za-z0-9+/=_-]{20,}"),
    ("fo1_", r"[A-Za-z0-9_-]{40,}"),
    ("sk_", r"[A-Za-z0-9]{40,}"),
    ("key-", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("gl[fi]t-", r"[A-Za-z0-9_-]{16,}"),
    ("glimt-", r"[A-Za-z0-9_-]{16,}"),
    ("gl(?:cbt|oas)-", r"[A-Za-z0-9_-]{16,}"),
    ("glsoat-", r"[A-Za-z0-9_-]{16,}"),
    ("glagent-", r"[A-Za-z0-9_-]{20,}"),
    ("xkeysib-", r"[a-f0-9]{40,}-[A-Za-z0-9]{16}"),
    ("xsmtpsib-", r"[a-f0-9]{40,}-[A-Za-z0-9]{16}"),
    ("pat-", r"[a-z]{2}[1-9]-[a-f0-9]{8}-[a-f0-9-]{27}"),
    ("CFPAT-", r"[A-Za-z0-9_-]{40,}"),
    ("tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}"),
    ("HRKU-", r"[A-Za-z0-9_-]{30,}"),
    ("access-", r"(?:production|sandbox)-[a-f0-9]{8}-[a-f0-9-]{27}"),
    ("FLWSECK-", r"[a-f0-9]{32}-X"),
    ("llx-", r"[A-Za-z0-9_-]{40,}"),
    ("sq0atp-", r"[A-Za-z0-9_-]{20,}"),
    ("sq0csp-", r"[A-Za-z0-9_-]{40,}"),
    ("pa-", rf"{_NO_NAME}(?=[A-Za-z_-]*[0-9])(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])"),
    ("m0-", r"[A-Za-z0-9]{40}(?![A-Za-z0-9_-])"),
    ("a[ks]-", r"(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{22}(?![A-Za-z0-9_-])"),
    ("A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{6}-[A-Z0-9]{5}|[A-Z0-9]{11})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9])"),
    ("bedrock-api-key-", r"[A-Za-z0-9_-]{20,}[A-Za-z0-9+/=_-]*"),
    ("ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    ("ATBB", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("ATCTT3", r"[A-Za-z0-9_=-]{20,}"),
    ("AKCp", r"[1-9][A-Za-z0-9]{60,}"),
)
#: Tokens of bots of Discord: in base64 first the number of the bot, each of whose digits is one of ten bytes.
_DIGITS = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]"
_DISCORD = rf"{_word(_DIGITS)}(?:{_DIGITS}){{4}}[A-Za-z0-9]{{3,7}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}}"
#: Told by how they end.
_MAILCHIMP = _word("[a-f0-9]{32}") + r"-us[0-9]{1,2}(?![A-Za-z0-9])"
_TERRAFORM = _word("[A-Za-z0-9]{14}") + r"\.atlasv1\.[A-Za-z0-9_-]{60,}"
_ZHIPU = _word("[a-f0-9]{32}") + r"\.(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{16}(?![A-Za-z0-9_.-])"
#: In base64: `{"type": "service_account"`, as Google's files of keys begin, and `{"auths":` as Docker's do.
_SERVICE_ACCOUNT = (
    rf"(?:{_word('eyJ0eXBlIjo')}|{_word('ewogICJ0eXBlIjo')})"
    r"(?:ic2VydmljZV9hY2NvdW50Ii|gInNlcnZpY2VfYWNjb3VudCI)[A-Za-z0-9+/_-]*={0,2}"
)
_REGISTRIES = rf"(?:{_word('eyJhdXRocyI6')}|{_word('ewoJImF1dGhzIj')})[A-Za-z0-9+/_-]{{16,}}={{0,2}}"
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
#: What the address of a service ends with is all that a sender needs.
_WEBHOOK = (
    r"(?:hooks\.zapier\.com/hooks/catch/|webhook\.office\.com/webhookb2/|/api/webhooks/[0-9]{17,20}/|"
    r"/bot/v2/hook/|/webhook/send\?key=)(?P<secret>[A-Za-z0-9@/_-]{16,})"
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
    ("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{20,})"),
    ("webhook", _WEBHOOK),
    ("discord", _DISCORD),
    ("azure", _word("[A-Za-z0-9_~.-]{3}[0-9]Q~") + r"[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    ("paypal", r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,}\$[a-f0-9]{32}"),
    ("service", rf"{_MAILCHIMP}|{_TERRAFORM}|{_ZHIPU}"),
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
    ("encoded", _REGISTRIES),
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
    ("bearer", rf"(?i){_word('Bearer')}{_BEARER}"),
    # "basic" is a word too: only what decodes to `user:password` is taken
    ("basic", rf"(?i){_word('Basic')}\s+(?P<secret>[A-Za-z0-9+/]{{6,}}={{0,2}})"),
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
    rf"(?P<quote>\\*[\"'])?{_DRESS}(?P<sign>\s*(?:{_TYPED}|=>|->|:=|={{1,3}}|%3[Dd]|:)\s*|\s+){_DRESS}\s*"
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
