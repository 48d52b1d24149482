"""Tokens of providers: their marks, characters and lengths."""

from __future__ import annotations

from typing import NamedTuple

WORD = r"A-Za-z0-9_\-"
ALNUM = "A-Za-z0-9"
HEX = "a-f0-9"
LOWER = "a-z0-9"
BASE64 = "A-Za-z0-9+/="


class TokenShape(NamedTuple):
    """A token that begins with one of the literal texts `marks`.

    Attributes:
        characters: Characters of the secret, as in a character class.
        has_digit: Whether a token has a digit.
        begin: Pattern before the mark; "" for a word boundary.
    """

    provider: str
    marks: tuple[str, ...]
    characters: str
    min_chars: int
    max_chars: int
    has_digit: bool = False
    begin: str = ""


#: Shapes as providers and well-known scanners publish them. A mark that is a word of prose needs a digit after it. Some lengths
#: exceed the published ones, because issuers have lengthened tokens before.
TOKENS: tuple[TokenShape, ...] = (
    TokenShape("OpenAI, Anthropic, OpenRouter, DeepSeek", ("sk-",), WORD, 18, 255, has_digit=True),
    TokenShape("GitHub", ("ghp_", "gho_", "ghu_", "ghr_"), "A-Za-z0-9_", 30, 255),
    # Tokens of installations may have a JWT after the mark.
    TokenShape("GitHub App", ("ghs_",), r"A-Za-z0-9_.\-", 30, 2048),
    TokenShape("GitHub fine-grained", ("github_pat_",), "A-Za-z0-9_", 22, 255, has_digit=True),
    TokenShape("GitLab", ("glpat-",), r"A-Za-z0-9_\-.=", 18, 330, has_digit=True),
    TokenShape(
        "GitLab deploy, runner, trigger, feed, mail, agent, OAuth, job, SCIM, flags, workspace",
        (
            *("gldt-", "glrt-", "glrtr-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glcbt-", "glsoat-"),
            *("glffct-", "glwt-", "GR1348941"),
        ),
        r"A-Za-z0-9_\-.",
        18,
        330,
        has_digit=True,
    ),
    TokenShape("Slack", tuple(f"xox{kind}-" for kind in "abceoprs"), r"A-Za-z0-9\-", 10, 400, has_digit=True),
    TokenShape("Slack cookie", ("xoxd-",), r"A-Za-z0-9\-%+/=", 40, 400, has_digit=True),
    TokenShape("Slack rotating", ("xoxe.xoxb-", "xoxe.xoxp-"), r"A-Za-z0-9\-", 20, 400, has_digit=True),
    TokenShape("Slack app", ("xapp-",), r"A-Za-z0-9\-", 20, 255, has_digit=True),
    TokenShape(
        "Slack webhook",
        tuple(f"hooks.slack.com/{kind}/" for kind in ("services", "workflows", "triggers")),
        "A-Za-z0-9/",
        40,
        100,
    ),
    TokenShape(
        "Discord webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"A-Za-z0-9_\-/",
        70,
        120,
        has_digit=True,
    ),
    TokenShape("Microsoft Teams webhook", (".webhook.office.com/webhookb2/",), r"A-Za-z0-9@/\-", 100, 220),
    TokenShape("Zapier webhook", ("hooks.zapier.com/hooks/catch/",), "A-Za-z0-9/", 14, 40),
    TokenShape("AWS", ("AKIA", "ASIA", "ABIA", "ACCA"), "A-Z0-9", 16, 16),
    TokenShape(
        "AWS secret key",
        tuple(
            f"{name}{sign}"
            for name in ("aws_secret_access_key", "SecretAccessKey")
            for sign in (" = ", "=", '": "', ": ")
        ),
        "A-Za-z0-9+/",
        40,
        40,
        begin=r"(?<![A-Za-z0-9])",
    ),
    TokenShape(
        "AWS session",
        tuple(f"{name}{sign}" for name in ("aws_session_token", "SessionToken") for sign in (" = ", "=", '": "', ": ")),
        BASE64,
        100,
        2048,
        begin=r"(?<![A-Za-z0-9])",
    ),
    TokenShape("AWS Bedrock", ("ABSK",), BASE64, 109, 280, has_digit=True),
    TokenShape("AWS Bedrock short-lived", ("bedrock-api-key-",), BASE64, 40, 4096, has_digit=True),
    TokenShape("Google API", ("AIza",), WORD, 35, 35),
    TokenShape("Google API, bound to an account", ("AQ.Ab",), WORD, 40, 120, has_digit=True),
    TokenShape("Google OAuth", ("ya29.",), r"A-Za-z0-9_\-.", 20, 2048, has_digit=True),
    TokenShape("Google refresh", ("1//0",), WORD, 40, 200),
    TokenShape("Google client secret", ("GOCSPX-",), WORD, 28, 28),
    TokenShape("Azure client secret", ("Q~",), r"A-Za-z0-9_~.\-", 31, 34, begin=r"(?<=[A-Za-z0-9_~.\-]{3}[0-9])"),
    TokenShape("Azure storage and Cosmos DB", ("AccountKey=",), BASE64, 86, 88),
    TokenShape("Azure messaging", ("SharedAccessKey=",), BASE64, 43, 44),
    TokenShape("npm", ("npm_",), ALNUM, 36, 36),
    TokenShape("npm of .npmrc", ("_authToken=", "_auth=", "_password="), r"A-Za-z0-9+/=\-_.", 16, 1024, has_digit=True),
    TokenShape("PyPI", ("pypi-",), WORD, 50, 1024),
    TokenShape("RubyGems", ("rubygems_",), HEX, 48, 48),
    TokenShape("Clojars", ("CLOJARS_",), LOWER, 60, 60),
    TokenShape("Docker", ("dckr_pat_", "dckr_oat_"), WORD, 24, 64),
    TokenShape("Hugging Face", ("hf_", "api_org_"), ALNUM, 30, 64),
    TokenShape("Groq", ("gsk_",), ALNUM, 40, 128),
    TokenShape("xAI", ("xai-",), "A-Za-z0-9_", 60, 128, has_digit=True),
    TokenShape("Perplexity", ("pplx-",), ALNUM, 40, 64),
    TokenShape("Replicate", ("r8_",), WORD, 37, 37),
    TokenShape("NVIDIA", ("nvapi-",), WORD, 60, 80),
    TokenShape("ElevenLabs", ("sk_",), HEX, 48, 48, has_digit=True),
    TokenShape("Pinecone", ("pcsk_",), "A-Za-z0-9_", 60, 80, has_digit=True),
    TokenShape("LangSmith", ("lsv2_pt_", "lsv2_sk_"), "a-f0-9_", 32, 64),
    TokenShape("Tavily", ("tvly-",), WORD, 24, 64, has_digit=True),
    TokenShape("Apify", ("apify_api_",), ALNUM, 36, 40),
    TokenShape(
        "Stripe",
        tuple(f"{kind}_{mode}_" for kind in ("sk", "rk") for mode in ("live", "test", "prod")),
        ALNUM,
        16,
        255,
        has_digit=True,
    ),
    TokenShape("Stripe webhook", ("whsec_",), BASE64, 24, 255, has_digit=True),
    TokenShape("Square", ("sq0atp-", "sq0csp-"), WORD, 22, 60),
    TokenShape("Square access", ("EAAA",), WORD, 60, 60, has_digit=True, begin=r"(?<![A-Za-z0-9+/=_\-])"),
    TokenShape("Facebook", ("EAAM", "EAAC"), ALNUM, 100, 400, has_digit=True, begin=r"(?<![A-Za-z0-9+/=_\-])"),
    TokenShape("Shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), "a-fA-F0-9", 32, 32),
    TokenShape("Flutterwave", ("FLWSECK-", "FLWSECK_TEST-"), r"a-zA-Z0-9\-", 32, 40, has_digit=True),
    TokenShape("EasyPost", ("EZAK", "EZTK"), ALNUM, 54, 54),
    TokenShape("Shippo", ("shippo_live_", "shippo_test_"), "a-fA-F0-9", 40, 40),
    TokenShape("Duffel", ("duffel_live_", "duffel_test_"), r"A-Za-z0-9_\-=", 43, 43),
    TokenShape("Klaviyo", ("pk_",), HEX, 34, 34, has_digit=True),
    TokenShape("SendGrid", ("SG.",), r"A-Za-z0-9_\-.", 60, 76, has_digit=True),
    TokenShape("Mailgun", ("key-",), LOWER, 32, 32, has_digit=True),
    TokenShape("Brevo", ("xkeysib-", "xsmtpsib-"), r"a-zA-Z0-9\-", 60, 100),
    TokenShape("Twilio", ("SK",), "a-fA-F0-9", 32, 32, has_digit=True),
    TokenShape("Cloudflare", ("cfut_", "cfat_", "cfk_"), ALNUM, 48, 48),
    TokenShape("Cloudflare origin", ("v1.0-",), r"A-Za-z0-9\-", 171, 171),
    TokenShape("DigitalOcean", ("dop_v1_", "doo_v1_", "dor_v1_"), HEX, 64, 64),
    TokenShape("Alibaba", ("LTAI",), ALNUM, 17, 24, has_digit=True),
    TokenShape("Yandex", ("AQVN",), WORD, 35, 38, has_digit=True),
    TokenShape("Databricks", ("dapi",), r"a-f0-9\-", 32, 36, has_digit=True),
    TokenShape("Doppler", ("dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim.", "dp.audit."), r"A-Za-z0-9_\-.", 40, 80),
    TokenShape("HashiCorp Vault", ("hvs.", "hvb.", "hvr."), r"A-Za-z0-9_\-.", 24, 320, has_digit=True),
    TokenShape("HashiCorp Terraform", (".atlasv1.",), WORD, 60, 80),
    TokenShape("1Password account", ("ops_eyJ",), BASE64, 100, 4096),
    TokenShape("1Password key", ("A3-",), r"A-Z0-9\-", 33, 36, has_digit=True),
    TokenShape("Pulumi", ("pul-",), LOWER, 40, 40),
    TokenShape("Infracost", ("ico-",), ALNUM, 32, 32, has_digit=True),
    TokenShape("Prefect", ("pnu_",), ALNUM, 36, 36),
    TokenShape("Octopus Deploy", ("API-",), "A-Z0-9", 25, 34, has_digit=True),
    TokenShape("OpenShift", ("sha256~",), WORD, 43, 43),
    TokenShape("Tailscale", ("tskey-",), r"A-Za-z0-9_\-", 20, 120, has_digit=True),
    TokenShape("Linear", ("lin_api_", "lin_oauth_"), ALNUM, 32, 64),
    TokenShape("Notion", ("ntn_", "secret_"), ALNUM, 40, 60, has_digit=True),
    TokenShape("Postman", ("PMAK-",), r"a-zA-Z0-9\-", 59, 59),
    TokenShape("ReadMe", ("rdme_",), LOWER, 70, 70),
    TokenShape("HubSpot", ("pat-na1-", "pat-eu1-"), r"A-Za-z0-9\-", 36, 36),
    TokenShape("Contentful", ("CFPAT-",), WORD, 43, 43),
    TokenShape("Typeform", ("tfp_",), r"A-Za-z0-9_\-.=", 40, 60),
    TokenShape("Mapbox", ("sk.eyJ",), r"A-Za-z0-9_\-.", 60, 240),
    TokenShape("New Relic", ("NRAK-", "NRII-", "NRIQ-"), WORD, 25, 36, has_digit=True),
    TokenShape("Grafana", ("glc_", "glsa_"), r"A-Za-z0-9_+/=", 32, 400, has_digit=True),
    TokenShape("Grafana API", ("eyJrIjoi",), BASE64, 60, 400),
    TokenShape("Sentry", ("sntrys_", "sntryu_"), r"A-Za-z0-9_+/=\-", 40, 512, has_digit=True),
    TokenShape("Dynatrace", ("dt0c01.",), r"A-Z0-9.", 80, 96),
    TokenShape("PostHog", ("phx_",), "A-Za-z0-9_", 40, 50),
    TokenShape("SonarQube", ("squ_", "sqp_", "sqa_", "sqco_"), ALNUM, 40, 64),
    TokenShape("Sourcegraph", ("sgp_", "slk_"), "A-Za-z0-9_", 40, 64, has_digit=True),
    TokenShape("PlanetScale", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"A-Za-z0-9_\-.=", 32, 64),
    TokenShape("Supabase", ("sbp_", "sb_secret_"), WORD, 30, 64, has_digit=True),
    TokenShape("Deno Deploy", ("ddp_", "ddw_"), ALNUM, 36, 36),
    TokenShape("Atlassian", ("ATATT3", "ATCTT3"), r"A-Za-z0-9_\-=+/", 60, 400),
    TokenShape("Bitbucket", ("ATBB", "BBDC-"), r"A-Za-z0-9_=.+/@\-", 28, 60, has_digit=True),
    TokenShape(
        "Figma", ("figd_", "figu_", "figo_", "figp_", "figdh_", "figuh_", "figor_", "figur_"), r"A-Za-z0-9_\-=", 40, 64
    ),
    TokenShape("Dropbox", ("sl.u.", "sl.A", "sl.B"), WORD, 100, 2048),
    TokenShape("Heroku", ("HRKU-",), WORD, 36, 100),
    TokenShape("Netlify", ("nfp_",), "A-Za-z0-9_", 36, 64),
    TokenShape("Buildkite", ("bkua_",), LOWER, 40, 40),
    TokenShape("CircleCI", ("CCIPAT_", "CCIPRJ_"), "A-Za-z0-9_", 40, 80),
    TokenShape("JFrog", ("AKCp", "cmVmdGtu"), ALNUM, 56, 73),
    TokenShape("Fly.io", ("fm1r_", "fm1a_", "fm2_", "fo1_"), r"A-Za-z0-9_+/=,\-", 40, 1000, has_digit=True),
    TokenShape("Telegram bot", (":AA",), WORD, 32, 34, has_digit=True, begin=r"(?<=[0-9]{5})"),
    TokenShape("age", ("AGE-SECRET-KEY-1",), "A-Z0-9", 58, 58),
    TokenShape("Kubernetes client key", ("client-key-data: ",), BASE64, 100, 8192),
    TokenShape("Docker registry", ('"auth": "',), BASE64, 20, 4096, has_digit=True),
)
