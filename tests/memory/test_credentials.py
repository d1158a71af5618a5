"""Keys are found; digests, names and talk of keys pass. The keys are made up and put together at run time."""

from __future__ import annotations

import pytest

from memory.credentials import credential_kind
from memory.guard import reason_to_refuse

RANDOM = "Tz8Qk2Lw9Xv4Rb7Nc1Md5Hf3Jg6Sp0Ya"
HEX = "0c9f4b7d2e6a81530c9f4b7d2e6a8153"
BEGIN, PRIVATE = "-----BEGIN ", "PRIVATE KEY"

KEYS = [
    ("OpenAI key: sk-" + f"proj-{RANDOM}", "an API key"),
    (f"sk-or-v1-{HEX}{HEX}", "an API key"),
    ("deepseek is sk-" + HEX, "an API key"),
    ("sk-" + f"ant-api03-{RANDOM}-AA", "an Anthropic API key"),
    ("token gh" + f"p_{RANDOM}4Kz7", "a GitHub token"),
    ("github_" + f"pat_{RANDOM}", "a GitHub token"),
    ("gl" + f"pat-{RANDOM[:20]}", "a GitLab token"),
    ("slack xo" + "xb-219004112233-551122334455-Qw7Er5Ty3Ui1Op9As", "a Slack token"),
    ("aws id AK" + "IAZ7QX4M2K9RT5WB3N.", "an AWS key id"),
    ("AI" + f"za{RANDOM}XyZ", "a Google key"),
    ("sk_" + f"live_{RANDOM}", "a Stripe key"),
    ("hf_" + RANDOM, "a Hugging Face token"),
    ("np" + f"m_{RANDOM}4Kz7", "a package registry token"),
    ("SG." + f"{RANDOM[:22]}.{RANDOM}", "a SendGrid key"),
    ("123456789:AA" + RANDOM, "a bot token"),
    ("LT" + f"AI{RANDOM[:16]}", "a cloud key"),
    (f"{HEX}.{RANDOM[:16]}", "a service key"),
    ("gs" + f"k_{RANDOM}", "a service key"),
    ("ey" + f"JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{RANDOM}", "a signed token"),
    (f"{BEGIN}OPENSSH {PRIVATE}-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n", "a private key"),
    (f"{BEGIN}{PRIVATE}-----\\nMIIEvQIBADANBgkq", "a private key"),
    (f"key: {BEGIN}RSA {PRIVATE}----- MIIEowIBAAKCAQEA", "a private key"),
    (f"{BEGIN}RSA {PRIVATE}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AA\n\nMIIEowIBAAK", "a private key"),
    (f"> {BEGIN}PGP {PRIVATE} BLOCK-----\n>\n> lQVYBF", "a private key"),
    (f"{BEGIN}EC {PRIVATE}-----", "a private key"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzz9", "a secret value"),
    (f"API key is {HEX}", "a secret value"),
    ("API 密钥：Zx9Yw8Vu7Ts6Rq5P", "a secret value"),
    ("我的令牌是 Zx9Yw8Vu7Ts6Rq5PonM", "a secret value"),
    ("密鑰為 a1b2c3d4e5f6g7h8i9j0", "a secret value"),
    ('{"api_key": "Zx9Yw8Vu7Ts6Rq5P"}', "a secret value"),
    ("Authorization: Bearer Zx9Yw8Vu7Ts6Rq5PonM", "a secret value"),
    ("export SERVICE_TOKEN=Zx9Yw8Vu7Ts6Rq5P", "a secret value"),
    (f"private key: 0x{HEX}{HEX}", "a secret value"),
]

NO_KEYS = [
    "Release commit is 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "Image digest sha256:4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a",
    "Trace id 123e4567-e89b-12d3-a456-426614174000; build 20241105T120000Z-7f3a9c1; node i-0abcd1234ef567890",
    f"md5 {HEX}, integrity sha512-{RANDOM}{RANDOM}==",
    f"host key SHA256:{RANDOM}{RANDOM[:11]}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0abcdefghijklmnop0123456789 ana@host",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END CERTIFICATE-----",
    f"PEM files begin with '{BEGIN}RSA {PRIVATE}-----'; never commit them",
    "GPG key id 3AA5C34371567BD2 signs the releases",
    "API keys live in the environment, see .env.example; OPENAI_API_KEY is set in ~/.profile",
    "API keys rotate on the 1st, start with sk- and are 51 characters long",
    "GitHub tokens start with ghp_ or github_pat_, Slack bot tokens look like xoxb-..., AKIA is an AWS prefix",
    "OPENAI_API_KEY=sk-your-key-goes-here-please",
    "use sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx or ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx as placeholder",
    "export OPENAI_API_KEY=${OPENAI_API_KEY}; api_key=os.environ['OPENAI_API_KEY']",
    "api key: process.env.OPENAI_API_KEY_PRODUCTION",
    "API key: stored in /etc/app/secrets/openai-2024.key, or in 1Password item openai-prod-2024",
    "access token lifetime: 3600 seconds; auth token: refreshed every 15 minutes via /oauth/v2/token",
    "The private key: keep it in ~/.ssh/id_ed25519_work_2024",
    "Repo is desk-reservation-system-for-the-berlin-office, branch feature/api-key-rotation-2024-q3-hardening",
    "sk-learn-pipeline-notes-for-the-whole-team, task-2024-11-05-release-notes-and-summary-for-team",
    "dynamo: pk USER#1, sk sk-USER-0001-ORDER-0002-ITEM-03",
    "hf_hub_download, npm_config_registry, npm_package_version_is_read_from_environment, key_value_store_for_sessions",
    "密码规则：至少 16 位，九十天更换",
    "记住我的 API 密钥每月轮换一次；密钥放在环境变量 OPENAI_API_KEY 里",
    "令牌有效期：30 天；密钥为环境变量提供，不写进记忆",
]


@pytest.mark.parametrize(("text", "kind"), KEYS, ids=[f"{at}-{kind}" for at, (_, kind) in enumerate(KEYS)])
def test_a_key_is_refused_and_pointed_to_the_environment(text: str, kind: str) -> None:
    assert credential_kind(text) == kind
    assert "environment" in (reason_to_refuse(text) or "")


@pytest.mark.parametrize("text", NO_KEYS, ids=range(len(NO_KEYS)))
def test_what_is_no_key_passes(text: str) -> None:
    assert reason_to_refuse(text) is None


@pytest.mark.parametrize(
    "part",
    [
        "sk-",
        "api key: ",
        "eyJ",
        f"{BEGIN}{PRIVATE}-----",
        BEGIN,
        "> ",
        "a1B2",
        "密钥是",
        "SG.",
        "A_KEY=",
        "bearer ",
        "0",
        "M",
    ],
)
def test_the_search_for_keys_grows_no_faster_than_the_text(part: str) -> None:
    assert credential_kind("KEY\n" + part * (300_000 // len(part))) is None
