"""Tokens in the shapes that their issuers and scanners (gitleaks, trufflehog) publish.

They are not derived from the product's table. Each is random and invalid. It is in two pieces, so
scanners of repositories ignore it.
"""

from __future__ import annotations

#: The public beginning of each token, and its secret part.
PUBLISHED: dict[str, tuple[str, str]] = {
    "OpenAI project": (
        "sk-proj-",
        (
            "agoqCozKffoTh8th6V3ZhXsbOoROfNmQDcWLjw6QiIbkNF2UIdkXyX6ZbKRGxHLfS2dPKZLIeqT3BlbkFJFqbROFYNlNsWnwpr4a"
            "tDeU_EnptBP_dNiP0_lCkk70qBT_DaDxSUReNwMdWowYiywS7eKeOj81"
        ),
    ),
    "OpenAI service account": (
        "sk-svcacct-",
        (
            "98YAf4GvsGrUyycTtnUgtHHVts2EklgaNqcvpBt_dC80HHWMUlQiJLoMxyT3BlbkFJEWy9g6OaIiqhjY6yTRp_CPdc5R9mfoDVRi"
            "SKIsvOb-QS5hAMx5mr_Fp9nf"
        ),
    ),
    "OpenAI admin": (
        "sk-admin-",
        (
            "f5v1a4sI7cLvq968MW8Z4Xb86RuQO9AGkAGWF1s62VJfB4wxczrc9HXiiFT3BlbkFJC4VMZXv1seHABTy8Cw_wO1LIExvLQeN2c2"
            "0uMBUjghl4J3RI22jwzkZ7mQ"
        ),
    ),
    "OpenAI legacy": ("sk-", "FCVyGDeP1bdI4Fnzhl5UT3BlbkFJt1dBursHHAxW3nJPfkwW"),
    "Anthropic": (
        "sk-ant-api03-",
        "doP9MRdqkYVe95x-BdCU0UnIr9TlIRK4PVopNg9khJuW0EqP5F7VPJC_UHnkqCRiJ5yxrstmVBpeLqhgrmsrDmhn26HMqAA",
    ),
    "Anthropic admin": (
        "sk-ant-admin01-",
        "oSvGI7LsPx7ib3UNKKgUSjDv7XeZliUMqLhMR9W57NJ14cp0E9cfOGFPyYDXyQl5FrSSjbVmL9uP8A0z_PHj2ryTO7-LrAA",
    ),
    "OpenRouter": ("sk-or-v1-", "966bf48f37efb89455f6fe7ef175d9cc51d4d911b70b1a1d847a8b61c74c630c"),
    "DeepSeek": ("sk-", "7cb969dd4a06f9cfdc89246f2d8d66c4"),
    "Google API": ("AIza", "Syi40YegqCwbrOtGF86U7N5ORj5wZbPDv5k"),
    "Google API, bound to an account": ("AQ.Ab", "8RN6aBwekYWPhORgeNJgnEoe5ssi4h7K3Fk2FYSFGLwu-k4o"),
    "Google OAuth": (
        "ya29.",
        (
            "a0AbeDigYZsw3BVPoCohL9U0YS1f-3FUVXIWRncY2ie8PUcpH-CkfiXb81ib1hA9-VfD-JBqTFmaArCCm9FpNNoMi-WaXlnpBIr8"
            "qTt-hZL1YUN_vTNGGIi4F8DsLX6uU4uayfVOgKWcc3VqAxVQAsphjwE9zBk22rc0SZt6bwcKGgnCEHNOIkboaoozQg96gvBMH-ha"
            "10I2bzNuqvZI8S"
        ),
    ),
    "Google OAuth, service account": (
        "ya29.",
        (
            "c.b0AyJJrcZbq2POJYUarX6vNXUdajtbNKWqMLSZLow7RzfiWI9i1SHEOqSjYXru_Q-qAM2bVWKEklah3CthN4bg-1IlsJr7NFFz"
            "q3-MFrmkjt2-k2TQcaZytXjOHTshk_-PRmj9Mwrgjo2XxFfkzWwiPysdVzbQtDorTKgcnshf--Nv7CJ7vtbkgXwxcBlZ4ZjKpsum"
            "TPNX8"
        ),
    ),
    "Google refresh": ("1//0", "e2Byda4Py0dpKeiK-GL3jJ_QlUxlJIV1uiSZyGJPXvYDUv-HJQ_2D7Yi8Um6"),
    "Google client secret": ("GOCSPX-", "S58GSncYXmMLLt85o74L7UXg2MSK"),
    "AWS access key": ("AKIA", "B7NPYZUFP2YULABS"),
    "AWS temporary key": ("ASIA", "BU4Z4FNIUKFZAL7A"),
    "AWS secret key in a file": ("aws_secret_access_key = ", "23HolhpKgXVL5gpmgLOvy7R7nO399O/XBTCwdLRX"),
    "AWS secret key in JSON": ('"SecretAccessKey": "', "DgskKRcL8JOx2BI7ujScBtAcKCIcCpoEbPZPoSMK"),
    "AWS session": (
        "aws_session_token=",
        (
            "oDs+cC4/zOfNoG4GuKSht5HEMPmHrpZUnqcsWvvSC6+3X6xSt10E7pHUPLwMLi8PHWbcc6IR2ZyC3FRfGai84VsrCoEOjIzQcM65"
            "8trGDB1yBwRnRAiXcTcauHqYlgCNYxXjbTcOlCor58RsqdatWHJBziWIQYwbm9CkjktHpUgMuX4jGaPs8wOxlkMYg5A04Y8Q5tOK"
            "Mn0nh7cenQvTJAq+kBYl39xMMosXno5BlcC85gbb0aJXVXMl8QPvDZPyAYsDnPxGIGJfw9D9+2ABIZuits+hs/nb59+fmPx6KHzq"
            "Cs0Dk0cNV4lr1QVk/Sw157DUBZk+X9qtp+3YoIXs"
        ),
    ),
    "AWS Bedrock": (
        "ABSK",
        (
            "hnmhq2X2C4jK+BIuKfVwS9MR+qx0NBgCmBDLZdqfUXNull1CKzTpv26qap/ilj8CmsN78amc5I/6IpHDQN4h8EUAGKEDedGiMvES"
            "LftEmounqQDdx2clpXoXi9w0UGa2="
        ),
    ),
    "GitHub personal": ("ghp_", "TxPBTN6aUVyh6JXWOVkhyUF5ef34xHC5bp9W"),
    "GitHub OAuth": ("gho_", "WmB6RfpBJOB46Mc59VfsfvooXMadgZ1oOjSY"),
    "GitHub user to server": ("ghu_", "y0llhmaVPDfdfBdZI1iedixS96xJqqpBLrhw"),
    "GitHub server to server": ("ghs_", "hEjgNwHQT35DWI1tXk4ZCgNDaUjc4OKbJZHN"),
    "GitHub server to server, JWT": (
        "ghs_",
        (
            "eyJhbGciOiJSUzI1NiJ9.Em1MFWi49NUsnE9Xg7Dgn7VOymycSMuX2xGwY7aU5g2uwtrRwelmZQkX8csMLvY9dtMEsSSbb-0jkZf"
            "xaGVgPc6CQNmk2nP3nBJGWJg8AUcL1F3zKUX5NAUn9x8jwWfm8RB1lCU1uajjD6G_hRlbUhVWuG4ArXUl3iSGJXEd-XjPO_g0Hzz"
            "61Dy00_TLI6QXZ014qVxSg9JkM_yCRRHMHC6zjqcLWqfiO_kJbKB-Bi6gDMOnEopg1pdKw7cc2U52-oo3n7IROMqPJDFbzWXz8Ww"
            "V1wqaTGg1JnNpmLC7C-nz.wtoqbuLTn_5RytnAc02SgaahhsLIZw-fO_b2RffS4G3c59onNcvbSwxhWV4hxGgvTyEZ51-W_w-rN8"
            "Dr1yWQO4M_ev26Z6eHWCYSe5EtIXnuNs-6cj5PaPt1pww8QDn39gdaeFtUC26jBq_-u5jdopM6pHJ2Of9C3Mp-Odmtrak"
        ),
    ),
    "GitHub refresh": ("ghr_", "zmj92FTNM1Cm88TNx6NNXdRzKll4ix6ChX8p3SoAAemlsBqDZTVLK9sOarf3PBqgLoYd3hO0J09Q"),
    "GitHub fine-grained": (
        "github_pat_",
        "116064MIGLOUOYDT1BKCEA_rNiwlz3UNtcrKp5IxbOB4ofv9asN16gf4NLpIlYOZevuCGviTnLapPAAob6",
    ),
    "GitLab personal": ("glpat-", "sAcay_1unmC9HpYPtdEU"),
    "GitLab personal, routable": ("glpat-", "UrCgxO5wcxuIKv4wRb2OdhV8oW6.01.hct3i4s5e"),
    "GitLab deploy": ("gldt-", "vYfOLer_hvgCgAP1rdXJ"),
    "GitLab runner": ("glrt-", "HN59LuLR7KsZWcfvDB1M"),
    "GitLab runner registration": ("GR1348941", "1EdjpTS_01Pzg8nLJPgS"),
    "GitLab trigger": ("glptt-", "f80121f18cf7376fc3335d7bdb9bf45b7c125193"),
    "GitLab feed": ("glft-", "aq0dYlPcdeyX3n4p3n7J"),
    "GitLab mail": ("glimt-", "TJsCfJHJxI2ml8t5UPAiRoLYk"),
    "GitLab agent": ("glagent-", "jlLClscJGth5fzOh_FypSamVT7L0RgjnosSXdQBAxW3YQ-y0jh"),
    "GitLab OAuth": ("gloas-", "fc4568c1b0623e3948eb28087acd9b136b6fc7c02e61061dd52fded1e9454425"),
    "GitLab job": ("glcbt-", "6f_7pLnGMSbAnVLbzjj2YTw"),
    "GitLab SCIM": ("glsoat-", "8igkHrlxLUhhd4P-vYvg"),
    "GitLab flags": ("glffct-", "awsTMICl851Z7FmPk-1z"),
    "Slack bot": ("xoxb-", "010472003167-2000169866499-Ppjk06XiTupvdgCgYYTz3JeF"),
    "Slack user": ("xoxp-", "403794417565-028019355037-969505283963-b0a5b69a0b63201b1fde0307cea732e1"),
    "Slack legacy workspace": ("xoxa-", "2-cG1KoyP2W73heyOkz464fo4MkQTWdID8uOyjqUUUxqEB"),
    "Slack refresh": (
        "xoxe-",
        (
            "1-LSL32IOP1XEZWIRWX8VV62SSAYANMDEHHQW69J44ABDRDY5WZCSL22PGXDZFLKD69F1UOIJM3V7D1IKWG2U3K4BV9TJ1RZAHNF"
            "PCDURTC515XXPNT0LVXR26D1L310ODL1SS33718CADZY2I53"
        ),
    ),
    "Slack rotating": (
        "xoxe.xoxp-",
        (
            "1-AS5PYPKC2ATB4QH4U61AHY1PI33HSR9MNNQZA7NCE3NQPU5U2FXQ4M1POLW4DBVBX1UJPP5EZ56J1BP1TA8CDDHLZ6FMOAV8E0"
            "LY7CITDO64KD1AC7V08A1AGYYLOV00JBFCYLNJTUOWHYY8M810VV22WTMA5A19NCV9Z"
        ),
    ),
    "Slack app": (
        "xapp-",
        "1-A6E4WU4065S-0194863697439-85d66b22740d64afb32ea79300d7fafca7c360689ee3e135b1fca49b56085afd",
    ),
    "Slack webhook": ("hooks.slack.com/services/", "T63KD3WVT8N/B3QBOCIDT33/1bGMuC0MFxk9kH4aZy0eqHOm"),
    "Slack workflow": (
        "hooks.slack.com/workflows/",
        "TTMAA4PD4FH/ANAQW7NE2Z5/168458584904604323/111OjVVMm1rZxxDr4UFitpPA",
    ),
    "Discord webhook": (
        "discord.com/api/webhooks/",
        "6520298489666903444/xU_gg8JC6xwOB9bmGcIdreb2GTolPKS87widDT3C8PXJ0ubugREdyHtnWx9WBjqqGYSz",
    ),
    "Teams webhook": (
        "x.webhook.office.com/webhookb2/",
        (
            "7917b6e2-4246-510f-4635-db7886856bd2@86be210b-4051-1317-4173-8df35421fdc6/IncomingWebhook/2af7b3ea3e"
            "9d67a4f86a674d3f4d3329/9c0afc20-f291-f0dd-4e66-ae267fa64ca7"
        ),
    ),
    "Zapier webhook": ("hooks.zapier.com/hooks/catch/", "0576371/iesrbgzs"),
    "Stripe secret": ("sk_live_", "dCwMAQf2XYlrzFZFI7DQHCDt"),
    "Stripe secret, long": (
        "sk_live_",
        "tyHKheQfEhfoN56FvP2k3VjLc28p1H8m93bsaZiLyWyY9JPux5tezKVrQe1VtuEhaP26e5ZT61H4aFIUChjiuNDatydrIcaBRVw",
    ),
    "Stripe restricted": (
        "rk_test_",
        "OX5MkVoV8UNOa0DVMoLIwHRqSyxo9RxhzdNDb0bNA9SOBqhsBjfRQQLRzQDkHq4BMN246i4EPwtDNwvy1Yu8K8eubs2Mgp0bc6t",
    ),
    "Stripe webhook": ("whsec_", "uCgezG5UYzX4MpuV65vq1kW2CDBJ6Fig"),
    "Square": ("sq0atp-", "9tZXH4J6H2C00fV3trHr4a"),
    "Square client": ("sq0csp-", "agGtPagpyOeeselXndpv8ebG7kAlI55RQD7S0BycR3W"),
    "Square access": ("EAAA", "3b0XvqmAmfYjf22UKEdfzY91RsUEchl6WTkWzhsDRRepBYUKGYMzPLu25Wh7"),
    "Facebook page": (
        "EAAC",
        (
            "03bPcAEQxo4YEfln5QECk6hLqKEdRtEP0p5o5Rhcu0St6rbHIS0vOpuPF1ZmXcnpQyzev4DmvFffsaK7JklSvlstQJ019ljD6TFh"
            "s0Q4zrz1XqQQsNIuXXkw"
        ),
    ),
    "Shopify": ("shpat_", "2d271ba0cae6df571f6eace8df732bf7"),
    "Shopify shared": ("shpss_", "6b321c9c3a826e84d5ebf4b2dec01138"),
    "Flutterwave": ("FLWSECK-", "90be02291dd36b8c2113ac20efc80bd4-X"),
    "EasyPost": ("EZAK", "AuhhApnvbpgLzcGgtUGO21SP1GIegBvMuJpioGMWTCdi0MrqfyZsKn"),
    "Shippo": ("shippo_live_", "ab88b26362b4e47f70988d8eb4bb811e9a32740e"),
    "Duffel": ("duffel_test_", "wJber0zIZyJZclRvcqSwkpVRpgfH3PaFHWjeVA1Q9c4"),
    "Klaviyo": ("pk_", "8207e767979ef850d3acdd0bcb1f25f5c7"),
    "SendGrid": ("SG.", "mT79LSBvOSVw44m5m9dVV9.vqjBcuemsiv9_DmyNWc9V35C8wH9b_gUzAHiBKypUyX"),
    "Mailgun": ("key-", "8fcfd4127120c37ee0851b1d2e81bf8f"),
    "Brevo": ("xkeysib-", "cee623d291ee74ef7c84ae748e989ad434a8f13dfcfd35c0e09d96aa040d826c-PrJDuIeDFBc9mdfy"),
    "Twilio": ("SK", "81e800f0d20f48365ca76e2a0beac3fd"),
    "npm": ("npm_", "nY0Us2NgTVIiZaaSm7xAgAOLUYZLifKKE3iI"),
    "npm of .npmrc": ("//registry.npmjs.org/:_authToken=", "2b9d270b-d16b-1d7c-b871-69f9f102701e"),
    "PyPI": (
        "pypi-",
        (
            "AgEIcHlwaS5vcmcM2GC1lRSXhSwdz3ePSHq_iHkwh38M3otUCo86UfyAoI90JUfADgJ3It1fubHBgkxFq09gHLUa4Yh6qj0BqbQF"
            "MVKo0Eo2l16JDHPCDpJ3KRya4eGFXpaq9nfaARC6SFhTgYelRTf4tEDSaIWZwDESw"
        ),
    ),
    "RubyGems": ("rubygems_", "de1cb005df9391b99c4bb25dba71c6c30cc4c0bba0e6bf3f"),
    "Clojars": ("CLOJARS_", "ek5qe83zgfrw9e2frdvkvn2vnvppgpwygn5rvuqtfo0p9e5hyw1t8icvnqjm"),
    "Docker Hub": ("dckr_pat_", "yXwvWKsIXQ9tnXM767wAklsPd6F"),
    "Docker organisation": ("dckr_oat_", "NSkI6ZXuZS3jVVhbW3rls2U8Pzet8e4h"),
    "Hugging Face": ("hf_", "gqxLvkVsnyivEYJRbgomcCqYTxmTTPnQGW"),
    "Hugging Face organisation": ("api_org_", "aBUBnYgxBdrLIaqNJHdWbgaIBzkRKlkAQE"),
    "Groq": ("gsk_", "FUAwCXhTibX23fKGNDUnqyh3FS0IQcOGfqpvmSUMq7PpyRHwAuxb"),
    "xAI": ("xai-", "hUFzNFvnbaA3xKg07sSZZDwI69Ysj6iZJIbouJbSkvZojb2b5Y0cRA4JqOSylYZBSBgkLJzXrpoPhsg7"),
    "Perplexity": ("pplx-", "CDd0tNzUETyqKRXwSNfM4DGM3HeJEMhSq1bynYTJ0USa3W0l"),
    "Replicate": ("r8_", "rw33FhSbueQGjyIvzCNr9aENyjtc4UILqCA09"),
    "NVIDIA": ("nvapi-", "Vo_HsZ8ZdzBNTnadFduRORtpCWCMUxOaWw7FQZwdHqYKVkDoQQz_yrKGwjME_Td6"),
    "ElevenLabs": ("sk_", "f1f073bf0453102784f1c80295445d479ba54d2e5fa49b56"),
    "Pinecone": ("pcsk_", "4qfcu1_1r3PygBuQr7r0Z5d7WYNOskK29SyMTAa5Wqokv8HG9PK4SxG3Jss0ADfXgnuXSQ"),
    "LangSmith": ("lsv2_pt_", "378941ef6dd2143d257617ac8964062c_a2aeb3220b"),
    "Apify": ("apify_api_", "ryA5aMpm10MyXYsTbc7smQsIUwAgYS5oo7g8"),
    "Azure client secret": ("abc8Q~", "twufaixDvWHWeJmT-bCZg2_1Qq2x6kCgnF"),
    "Azure storage": (
        "AccountKey=",
        "SwfxucQ3JYn9Y+7Fdkk5xTMC/8F2BaXJ1DAjPiaLFj5zn10eVWKRQ39lKIQOKqcpSSQDhdweXyqHALb3EJIDs1==",
    ),
    "Azure Service Bus": ("SharedAccessKey=", "Zdoy0qPZvN+DwqLjfE3ba/IXuUiVEpIHMG0H7XU43wT="),
    "Cloudflare": ("cfut_", "UJa0wuU4ku9aChQ52PVXpuaqZcXRpoSapoaH7o6N818977f2"),
    "Cloudflare origin": (
        "v1.0-",
        (
            "4c19e155722048dc6579b061-d5b6ceea93ef9c07c0141cfda2c59ee115f1b49800cca48a0f7a080dee0303db397b9d6d802"
            "55f76d3ce81c9b79959aba398235264f0dabcc3f59a8cd47060f359eaaab3d6f02fdf2b"
        ),
    ),
    "DigitalOcean": ("dop_v1_", "d5bcdbf92740b3ce181ec7833b15712b376d9ccca400b231c77f2477e1a99210"),
    "Alibaba": ("LTAI", "g8oiC644hvBhdjtZyquN"),
    "Yandex": ("AQVN", "tvKhDHGLKdUu3tExGAmnknRNAhL2GPI0A2Jw"),
    "Databricks": ("dapi", "e8706736de5a7a4f5c181a673a2a915e"),
    "Databricks, numbered": ("dapi", "aae50ce930b96901df69f9a029b2fcdb-2"),
    "Doppler": ("dp.pt.", "UUqX6lfdzY1gzfPhOxXe6YVjHsunjbnoEMhU3LU4Pnr"),
    "Doppler service": ("dp.st.", "dev_main.FmPgZOqoBEr5psNW0pTEwR5rHywziqbaHWZaYLJuw1r"),
    "Vault": (
        "hvs.",
        "OIpWx3HUSgkKMPKVUepktO2SN9KgR3dXupKmv_Ujdfr_LvLtZW0FUncD_1D7s6sEBm8DzEJnjHujDnmhtu69KVEC4X0ru0h",
    ),
    "Vault batch": (
        "hvb.",
        (
            "SJYF8Gr4vpczPjD1qqmhtrSKli6ilSBIDjEWpApr38YSUkJSk5ilfKIvDeSHsC7X8Gd7cXhsRRLQhlApbXKrJaw5V4KIsm4SL-F5"
            "lM22QoPUaRAhc30nBRa1gnbWBrWfrVWb2BKhnWcK19C7sORU-h9SiwV9EQ8J"
        ),
    ),
    "Terraform": ("lPhuvbbIMPQ8Pb.atlasv1.", "fQP03HbViLOxpdi0d3qixWKC2fDAHIj3eOAPEMqvxJXTgMhKJK4ByBhXc3_hWA8BYiK"),
    "1Password account": (
        "ops_eyJ",
        (
            "Bu9sKjJcu88ruldNWw/N8HljI0MXMJ2SoW6+6AIoeezLqLw5YqVU9yWssduxECinoQqRnE3fAxdgEjC2KljoBxgicZlPXgHeDxWT"
            "fyIcEf4ULfyphGvCUqSTg8V44bTM6aiVJfyjGDcJKH+0TAoax4G1c/UkJlRd+MBZYwLQAOUgNoiQwDf+PuUPoG9sqNRnu1iyKrWU"
            "2umDametZ2/+w3DIvBnUZIAkCvJ6D61BW/2JXIhzf4kloZZLl3dy/aDkx5qF9IhfFQXPjl4462kV3R6jHyKVZoIUxt+9DTlNkTT8"
        ),
    ),
    "1Password key": ("A3-", "EUFSWZ-6SAOJFDOSC9-MDQXK-OSW3L-YOJPE"),
    "Pulumi": ("pul-", "d7da3c46110a9d42281d8c9a77bfe8afbc338cbb"),
    "Infracost": ("ico-", "FMhzZGeS7rCd6m02q7baQ5M1fQDzIPbK"),
    "Prefect": ("pnu_", "sQqkue8CuRJkcn6V6HcQuva7e3KoDPe462Y7"),
    "Octopus Deploy": ("API-", "GCN9Z6O046AMU24XTEWYM24PDI"),
    "OpenShift": ("sha256~", "1kUZW2IOKs9XFG9DFcu826uR2CGQjjyS_8B3hUU9kcB"),
    "Tailscale": ("tskey-auth-", "1XWnvp7tF8aICNTRL-jF3rbI3NOMLndTkABlcbFHjUYLMgnHvo"),
    "Linear": ("lin_api_", "7ZmxqboKeWcUFTDi0aTjxozPR9Au7NhQrj0gGBSu"),
    "Notion": ("ntn_", "02106245628DkbynIPC5WIEFd0dglWLgaWqcdC2Pri3fe0"),
    "Notion, older": ("secret_", "UVgW61fZmS8nTycng8CHXtXw8tRkbWjcfXpeCrYSVPJ"),
    "Postman": ("PMAK-", "3f8ae4f9a51063b4f42e43ae-7f026dda2611ef7f84335a1b9999765c6d"),
    "ReadMe": ("rdme_", "3r4dw7aqw6l8k83a7x1afh32jt4w9sqtiq5ih2804mhnqulnkybuacqdgg8ncmxkrcl7c2"),
    "HubSpot": ("pat-na1-", "3f162fa7-8798-8abd-8c70-c66337900512"),
    "Contentful": ("CFPAT-", "sJ_R00XEjSx9U7Ukejuj7JxDejYkzSUttlT21MMtTVE"),
    "Typeform": ("tfp_", "PRQLowNVhsTsrAzN9izBonLHd_khXG9ffr5FAuIRnVNg86fBlFGr4WHFT1w"),
    "New Relic user": ("NRAK-", "TRNGHDCZET73LTRMFKBA4B1T7Q8"),
    "New Relic insert": ("NRII-", "dh0hrzXSnZW5u9OBQeUb8PLObCRMeOwm"),
    "Grafana Cloud": (
        "glc_",
        (
            "eyJOb1Wjbgvp5mwH/ZohFtkFl58LE8X0gtGMXo5hw9wE/xU/gsyl07RZc8T58g/HAK+JSJa0vcda2ZZF6eJ1o7oC5MJN79AxfcZ0"
            "e/Y4ZeTAMocYiURTB9ert2L="
        ),
    ),
    "Grafana service account": ("glsa_", "kvG13aXly61WU278j11cKbV12lADJs4V_ab43c8ef"),
    "Grafana API": (
        "eyJrIjoi",
        "OZHc0J54m28uSj52nyM4FnR8LLlxGzcCigwA4MGV2hZPY1NviYOuV2HmwnfrYXf59KaNwkITEfIsexMcXD4WyuKOaD=",
    ),
    "Sentry organisation": (
        "sntrys_",
        (
            "eyJpYXQiO9jOpL0BS1vMuQyg7Mhr2FLLkun4NKBl7x6t4SwJBEXfYv6C3kn8Me0kN8GRkHFto6LH9Wa33cvlRdyDfr+l+OcGGepK"
            "IIktnz6IULCJyZWdpb25fdXJsWGJ8tUGeQVEYovUlCtevIJK5fbP9jFFw/09mipBZGBugfk4Ai2CDG6H5G+EO=_K725ptTvLCr07"
            "HWW+91I4c/xutLKjluHtbhFJAxDtn3"
        ),
    ),
    "Sentry user": ("sntryu_", "9bb8cf07741190a556a7e450456ac585560ee356865a03018e47bea6c3b5f5f5"),
    "Dynatrace": (
        "dt0c01.",
        "1PPA0BLIHZAN6RGIMXF9U4BR.U1U6FBO21RCN376E2QZPUV1V50DQEHD486DUBH5JUC5LUK8AZJFDEMDAJFVAE23L",
    ),
    "PostHog": ("phx_", "4BsezM42gvv0DHi6AdXRFxn4XXlZwWp2IrvZGtw8Kd6u"),
    "SonarQube": ("squ_", "0d848e9782f46dd9778984b020bde8974030f37b"),
    "Sourcegraph": ("sgp_", "b2c17bd3cd60866c_9913abdc2b3e9e6154c43b5dfea7e281e5307e7f"),
    "PlanetScale": ("pscale_tkn_", "rOPO9xEwXk4GqzkaDqIPPLC7IwjtKM8XNeFxBWtyMEs"),
    "Supabase": ("sbp_", "c7cf8714881946dc7f1fad04b7110a1c3cecef80"),
    "Deno Deploy": ("ddp_", "mZUV9nL89du3KKICZHcuSBmHgzj8JK2QXt16"),
    "Atlassian": (
        "ATATT3",
        (
            "xFfGF05H4b67Yb-3qvLhdNrv83AIZj6Nj4sr-IhZzvHIcD7fvDodmhRmjL6z8pTp5I8C_113k36UtQzwLslKiiNAiF6MszNV8EKQ"
            "F_cmSOixeaqIbWOleEniA11jEmARu-dMkw0m3aP9ezvq8olLsm4ckscJWmHx1FmMwCg3GIBElxgD=V9CVRGG0"
        ),
    ),
    "Bitbucket": ("ATBB", "wo1FQbfFWoXLhhKJiCEgMCyUT7ghU89YZSLM"),
    "Bitbucket Data Center": ("BBDC-", "Y/AV/WyJfsJMcYmxsz3Pj3VWEK+Sq3XAe3r+4gJN7hAL"),
    "Figma": ("figd_", "OK9jhdGjunjDGPHsDGb4wGip5plMGRMXnK491uVL"),
    "Dropbox": (
        "sl.u.",
        (
            "HcAdgSy_6vgdbeW0b-m5ziYZpcD4DDalvV5fX2XtWxerb3DkLQmiZ65BRQ_9kg-sfIaAEoGOzVpcd9qD_IsVfu6Br6AVwJO9mdFN"
            "BztAt8ve6r_WHrcxW6aNpwxT3zcCMngInf5TezR1Ydq9pQOQLRN1xDjPW7VA"
        ),
    ),
    "Heroku": ("HRKU-", "AARXAjxTMX3K28ANkdoR1mIHAB_7r7-GsN4YiX-fxX0ndv-aYkMn09zDV98p"),
    "Netlify": ("nfp_", "DAxejhRXYEFhJ6IovyqoqD7bx1EUyq8n0yTy"),
    "Buildkite": ("bkua_", "6ywu7l1njtomdm51jelgiwezualnuna1jsmzz54q"),
    "CircleCI": ("CCIPAT_", "wgRenfhPOUtO4gbEk2Jewq_598fa3a0df60180f96bcfe20fd0b2622f9e35ed2"),
    "JFrog": ("AKCp", "cfEhkOAGVoa27clmgWtRP0JDFgdadymsOdFJeXyRgTupAnWz4lKx2HRq2kAIa0GSLMDoQ"),
    "JFrog reference": ("cmVmdGtu", "s8wctHaDJ5nqR6aPpBrzdDqb86oRE1PYi4WxA7I1e23QygCCMWGNEK4F"),
    "Fly.io": (
        "fm2_",
        (
            "40WXp1EX9Kuua2wClb5CaUSW6MTTsLJf+K+vfIiSWecSL0YagzLLDXBOpQgxE8xpnJwD1+9HrOjm/t3hwHMBESJ7FnIrOUFCz4z/"
            "w0l4rv3qY+WGTtRNd6ic=="
        ),
    ),
    "Fly.io, older": ("fo1_", "uRS3Pg7WD3CYfJHK98YHo8nTeVzuOqKhIHiiqRVwPAP"),
    "Telegram bot": ("0347845504:AA", "jSE0Y74C7V5zuLLgVuIlbNhDnazUiOyUx"),
    "age": ("AGE-SECRET-KEY-1", "SKF2FWN9VZQE8FVWDQ4H24CL0FTW2T96SKRCL9GZ6KN3CLXCHJMPGLYFHH"),
    "Kubernetes client key": (
        "client-key-data: ",
        (
            "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQoQi1fWBJMXrG2m+OSGorvxR6vEEzjHnMyFfawPZAjUsWGwySKRicqKGh+S"
            "G0bMQdEyzwquixP2n4gw0TyjbPlCqMqsUTQvBOwYA/OtBd/gPkh2XB7osu3UtNctnXENPQccKwFWtOr7kix3LaI7Lt9s4+qBqBu4"
            "zmO5vdfYy0tkI5sTm0g38Zeeo57hAYbN1HMDGFQ4L6BqzHfjSYR9e7cU2colbCCdjByrC7LuZEuMIKQXz0FEwxUQhdjooEj5RUJP"
            "Duo5nJfI33gV0IirIedcGMMSLXCK6Rhw90u+OmjT+oX"
        ),
    ),
    "Docker registry": ('"auth": "', "kElDxyKcnR3tGjzNv4Bpat9QU0hMgzr0S8A0HZjj"),
    "JWT": (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        (
            ".eyJzdWIiOiIx5w-xx5EmHip1Ty7VoEC060XKFWpuywuVeE7VNfRq-lhO8p6gD9yZlTrCVm5o.atOCrzhiHUB_LABFCbsYzoxlvJ"
            "18ftQ-Zi4Y8IJbExT"
        ),
    ),
}
