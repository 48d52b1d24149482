"""What programs do with their arguments: the tables that reading a command depends on."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs whose first argument that is no option is what they do.
WITH_SUBCOMMAND = _words(
    """apt apt-get brew bun bundle cargo composer conda docker dotnet gem gh git glab go gradle helm hatch jj kubectl mvn nix
    npm nx pdm pip pipenv pnpm podman poetry rails rustup sbt swift systemctl terraform tox uv yarn"""
)
#: Shells: an argument or their input is a script.
SHELLS = _words("ash bash busybox csh dash elvish fish ksh mksh nu oksh pwsh rbash sh source tcsh yash zsh . xonsh")
#: They start the program that their arguments name, after options of their own.
LAUNCHERS = _words(
    """at batch builtin bunx bwrap caffeinate catchsegv chroot chrt chpst command coproc cpulimit daemonize dbus-launch
    dbus-run-session doas dtach entr env exec expect faketime fakechroot fakeroot fd fdfind find firejail flock
    gdb gosu gfind hyperfine ionice just ld.so ltrace mosh nc ncat nice nohup nsenter numactl osascript parallel perf
    pkexec pipx prlimit proot rlwrap rr rsync run-parts runuser script setarch setpriv setsid socat softlimit ssh ssh-agent
    start-stop-daemon stdbuf strace su sudo systemd-run task taskset time timeout tini tmux tsocks unbuffer unshare
    valgrind watch watchexec watchman xargs xvfb-run npx uvx pnpx screen torsocks proxychains proxychains4"""
)
#: Launchers that start a program only behind one of these options.
EXEC_OPTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("find", "gfind"), _words("-exec -execdir -ok -okdir")),
    **dict.fromkeys(("fd", "fdfind"), _words("-x -X --exec --exec-batch")),
}
#: They take part of their arguments from a file list or their input.
FED_ARGUMENTS = _words("fd fdfind find gfind parallel xargs")
#: Their arguments, put together, are a script.
EVALUATORS = _words("alias eval trap bind compgen complete mapfile readarray")
#: They run what they read from their input.
READS_CODE = re.compile(
    r"(?:python|pypy|ruby|perl|lua|node|deno|bun|php|tclsh|irb|Rscript|R|psql|g?make|bmake)(?:[0-9.]*)"
)
#: They run code in a language of their own that an argument holds.
INTERPRETERS = re.compile(
    r"(?:python|pypy|ruby|perl|lua|node|deno|bun|php|tclsh|wish|osascript|g?awk|mawk|nawk|sed|gsed|ed|ex|vi|vim|nvim|view|emacs"
    r"|irb|ghci|guile|jshell|groovy|julia|Rscript|R|octave|sqlite3|psql|mysql|gdb|lldb|jq|m4|make|gmake|bmake|cmake|ninja|ant"
    r"|pip|rake|scons|meson|bazel|erl|elixir|racket|scheme|swipl|bc|dc|gnuplot|tar|gtar|bsdtar|zip|git-shell|scp|sftp|ftp|less"
    r"|more|man|most|rg|sort|split|openssl|nmap|tcpdump|crontab|msfconsole|expect|dd"
    r"|ocaml|sbcl|clisp|ecl|csi|gosh|gjs|qjs|luajit|iex|escript|java|scala|kotlin|clojure|clj|bb|dart|raku|tcc)(?:[0-9.]*)"
)
#: They start a program that one of their options names, such as `gcc -wrapper`.
NAMING_PROGRAMS = _words("ansible ansible-playbook c++ cc clang clang++ cpp g++ gcc gfortran ld rustc rustdoc")
#: Subcommands of git that start a program which an option, a setting or an address (`ext::…`) names.
NAMING_GIT = _words(
    """archive clone config cvsimport fetch fetch-pack grep help imap-send init instaweb ls-remote maintenance p4 pull push
    remote send-email send-pack svn upload-archive web--browse"""
)
#: Subcommands that run what the rest of their arguments say.
RUNNING_SUBCOMMANDS = _words(
    "run exec x dlx shell bisect foreach filter-branch submodule rebase difftool mergetool daemon env"
)
#: Of these, those whose next word that is no option is the program.
STARTING_SUBCOMMANDS = _words("run exec x dlx")
#: Programs whose `run` names a task or a tool, which is then part of the prefix.
NAMED_RUNS = _words("bun hatch npm pdm pipenv pnpm poetry uv yarn")
#: They take things away or grant more rights.
DESTRUCTIVE = _words(
    """chgrp chmod chown dd doas fdisk kill killall mkfs mount pkill reboot rm rmdir shred shutdown su sudo truncate umount
    unlink wipefs"""
)


def runs_arguments(program: str) -> bool:
    """Return True for a program that may run what its arguments say, so that no prefix of it is safe to allow."""
    named = SHELLS | LAUNCHERS | EVALUATORS | NAMING_PROGRAMS
    return program in named or INTERPRETERS.fullmatch(program) is not None


def is_destructive(program: str) -> bool:
    """Return True for a program that takes things away or grants more rights."""
    return program in DESTRUCTIVE or program.startswith("mkfs")
