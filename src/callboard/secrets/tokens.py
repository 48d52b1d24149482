"""The marks by which providers' tokens are recognised, with the characters and the length behind each."""

from __future__ import annotations

from typing import NamedTuple

WORD = r"A-Za-z0-9_\-"
ALNUM = "A-Za-z0-9"
HEX = "a-f0-9"


class TokenShape(NamedTuple):
    """A token that begins with one of the literal texts `marks`.

    Attributes:
        characters: Those of the secret, as in a character class.
        has_digit: Whether a text without a digit is no token.
    """

    provider: str
    marks: tuple[str, ...]
    characters: str
    least: int
    most: int
    has_digit: bool = False


#: Shapes as providers and well-known scanners document them. A mark that is a word of prose needs a digit behind it.
TOKENS: tuple[TokenShape, ...] = (
    TokenShape("OpenAI, Anthropic, OpenRouter, DeepSeek", ("sk-",), WORD, 18, 255, has_digit=True),
    TokenShape("GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), ALNUM, 30, 255),
    TokenShape("GitHub fine-grained", ("github_pat_",), "A-Za-z0-9_", 22, 255, has_digit=True),
    TokenShape("GitLab", ("glpat-",), r"A-Za-z0-9_\-.", 18, 255, has_digit=True),
    TokenShape(
        "GitLab deploy, runner, trigger, feed, agent and OAuth",
        ("gldt-", "glrt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glcbt-", "glsoat-", "glffct-"),
        r"A-Za-z0-9_\-.",
        18,
        255,
        has_digit=True,
    ),
    TokenShape("Slack", tuple(f"xox{kind}-" for kind in "abeprs"), r"A-Za-z0-9\-", 10, 255, has_digit=True),
    TokenShape("Slack rotating", ("xoxe.xoxb-", "xoxe.xoxp-"), r"A-Za-z0-9\-", 20, 255, has_digit=True),
    TokenShape("Slack app", ("xapp-",), r"A-Za-z0-9\-", 20, 255, has_digit=True),
    TokenShape("Slack webhook", ("hooks.slack.com/services/",), "A-Za-z0-9/", 40, 80),
    TokenShape("Discord webhook", ("discord.com/api/webhooks/",), r"A-Za-z0-9_\-/", 70, 120, has_digit=True),
    TokenShape("AWS", ("AKIA", "ASIA", "ABIA", "ACCA"), "A-Z0-9", 16, 16),
    TokenShape("Google API", ("AIza",), WORD, 35, 35),
    TokenShape("Google OAuth", ("ya29.",), WORD, 20, 512, has_digit=True),
    TokenShape("Google client secret", ("GOCSPX-",), WORD, 28, 28),
    TokenShape("npm", ("npm_",), ALNUM, 36, 36),
    TokenShape("PyPI", ("pypi-",), WORD, 50, 512),
    TokenShape("RubyGems", ("rubygems_",), HEX, 48, 48),
    TokenShape("Docker", ("dckr_pat_", "dckr_oat_"), WORD, 24, 64),
    TokenShape("Hugging Face", ("hf_",), ALNUM, 30, 64),
    TokenShape("Groq", ("gsk_",), ALNUM, 40, 128),
    TokenShape("xAI", ("xai-",), ALNUM, 60, 128, has_digit=True),
    TokenShape("Perplexity", ("pplx-",), ALNUM, 40, 64),
    TokenShape("Replicate", ("r8_",), ALNUM, 37, 37),
    TokenShape("LangSmith", ("lsv2_pt_", "lsv2_sk_"), "a-f0-9_", 32, 64),
    TokenShape("Tavily", ("tvly-",), WORD, 24, 64, has_digit=True),
    TokenShape(
        "Stripe", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), r"A-Za-z0-9+/", 16, 255, has_digit=True
    ),
    TokenShape("Square", ("sq0atp-", "sq0csp-"), WORD, 22, 60),
    TokenShape("Shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), "a-fA-F0-9", 32, 32),
    TokenShape("SendGrid", ("SG.",), r"A-Za-z0-9_\-.", 66, 66, has_digit=True),
    TokenShape("Mailgun", ("key-",), HEX, 32, 32, has_digit=True),
    TokenShape("Brevo", ("xkeysib-", "xsmtpsib-"), r"a-zA-Z0-9\-", 60, 100),
    TokenShape("Twilio", ("SK",), HEX, 32, 32, has_digit=True),
    TokenShape("DigitalOcean", ("dop_v1_", "doo_v1_", "dor_v1_"), HEX, 64, 64),
    TokenShape("Databricks", ("dapi",), r"a-f0-9\-", 32, 36, has_digit=True),
    TokenShape("Doppler", ("dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim."), r"A-Za-z0-9_\-.", 40, 80),
    TokenShape("HashiCorp Vault", ("hvs.", "hvb.", "hvr."), WORD, 24, 300, has_digit=True),
    TokenShape("HashiCorp Terraform", (".atlasv1.",), WORD, 60, 80),
    TokenShape("Pulumi", ("pul-",), HEX, 40, 40),
    TokenShape("Linear", ("lin_api_", "lin_oauth_"), ALNUM, 32, 64),
    TokenShape("Notion", ("ntn_",), ALNUM, 40, 60, has_digit=True),
    TokenShape("Postman", ("PMAK-",), r"a-f0-9\-", 59, 59),
    TokenShape("New Relic", ("NRAK-",), "A-Z0-9", 27, 27),
    TokenShape("Grafana", ("glc_", "glsa_"), r"A-Za-z0-9_+/=", 32, 400, has_digit=True),
    TokenShape("Sentry", ("sntrys_", "sntryu_"), r"A-Za-z0-9_+/=\-", 40, 400, has_digit=True),
    TokenShape("PlanetScale", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"A-Za-z0-9_\-.", 32, 64),
    TokenShape("Supabase", ("sbp_", "sb_secret_"), WORD, 30, 64, has_digit=True),
    TokenShape("Atlassian", ("ATATT3", "ATCTT3"), r"A-Za-z0-9_\-=", 60, 400),
    TokenShape("Figma", ("figd_",), WORD, 40, 64),
    TokenShape("Dropbox", ("sl.u.", "sl.B"), WORD, 100, 2048),
    TokenShape("Heroku", ("HRKU-",), WORD, 36, 100),
    TokenShape("Netlify", ("nfp_",), ALNUM, 36, 64),
    TokenShape("Buildkite", ("bkua_",), HEX, 40, 40),
    TokenShape("CircleCI", ("CCIPAT_", "CCIPRJ_"), "A-Za-z0-9_", 40, 80),
    TokenShape("JFrog", ("AKCp",), ALNUM, 60, 73),
    TokenShape("Fly.io", ("fm1_", "fm2_", "fo1_"), r"A-Za-z0-9_+/=\-", 40, 1000, has_digit=True),
    TokenShape("Telegram bot", (":AA",), WORD, 32, 34, has_digit=True),
    TokenShape("age", ("AGE-SECRET-KEY-1",), "A-Z0-9", 58, 58),
    TokenShape("Azure storage", ("AccountKey=",), "A-Za-z0-9+/=", 86, 88),
)
