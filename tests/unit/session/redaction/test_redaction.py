"""Secrets stay out of the log, wherever they are; everything else stays in."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lctl.session import LCTLSession, Redactor
from tests.unit.session.redaction.samples import SECRETS, chars

Events = Callable[[LCTLSession], list[dict[str, Any]]]


def _dressed(kind: str, secret: str) -> str:
    if kind == "private-key":
        return f"-----BEGIN RSA PRIVATE KEY-----\n{secret}\n-----END RSA PRIVATE KEY-----"
    return secret


def _positions(secret: str) -> list[Any]:
    """One secret in every place it might be."""
    inner = json.dumps({"arguments": {"q": f"use {secret} now", "n": 1}})
    return [
        secret,
        f"my key is {secret}, keep it",
        f"({secret})",
        f'"{secret}"',
        f"X={secret}\nY=1",
        [1, [secret]],
        {"a": {"b": [{"c": secret}]}},
        {secret: "as a key"},
        inner,
        json.dumps({"arguments": inner}),
        f"data: {inner}\n\n",
        {"url": f"https://example.com/?q={secret}&x=1"},
        {"headers": [["x-anything", secret]]},
        {"chunks": [[0, "data: "], [3, f'{{"text": "{secret}"}}']]},
        f"{'lorem ipsum ' * 500}{secret}{' dolor sit' * 500}",
    ]


def _parts(secret: str) -> list[str]:
    """What must not be found in a log: the secret, and each line of it."""
    return [part for part in secret.split("\n") if part]


@pytest.mark.parametrize("kind", SECRETS)
def test_known_formats_in_every_position(session: LCTLSession, kind: str) -> None:
    """Not one byte of them in the file, and every event still there."""
    for value in _positions(_dressed(kind, SECRETS[kind])):
        assert session.emit("t", {"value": value})
    session.step_start(_dressed(kind, SECRETS[kind]), SECRETS[kind] if "\n" not in SECRETS[kind] else "x")
    session.close()
    content = session.path.read_text()
    for part in _parts(SECRETS[kind]):
        assert part not in content
        assert part not in content.replace("\\", "")
    assert len(json.loads(content)["events"]) >= len(_positions(""))


NAMED = """
api_key apikey apiKey API-KEY x-api-key X-Goog-Api-Key authorization Authorization
Proxy-Authorization password db_password passwd secret client_secret clientSecret access_token
accessToken refresh_token id_token token slack_bot_token private_key cookie set-cookie Set-Cookie
aws_secret_access_key session_token passphrase account_key signing_key
"""


@pytest.mark.parametrize("name", NAMED.split())
def test_values_under_secret_names(session: LCTLSession, events: Events, name: str) -> None:
    """In objects, header lists, name/value pairs, JSON in strings, and text; the structure stays."""
    secret = "hunter2-" + chars(6)
    values: list[Any] = [
        {name: secret},
        {"outer": {name: secret, "n": 1}},
        {name: [secret, secret]},
        [[name, secret], ["accept", "*/*"]],
        {"headers": [{"name": name, "value": secret}]},
        json.dumps({name: secret, "n": [1]}),
        json.dumps({"arguments": json.dumps({name: secret})}),
        f"{name}={secret}",
        f'{name}: "{secret}"',
        f"https://example.com/x?a=1&{name}={secret}&b=2",
        f"data: {json.dumps({name: secret})}",
    ]
    for value in values:
        session.emit("t", {"value": value})
    recorded = [e["data"]["value"] for e in events(session)]
    assert secret not in session.path.read_text()
    placeholder = recorded[0][name]
    assert re.fullmatch(r"\[redacted:[a-z-]+:[0-9a-f]{4}\]", placeholder)
    assert recorded[1] == {"outer": {name: placeholder, "n": 1}}
    assert recorded[2] == {name: [placeholder, placeholder]}
    assert recorded[3] == [[name, placeholder], ["accept", "*/*"]]
    assert json.loads(recorded[5]) == {name: placeholder, "n": [1]}
    assert recorded[9].startswith("https://example.com/x?a=1&") and recorded[9].endswith("&b=2")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc123def456", "abc123def456"),
        ("curl -H 'Authorization: Bearer {secret}'", chars(40)),
        ("Bearer {secret}", chars(30)),
        ("Basic " + base64.b64encode(b"user:letmein!").decode(), base64.b64encode(b"user:letmein!").decode()),
        ("postgres://admin:s3cr3t-pw@db.example.com:5432/x", "s3cr3t-pw"),
        ("redis://:pw12345@localhost/0", "pw12345"),
        ("https://user:pa55@example.com/", "pa55"),
        ("Server=db;Uid=sa;Pwd=hunter22;", "hunter22"),
        ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={secret}==;", chars(86)),
        ("mysql --password hunter22 -u root", "hunter22"),
        ("deploy --api-key={secret}", "k" + chars(12)),
        ("export DB_PASSWORD=correcthorse", "correcthorse"),
        ("https://e.com/?token=correcthorse for more", "correcthorse"),
        ("token = hunter22 for more", "hunter22"),
        ("password: correcthorse", "correcthorse"),
        ("AWS_SECRET_ACCESS_KEY={secret}", chars(40)),
        ("https://x.blob.core.windows.net/c?sv=1&sig={secret}", chars(43)),
        ("**Password:** correcthorse1", "correcthorse1"),
        ("**API Key**: `{secret}`", "k" + chars(12)),
        ("\x1b[1mpassword\x1b[0m: correcthorse", "correcthorse"),
        ("password -> correcthorse1", "correcthorse1"),
        ('password: str = "correcthorse"', "correcthorse"),
        ('let api_key: &str = "{secret}";', "k" + chars(12)),
        ('apiKey := "correcthorse"', "correcthorse"),
        ("client(password=b'correcthorse')", "correcthorse"),
        ('if password == "correcthorse":', "correcthorse"),
        ("CREATE USER bob WITH PASSWORD 'correcthorse'", "correcthorse"),
        ("<server><username>bob</username><password>correcthorse</password></server>", "correcthorse"),
        ("https://e.com/?to=https%3A%2F%2Fother.com%2F%3Fapi_key%3D{secret}", "kixdTUzAZxpwC"),
        ("ENV API_KEY {secret}", "k" + chars(12)),
        ("machine example.com login bob password correcthorse", "correcthorse"),
        ("curl -u admin:correcthorse https://e.com/api", "correcthorse"),
        ("curl\t-u admin:correcthorse https://e.com/api", "correcthorse"),
        ("curl -X POST \\\n  -su admin:correcthorse \\\n https://e.com/api", "correcthorse"),
        ("curl -s --user 'bob:corr3cthorse' -X POST https://e.com", "corr3cthorse"),
        ("mysql -u root -pcorrecthorse shop", "correcthorse"),
        ("mysqldump -h db -p'correcthorse' shop > out.sql", "correcthorse"),
        ("sshpass -p correcthorse ssh bob@example.com", "correcthorse"),
        ("CREATE USER bob IDENTIFIED BY 'correct horse'", "correct horse"),
        ("alter user 'bob'@'%' identified by \"correcthorse\";", "correcthorse"),
        ('<add key="ApiKey" value="correct9horse"/>', "correct9horse"),
        ('<input name="password" type="hidden" value="correct9horse">', "correct9horse"),
        ("| Name | Value |\n|---|---|\n| **Password** | `correct9horse` |\n", "correct9horse"),
        ("https://discord.com/api/webhooks/1234567890123456789/{secret}", chars(68)),
        ("https://hooks.slack.com/triggers/T0{secret}", chars(12) + "/1234567890123/" + chars(24)),
        ("https://e.webhook.office.com/webhookb2/{secret}", chars(36) + "@" + chars(36)),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/{secret}", chars(36)),
        ("sqlplus -S scott/corr3cthorse@orcl", "corr3cthorse"),
        ("jdbc:oracle:thin:scott/corr3cthorse@//db.example.com:1521/x", "corr3cthorse"),
        ("My password is corr3cthorse, thanks", "corr3cthorse"),
        ("The password for bob@example.com was 'corr3ct!horse'.", "corr3ct!horse"),
        ("X-Auth-Key: {secret}", chars(37, "0123456789abcdef")),
        ("DB_PASS=correcthorse", "correcthorse"),
        ("MYSQL_PWD=correcthorse mysqladmin", "correcthorse"),
        ("ansible_become_pass: correcthorse", "correcthorse"),
        ("openssl rsa -passin pass:correcthorse", "correcthorse"),
        ("docker login -u bob -p correcthorse e.com", "correcthorse"),
        ("echo 'root:correcthorse' | sudo chpasswd", "correcthorse"),
        ("cat ~/.pgpass\ndb.example.com:5432:shop:bob:correcthorse", "correcthorse"),
        ("machine e.com\nlogin bob\naccount x\npassword correcthorse", "correcthorse"),
        ("    client-key-data: {secret}\n", chars(64)),
        ("//e.com/:_auth={secret}", base64.b64encode(b"bob:correcthorse9").decode()),
        ("https://{secret}@github.com/a/b.git", "x9" + chars(38)),
        ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{secret}\n---- END SSH2", chars(64)),
        ("PuTTY-User-Key-File-3: x\nPrivate-Lines: 1\n{secret}\nPrivate-MAC: 1", chars(64)),
        ("telegram.org/bot{secret}/getMe", "123456789:AA" + chars(33)),
    ],
)
def test_secrets_in_text(session: LCTLSession, text: str, secret: str) -> None:
    """Headers, URLs, connection strings, command lines."""
    assert session.emit("t", {"value": text.replace("{secret}", secret)})
    assert secret not in session.path.read_text()


#: What may stand right before a word, and ends in a letter or a digit.
ESCAPES = {
    "newline": "key:\\n",
    "tab": "\\t",
    "again": "\\\\n",
    "equals": "%3D",
    "ampersand": "\\u0026",
    "colour": "\x1b[32m",
}


@pytest.mark.parametrize("before", ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize("kind", sorted(SECRETS.keys() - {"private-key", "base64"}))
def test_secrets_behind_an_escape(session: LCTLSession, kind: str, before: str) -> None:
    """In text that holds JSON, an address in an address, or what a terminal shows."""
    assert session.emit("t", {"value": f'Result: {{"content": "{before}{SECRETS[kind]}"}} was given'})
    assert session.emit("t", {"value": f"Result: {before}Bearer {SECRETS[kind]}"})
    assert SECRETS[kind][-12:] not in session.path.read_text()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (
            {"cmd": ["deploy", "--api-key", "{secret}", "--region", "eu"]},
            ["deploy", "--api-key", "--region", "eu"],
        ),
        ({"passwords": ["{secret}"], "n": ["a"]}, ["passwords", "a"]),
        ({"SecretString": "{secret}", "Name": "db"}, ["SecretString", "db"]),
        ({"secret": {"value": "{secret}", "type": "a"}, "n": "b"}, ["secret", "value", "a", "b"]),
        ({"password": {"data": "{secret}"}, "value": "a"}, ["password", "data", "a"]),
    ],
)
def test_secrets_in_values(session: LCTLSession, value: Any, kept: list[str]) -> None:
    """Words of a command line, several under one name, what AWS keeps."""
    session.emit("t", json.loads(json.dumps(value).replace("{secret}", "hunter2-hunter3")))
    content = session.path.read_text()
    assert "hunter2" not in content
    assert all(f'"{word}"' in content for word in kept)


KEPT: list[Any] = [
    {"primary_key": "id", "public_key": "abc", "foreign_key": "user_id", "key": "value", "cache_key": "a1b2"},
    {"max_tokens": 100, "tokens": {"input": 500, "output": 200}, "token_count": 7, "total_tokens": 9},
    {"call_id": "call_" + chars(24), "id": "toolu_" + chars(24), "response_id": "chatcmpl-" + chars(29)},
    {
        "id": "msg_" + chars(24),
        "request_id": "req_" + chars(24),
        "hash": "sha256:" + chars(64, "0123456789abcdef"),
    },
    {"uuid": "123e4567-e89b-12d3-a456-426614174000", "next_page_token": "CAUQAA", "eos_token": "</s>"},
    {"token": "Hello", "logprob": -0.1, "bytes": [72]},
    {
        "type": "object",
        "properties": {"password": {"type": "string", "description": "The password"}},
        "required": ["password"],
    },
    {"has_password": True, "token": None, "secret": "", "password": None, "token_limit": 5},
    "The password must be at least 8 characters; tokens are counted, a secret is kept, keys are sorted.",
    "def login(password: str, token: str | None = None, api_key=None): check(password=password, token=token)",
    "client = OpenAI(api_key=os.environ['OPENAI_API_KEY'], token=self.token)",
    "The basic understanding of bearer authentication is required; see https://e.com/a@b or mail a@e.com",
    "risk-assessment-of-the-security-review and task-1234567890-abcdefghij",
    "sk-learn and sk-image are libraries; author: someone; authorized: yes",
    "See the docs on ?token= for more, or https://e.com/list?page=2&api_key= and what follows it",
    "<token>hello</token> and <secret>butler</secret> or <password>...</password>",
    "SyntaxError: unexpected token: ';' or token: 'else'; token=NUMBER expected, token == EOF",
    "class='sk-toggleable__label-arrow' class='sk-estimator-doc-link' id='sk-container-id-1'",
    "OPENAI_API_KEY=sk-... or api_key=your-api-key; password: *****; --token -v",
    "password: str = None; token: Token = get_token(); api_key: str = settings.api_key",
    {"tokens": ["a", "b"], "cmd": ["sort", "--key", "name", "-k", "2"], "secret_name": "db"},
    "curl -u $USER:$TOKEN https://e.com; curl -u user:password https://e.com; curl -u <user>:<pass>; curl -s http://a-user:80/",
    "mysql -u root -p shop; mysql -P 3306 -p; mysql -u root -p$PW; mysql is -preferred; sshpass -p $PW ssh b",
    "records are identified by 'user_id' or identified by \"name\"; a user is identified by 'id'",
    '<option name="token" value="maximum"/> <add key="Theme" value="dark9mode"/> <a name="q" value="a1b2">',
    "| Password | Description |\n|---|---|\n| password | string |\n| token | required |\n| api_key | a/b |",
    "| Name | Password | Role |\n|---|---|---|\n| secret | the one of bob | x |\n| bob | string | a1b2c3d4 |",
    {"token": {"type": "identifier", "value": "x1y2z3"}, "secret": {"name": "db1", "version": "v2"}},
    {"properties": {"password": {"type": "string", "default": "none", "title": "Value"}}},
    "dapi is an API; hvs. is a beginning; 1//0 is no number; 1//2 is; eyJ0eXBlIjo and nothing more",
    "The password is sha256-hashed, was 12-characters long and is base64 encoded; its passphrase is required",
    "the login form password field; docker login -u bob -p $TOKEN; docker login ghcr.io; -passin pass:$PW",
    "sqlplus scott/$PW@orcl; echo 'user:password' | chpasswd; jdbc:oracle:thin:@//db.example.com:1521/x",
    "first_pass: 'abc123' by_pass=1234 db_pass=settings.db_pass; main.c:10:5:warning:unused1 a.py:5432:x:y",
    "s3://bucket-with-a-long-name-2024/key and https://user-name-without-digits@example.com/",
    "self.auth = MultiDomainBasicAuth(index_urls=1); Address6.fromWildcard('*:*:*:*:ffff:*:*:*'); pgpass",
    "gnu.passwd TXT gnu:*:4567:123:GNU:/home/gnu:/bin/bash",
    {"auth": "schlüssel", "note": "the password is none"},
    "Basic kısımlar: the password is explained there; Basic KİTAPLAR",
    {"auth": "QmFzZTY0IG9mIG5vIGNvbG9uIGF0IGFsbA==", "auth_key_id": "a1", "author": "x1y2"},
    "napi_create_reference_from_a_value key-value-pairs-of-2024 pat-eu1-notauuid as-built-2024-documentation",
    "https://e.com/webhooks/1234567890 https://hooks.slack.com/services/ https://e.com/hooks/catch/12",
    {"model": "gpt-4o", "text": "The token bucket: it refills. Secret: none. Password: required."},
]


@pytest.mark.parametrize("value", KEPT, ids=range(len(KEPT)))
def test_what_is_no_secret_stays(session: LCTLSession, events: Events, value: Any) -> None:
    """Names and texts that only resemble one; ids that joins need; code; schemas."""
    session.emit("t", {"value": value})
    assert events(session)[0]["data"]["value"] == value


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/?token=abcd1234efgh more",
        "api_key: 'abcd1234'",
        "see --token abcd1234 now",
        "https://u:pw1234@example.com/x?a=1",
        "password: hunter2hunter2",
    ],
)
def test_what_was_redacted_is_not_redacted_again(text: str) -> None:
    """A placeholder names the kind of its secret, and is no assignment of one."""
    redactor = Redactor()
    once = redactor.text(text)
    assert once.count("[redacted:") == 1
    assert redactor.text(once) == once


def test_equal_secrets_look_equal_within_a_run_only(folder: Path) -> None:
    """The placeholder is keyed: it tells two secrets apart (not in one run of 65,536), and nothing more."""

    def record(name: str) -> list[str]:
        with LCTLSession("c", name) as session:
            for secret in (SECRETS["openai"], SECRETS["openai"], SECRETS["openai-project"]):
                session.emit("t", {"x": secret})
        return [e["data"]["x"] for e in session.to_dict()["events"]]

    runs = [record(f"{n}.lctl.json") for n in range(4)]
    for one, same, _ in runs:
        assert one == same and one.startswith("[redacted:openai:")
    assert any(one != other for one, _, other in runs)
    assert len({run[0] for run in runs}) > 1


def test_values_of_secret_environment_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they appear, also when set while the session runs; not those that only name a place."""
    monkeypatch.setenv("MY_SERVICE_TOKEN", 'odd"value 1')
    monkeypatch.setenv("SOME_KEY_FILE", "/run/secrets/some_key_file")
    monkeypatch.setenv("DB_PASSWORD", "postgres")
    monkeypatch.setenv("SHORT_KEY", "abc")
    with LCTLSession("c", "x.lctl.json") as session:
        monkeypatch.setenv("LATER_SECRET", "plainlookingvalue")
        session.emit(
            "t", {"x": 'a odd"value 1 b', "y": "plainlookingvalue", "z": "/run/secrets/some_key_file abc"}
        )
        session.emit("t", {"x": "postgres", "y": "PostgreSQL and postgresql:// are fine"})
    first, second = (e["data"] for e in session.to_dict()["events"])
    assert re.fullmatch(r"a \[redacted:environment:....\] b", first["x"])
    assert re.fullmatch(r"\[redacted:environment:....\]", first["y"])
    assert first["z"] == "/run/secrets/some_key_file abc"
    assert second["x"].startswith("[redacted") and second["y"] == "PostgreSQL and postgresql:// are fine"


def test_redaction_is_configurable(folder: Path) -> None:
    """Off; or with patterns, names and exceptions of one's own."""
    secret = SECRETS["openai"]
    with LCTLSession("c", "off.lctl.json", redact=False) as session:
        session.emit("t", {"api_key": secret})
    assert session.to_dict()["events"][0]["data"] == {"api_key": secret}

    redactor = Redactor(
        extra_patterns=[r"EMP-\d{6}"], extra_keys=["X-Internal"], allow=["internal_token", secret]
    )
    with LCTLSession("c", "own.lctl.json", redact=redactor) as session:
        session.emit(
            "t", {"text": "of EMP-123456", "x_internal": "v", "internal_token": "kept", "text2": secret}
        )
    data = session.to_dict()["events"][0]["data"]
    assert re.fullmatch(r"of \[redacted:custom:....\]", data["text"])
    assert data["x_internal"].startswith("[redacted:xinternal:")
    assert data["internal_token"] == "kept" and data["text2"] == secret


def test_a_header_holds_no_secret(folder: Path) -> None:
    """What a program says in its log's header; it may, where it says so."""
    secret = SECRETS["openai"]
    header = {"user": "ann", "token": "abc", "note": [f"with {secret}"]}
    LCTLSession("c", "kept.lctl.json", header=header).close()
    text = (folder / "kept.lctl.json").read_text()
    assert secret not in text and '"user":"ann"' in text and '"token":"[redacted' in text
    LCTLSession("c", "off.lctl.json", header=header, redact=False).close()
    assert secret in (folder / "off.lctl.json").read_text()


def test_only_false_lets_secrets_in(folder: Path) -> None:
    """None is what an option has that nobody has set."""
    with LCTLSession("c", "none.lctl.json", redact=None) as session:  # type: ignore[arg-type]
        session.emit("t", {"text": SECRETS["openai"]})
    assert SECRETS["openai"] not in (folder / "none.lctl.json").read_text()


def test_errors_and_exports_hold_no_secret(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lctl itself says on stderr, and every file it writes."""
    from lctl.guard import guard

    secret = SECRETS["anthropic"]
    monkeypatch.setattr(guard, "policy", "report")
    with LCTLSession("c", "x.lctl.json") as session:
        with pytest.raises(ValueError), session.step("a"):
            raise ValueError(f"401 for {secret}")
        session.emit_many(
            lambda first: [("t", secret, {secret: Path(f"/nonexistent/{secret}").read_text()}, None)]
        )
        session.add_fact(secret, secret, source=secret)
    session.export("copy.lctl.json")
    captured = capsys.readouterr()
    for text in (*(p.read_text() for p in folder.rglob("*") if p.is_file()), captured.out, captured.err):
        assert secret not in text
