"""Keys and tokens that are told by their letters: how they begin, how they end."""

from __future__ import annotations

# What ends in a letter and yet begins a word: escapes of text that was written again (a newline is `\n`
# there), of URLs (`%3D`), and the colours of terminals.
ESCAPES = (r"\\[nrtfb]", r"\\x[0-9A-Fa-f]{2}", r"\\u[0-9A-Fa-f]{4}", r"%[0-9A-Fa-f]{2}", r"[0-9\[]m")


def word(beginning: str) -> str:
    """`beginning` (of one length) where a word begins. Its letters stand first: so it is found faster."""
    escaped = "|".join(f"(?<={escape}{beginning})" for escape in ESCAPES)
    return f"{beginning}(?:(?<![A-Za-z0-9]{beginning})|{escaped})"


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
_DISCORD = rf"{word(_DIGITS)}(?:{_DIGITS}){{4}}[A-Za-z0-9]{{3,7}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}}"
#: Told by how they end.
_MAILCHIMP = word("[a-f0-9]{32}") + r"-us[0-9]{1,2}(?![A-Za-z0-9])"
_TERRAFORM = word("[A-Za-z0-9]{14}") + r"\.atlasv1\.[A-Za-z0-9_-]{60,}"
_ZHIPU = word("[a-f0-9]{32}") + r"\.(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{16}(?![A-Za-z0-9_.-])"
#: In base64: `{"type": "service_account"`, as Google's files of keys begin, and `{"auths":` as Docker's do.
_SERVICE_ACCOUNT = (
    rf"(?:{word('eyJ0eXBlIjo')}|{word('ewogICJ0eXBlIjo')})"
    r"(?:ic2VydmljZV9hY2NvdW50Ii|gInNlcnZpY2VfYWNjb3VudCI)[A-Za-z0-9+/_-]*={0,2}"
)
_REGISTRIES = rf"(?:{word('eyJhdXRocyI6')}|{word('ewoJImF1dGhzIj')})[A-Za-z0-9+/_-]{{16,}}={{0,2}}"
#: What the address of a service ends with is all that a sender needs.
_WEBHOOK = (
    r"(?:hooks\.zapier\.com/hooks/catch/|webhook\.office\.com/webhookb2/|/api/webhooks/[0-9]{17,20}/|"
    r"/bot/v2/hook/|/webhook/send\?key=)(?P<secret>[A-Za-z0-9@/_-]{16,})"
)
#: (kind, pattern), as in `formats.FORMATS`.
TOKENS: tuple[tuple[str, str], ...] = (
    ("anthropic", word("sk-ant-") + r"[A-Za-z0-9_-]{13,}"),
    ("openrouter", word("sk-or-") + r"[A-Za-z0-9_-]{14,}"),
    ("openai", word("sk-") + _NO_NAME + r"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{17,}"),
    ("stripe", rf"{word('[sr]k_')}(?:live|test)_[A-Za-z0-9]{{12,}}|{word('whsec_')}[A-Za-z0-9]{{14,}}"),
    ("google", word("AIza") + r"[A-Za-z0-9_-]{30,}"),
    ("google", rf"(?:{word('ya29[.]')}|{word('GOCSPX-')})[A-Za-z0-9_-]{{20,}}"),
    ("aws", word("A[KS]IA") + r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github", rf"{word('gh[pousr]_')}[A-Za-z0-9]{{16,}}|{word('github_pat_')}[A-Za-z0-9_]{{16,}}"),
    ("gitlab", rf"(?:{word('glpat-')}|{word('gl[dr]t-')}|{word('glptt-')})[A-Za-z0-9_-]{{16,}}"),
    ("slack", rf"(?:{word('xox[abeoprs]-')}|{word('xapp-')})[A-Za-z0-9-]{{15,}}"),
    ("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{20,})"),
    ("webhook", _WEBHOOK),
    ("discord", _DISCORD),
    ("azure", word("[A-Za-z0-9_~.-]{3}[0-9]Q~") + r"[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    ("paypal", r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,}\$[a-f0-9]{32}"),
    ("service", rf"{_MAILCHIMP}|{_TERRAFORM}|{_ZHIPU}"),
    ("huggingface", word("hf_") + r"[A-Za-z0-9]{17,}"),
    ("tavily", word("tvly-") + r"[A-Za-z0-9-]{16,}"),
    ("groq", word("gsk_") + r"[A-Za-z0-9]{16,}"),
    ("xai", word("xai-") + r"[A-Za-z0-9]{20,}"),
    ("perplexity", word("pplx-") + r"[A-Za-z0-9]{20,}"),
    ("replicate", word("r8_") + r"[A-Za-z0-9]{20,}"),
    ("npm", word("npm_") + r"[A-Za-z0-9]{20,}"),
    ("pypi", word("pypi-") + r"[A-Za-z0-9_-]{20,}"),
    ("sendgrid", word("SG[.]") + r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    ("jwt", word("eyJ") + r"[A-Za-z0-9_-]{17,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
    ("service", "|".join(word(beginning) + rest for beginning, rest in _SERVICES)),
    ("telegram", r"(?<=[0-9]:)AA[A-Za-z0-9_-]{30,}"),
    # What begins with `sk-`, in base64
    ("encoded", r"(?<![A-Za-z0-9+/_-])c2st[A-Za-z0-9_-]{16,}[A-Za-z0-9+/_-]*={0,2}"),
    ("encoded", _SERVICE_ACCOUNT),
    ("encoded", _REGISTRIES),
)
