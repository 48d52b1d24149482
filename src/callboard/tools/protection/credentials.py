"""Private paths of a home, such as keys and start files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

#: Relative to a home. Commands see them as empty and read-only. File tools refuse them.
PRIVATE: Final = (
    # Keys and credentials.
    *""".ssh .aws .azure .gnupg .kube .docker .config/gcloud .config/gh .config/hub .config/op .config/rclone
    .config/containers .config/age .config/sops .terraform.d .vault-token .password-store .netrc .npmrc .yarnrc
    .yarnrc.yml .pypirc .pgpass .my.cnf .git-credentials .gitconfig .config/git .cargo/credentials
    .cargo/credentials.toml .gem/credentials .m2/settings.xml .config/pip""".split(),
    # Keyrings, browsers and mail.
    *""".local/share/keyrings .local/share/kwalletd .mozilla .config/google-chrome .config/chromium .thunderbird
    .config/BraveSoftware .config/microsoft-edge .config/Signal .config/Slack snap/firefox Library/Keychains""".split(),
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    # Start files of shells and sessions, and histories.
    *""".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .inputrc .config/fish .xprofile .xsessionrc .xinitrc .pam_environment .config/autostart .config/systemd
    .config/environment.d .local/share/systemd Library/LaunchAgents .bash_history .zsh_history .python_history
    .node_repl_history .psql_history .lesshst .viminfo .vimrc .vim .config/nvim .emacs .emacs.d .local/bin bin""".split(),
)
#: Names of `PRIVATE` that the user's programs rewrite at any time and that control no program.
REMEMBERED: Final = frozenset(
    (".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".lesshst", ".viminfo")
)
#: Folders that contain much more than one project.
_SYSTEM: Final = frozenset(
    "/ /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var "
    "/Users /System /Library /Applications".split()
)
#: System folders at every depth.
_WITHIN: Final = frozenset(
    "/bin /boot /etc /lib /lib32 /lib64 /proc /sbin /sys /usr/bin /usr/lib /usr/sbin /System /Library".split()
)
_HOMES: Final = frozenset(("/home", "/Users"))


def list_private(user_home: str) -> tuple[str, ...]:
    """Return the absolute private paths of a home, also below its real path."""
    homes = dict.fromkeys((user_home.rstrip("/"), os.path.realpath(user_home)))
    return tuple(f"{folder}/{name}" for folder in homes for name in PRIVATE)


def describe_breadth(folder: Path, user_home: Path) -> str:
    """Return why a folder needs confirmation before it is opened; empty for an ordinary one.

    Args:
        user_home: Home of the user that runs Callboard.
    """
    resolved, own_home = folder.resolve(), user_home.resolve()
    if resolved == own_home:
        return "it is your home: agents could read and change everything of yours in it"
    if resolved in own_home.parents:
        return "your home is in it: agents could read and change everything of yours"
    paths = {str(resolved), *(str(path) for path in resolved.parents)}
    if paths & {os.path.realpath(path) for path in list_private(str(own_home))}:
        return "it holds keys, credentials or start files of yours"
    if str(resolved.parent) in _HOMES:
        return "it is a home: agents could read and change everything in it"
    return "it is a folder of the system, not a project" if str(resolved) in _SYSTEM or paths & _WITHIN else ""
