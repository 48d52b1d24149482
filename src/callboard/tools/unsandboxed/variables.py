"""Environment variables that make a program load or run code."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Sequence
from typing import Final

#: Patterns of names. A folder's files must not set these for programs outside the sandbox.
LOADERS: Final = (
    # The system's loader and the C library.
    *("LD_*", "DYLD_*", "GCONV_PATH", "GETCONF_DIR", "HOSTALIASES", "LOCPATH", "NLSPATH", "MALLOC_*", "GLIBC_TUNABLES"),
    # Folders of programs and of start files.
    *("PATH", "HOME", "SHELL", "XDG_*", "CDPATH"),
    # Shells.
    *("BASH_*", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "PROMPT_COMMAND", "FPATH"),
    # Interpreters.
    *("PYTHON*", "NODE_*", "NPM_CONFIG_*", "npm_config_*", "YARN_*", "BUN_*", "DENO_*", "PERL5*", "PERLLIB", "RUBY*"),
    *("GEM_*", "BUNDLE_*", "LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_*"),
    *("CLASSPATH", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "DOTNET_*", "CORECLR_*", "COR_*", "ERL_*", "ELIXIR_*"),
    *("R_PROFILE*", "R_ENVIRON*", "JULIA_*", "TCLLIBPATH", "GUILE_*", "EMACSLOADPATH", "VIMINIT", "EXINIT"),
    # Package managers and builds.
    *("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "PIP_*", "UV_*", "CARGO_*", "RUSTC*", "GOFLAGS", "GO*PATH"),
    *("CC", "CXX", "CONDA_*", "VIRTUAL_ENV", "POETRY_*"),
    # Programs that others start.
    *(
        "GIT_*",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "MANPAGER",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
    ),
    *("OPENSSL_*", "SSLKEYLOGFILE", "KRB5_CONFIG", "DOCKER_*", "KUBECONFIG"),
)
#: Variables of this process that programs outside the sandbox inherit.
_INHERITED: Final = ("PATH", "HOME")
_DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def build_base_environment() -> dict[str, str]:
    """Return the variables of every server and hook. Those of its settings are added."""
    return {"PATH": _DEFAULT_PATH, **{name: os.environ[name] for name in _INHERITED if name in os.environ}}


def is_loader(name: str) -> bool:
    """Return True for a variable that a folder's files must not set."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in LOADERS)


def list_loaders(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted names that a folder's files must not set."""
    return tuple(sorted({name for name in names if is_loader(name)}))


def read_assignments(command: Sequence[str]) -> dict[str, str]:
    """Return the variables that a command sets with `env NAME=value`."""
    if not command or command[0].rpartition("/")[2] != "env":
        return {}
    pairs = (word.partition("=") for word in command[1:] if "=" in word and not word.startswith("-"))
    return {name: value for name, _, value in pairs if name.isidentifier()}
