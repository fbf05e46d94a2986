"""What stands in each secret, or beside it, and hardly elsewhere: words, and how keys begin.

Every form of `formats` and `names` must be met by one of these, in lower case where the line is given so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_KEYS = (
    "api",
    "access",
    "account",
    "private",
    "secret",
    "signing",
    "encryption",
    "subscription",
    "master",
    "ssh",
    "auth",
)
# `re` runs to a literal first letter faster than to any other start; what stands before it is looked back at.
KEY = re.compile(
    "k(?:ey(?:"
    + "|".join(f"(?<={name}key)|(?<={name}.key)" for name in _KEYS)
    + "|-(?<=client-key-)data|-(?<=user-key-)file)|en(?<=token)(?!s)|ie(?<=cookie)|er login|"
    "s(?:\\.(?<=hooks\\.)(?:slack|zapier)|/(?<=/webhooks/)[0-9])|b2/(?<=/webhookb2/)|"
    "/(?:(?<=/v2/hook/)|(?<=/webhook/)send))"
).search
PASSWORD = re.compile(r"pass(?:w(?:or)?d|phrase|code|:| -p|(?<=_pass)|(?<=pgpass))").search

#: Letters, digits and `-_%` become `a`, so that a key is a run of twenty.
RUNS = bytes(97 if n < 128 and (chr(n).isalnum() or chr(n) in "-_%") else 32 for n in range(256))
RUN = b"a" * 20
#: No word of those here has more bytes than a run has that makes a key.
REACH = len(RUN)


def _behind(sign: str, rest: int, beginnings: Mapping[str, str]) -> Callable[..., object]:
    """Finds what keys that are one run begin with: it ends with `sign`, and `rest` more of the run follow.

    The letter before is looked at first: nearly every word, and a line of hyphens, stops there; and only the
    beginnings that end with it are tried.
    """
    tried = "|".join(f"(?<=[{letters}]{sign})(?:{words})" for letters, words in beginnings.items())
    return re.compile(f"{sign}(?<=[{''.join(beginnings)}]{sign})(?=[0-9a-z_-]{{{rest}}})(?:{tried})").search


_UNDERSCORE = _behind(
    "_",
    14,
    {
        "t": r"(?<=cf[ua]t_)|(?<=ccipat_)|(?<=github_pat_)|(?<=shpat_)|(?<=sb_secret_)|(?<=dckr_[po]at_)",
        "p": r"(?<=ghp_)|(?<=tgp_)v1_|(?<=dop_)v1_|(?<=sbp_)|(?<=vcp_)|(?<=nfp_)|(?<=sgp_)|"
        r"(?<=flp_)|(?<=sqp_)|(?<=tfp_)",
        "o": r"(?<=gh[o]_)|(?<=doo_)v1_|(?<=figo_)|(?<=nfo_)|(?<=aio_)[0-9a-z]{14}",
        "u": r"(?<=ghu_)|(?<=figu_)|(?<=sntryu_)|(?<=nfu_)|(?<=squ_)[0-9a-f]{14}|(?<=pnu_)[0-9a-z]{14}",
        "s": r"(?<=ghs_)|(?<=shpss_)|(?<=sntrys_)|(?<=rubygems_)[0-9a-f]{14}|(?<=ops_)eyj",
        "r": r"(?<=ghr_)|(?<=dor_)v1_|(?<=vcr_)",
        "f": r"(?<=hf_)|(?<=pylf_)v[0-9]_",
        "k": r"(?<=gsk_)|(?<=[sr]k_)(?:live|test)_|(?<=pcsk_)|(?<=sk_)[0-9a-z]{14}|(?<=vck_)|(?<=cfk_)|"
        r"(?<=mdb_sa_sk_)",
        "m": r"(?<=npm_)",
        "8": r"(?<=r8_)",
        "c": r"(?<=whsec_)|(?<=nfc_)|(?<=glc_)",
        "2": r"(?<=lsv2_)|(?<=fm2_)",
        "1": r"(?<=fo1_)",
        "b": r"(?<=e2b_)|(?<=nfb_)|(?<=bb_)live_|(?<=wandb_)v1_",
        "a": r"(?<=jina_)|(?<=shp[cp]a_)|(?<=glsa_)|(?<=vca_)|(?<=bkua_)|(?<=rpa_)[0-9a-z]{14}|(?<=sqa_)",
        "w": r"(?<=fw_)|(?<=vercel_blob_rw_)|(?<=pscale_pw_)",
        "n": r"(?<=lin_)(?:api|oauth)_|(?<=ntn_)|(?<=dtn_)[0-9a-f]{14}|(?<=pscale_tkn_)",
        "d": r"(?<=figd_)|(?<=rnd_)",
        "i": r"(?<=vci_)|(?<=apify_api_)|(?<=napi_)[0-9a-z]{14}|(?<=lin_api_)",
        "x": r"(?<=phx_)",
        "y": r"(?<=key_)[0-9a-f]{14}",
        "e": r"(?<=re_)[0-9a-z]{8}_",
    },
)
_HYPHEN = _behind(
    "-",
    15,
    {
        "k": r"(?<=sk-)|(?<=csk-)|(?<=nrak-)|(?<=pmak-)|(?<=flwseck-)|(?<=ak-)[0-9a-z]{15}",
        "t": r"(?<=gl[drfi]t-)|(?<=glpat-)|(?<=glptt-)|(?<=xoxt-)|(?<=glcbt-)|(?<=glsoat-)|(?<=glimt-)|"
        r"(?<=glagent-)|(?<=pat-)[a-z]{2}[1-9]-|(?<=cfpat-)",
        "xabeor": r"(?<=xox[abeor]-)|(?<=pplx-)|(?<=gocspx-)|(?<=llx-)|(?<=sib-)[0-9a-f]{15}|(?<=pa-)",
        "p": r"(?<=xoxp-)|(?<=xapp-)|(?<=sq0(?:at|cs)p-)",
        "s": r"(?<=xoxs-)|(?<=gloas-)|(?<=access-)(?:production|sandbox)-|(?<=as-)[0-9a-z]{15}",
        "y": r"(?<=tvly-)|(?<=key-)(?:[0-9a-f]{15}|[a-z]{3,10}-[0-9a-z]{8})|(?<=bedrock-api-key-)",
        "i": r"(?<=xai-)|(?<=pypi-)|(?<=nvapi-)",
        "c": r"(?<=fc-)",
        "u": r"(?<=hrku-)",
        "03": r"(?<=m0-)[0-9a-z]{15}|(?<=a3-)[0-9a-z]{6}-",
    },
)
_MAILCHIMP = re.compile(r"-us(?<=[0-9a-f]{32}-us)[0-9]").search
_SENDGRID, _JWT = (
    re.compile(rb"G\.(?<=SG\.)").search,
    re.compile(rb"J(?:(?<=eyJ)|(?<=ewogICJ)0eXBlIjo|(?<=ewoJ)ImF1dGhz)").search,
)
_CLOUDS = re.compile(rb"A(?:Iza|KIA|SIA|T(?:[AC]TT3|BB)|A(?<=[0-9]:AA)|BSK|KCp)").search
_DOT = re.compile(
    r"\.(?=[0-9a-z_-]{2})(?:(?<=ya29\.)|(?<=hv[sbr]\.)|(?<=hcp\.)|(?<=dp\.)(?:[psc]t|sa|scim|audit)\.|(?<=dt0[cs]0[1-9]\.)|"
    r"(?<=snyk_uat\.)|atlasv1\.|[0-9a-z_-]{6}\.[0-9a-z_-]{20}|[0-9a-z]{16}(?<=[0-9a-f]{32}\.[0-9a-z]{16})|"
    r"[0-9a-f]{20}(?<=[0-9a-z]{17}\.[0-9a-f]{20}))"
).search
# No longer name: no letter stands between it and its value.
_AUTH = re.compile(r"auth(?![0-9a-z])").search
_A, _G, _J = b"AGJ"  # `in` finds a number in bytes five times as fast as bytes of one


def has_signature(lowered: str) -> bool:
    """Words, as no text is slow to search for them: a pattern stops at each of an address's many `=`."""
    return "sig=" in lowered or "signature=" in lowered


def has_key(text: str) -> bool:
    """Whether a text may have a key that is told by how it is written; see `has_key_from`."""
    line = text.encode("utf-8", "replace")
    runs = line.translate(RUNS)
    at = runs.find(RUN)
    return at >= 0 and has_key_from(line, line.lower().decode("latin-1"), runs, at)


def has_key_from(line: bytes, lowered: str, runs: bytes, at: int) -> bool:
    """Whether one of the long runs of key characters, the first of which begins at `at`, may be a key."""
    while at >= 0:
        end = runs.find(b" ", at)
        if end < 0:
            end = len(runs)
        # A hash of ours is not worth a look: every request has one.
        if not (
            end - at == 64
            and lowered.startswith('"sha256:', at - 8)
            and not line[at:end].strip(b"0123456789abcdef")
        ):
            return (
                ("_" in lowered and _UNDERSCORE(lowered, at) is not None)
                or (
                    "-" in lowered
                    and (_HYPHEN(lowered, at) is not None or _MAILCHIMP(lowered, at) is not None)
                )
                or _introduced(line, lowered)
            )
        at = runs.find(RUN, end)
    return False


def _introduced(line: bytes, lowered: str) -> bool:
    """Whether a line with a long run of key characters has what stands before keys, if not in the run, or
    how those begin that are written in one way only. What needs a `=` was met before."""
    return (
        (_A in line and _CLOUDS(line) is not None)
        or (_J in line and _JWT(line) is not None)
        or (_G in line and _SENDGRID(line) is not None)
        or b"c2st" in line
        or _DOT(lowered) is not None
        or "dapi" in lowered
        or ("auth" in lowered and _AUTH(lowered) is not None)
        or "1//0" in lowered
        or "basic " in lowered
    )
