"""Print a completion script for your shell.

Source the script, or save it where your shell looks for completions, as in the examples.

examples:
  rankscope completion bash > ~/.local/share/bash-completion/completions/rankscope
  rankscope completion zsh > "${fpath[1]}/_rankscope"
  rankscope completion fish > ~/.config/fish/completions/rankscope.fish
"""

import argparse
import sys

from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import command_module

# The scripts are written here because shtab supports no fish, and needs one parser with all commands.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to complete in")


def run(args: argparse.Namespace) -> None:
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]())


def _list_flags(command: str) -> list[str]:
    """Return the long options of a command."""
    module = command_module(command)
    if not hasattr(module, "add_arguments"):
        return []
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return [flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")]


def _bash() -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(_list_flags(name))}" ;;' for name in COMMANDS)
    return f"""_rankscope() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}"
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(COMMANDS)}"; fi
  if [ "$COMP_CWORD" -eq 1 ] || [ "${{current#-}}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _rankscope rankscope
"""


def _zsh() -> str:
    listed = "\n".join(
        f"    '{name}:{_remove_quotes(command.meaning)}'" for name, command in COMMANDS.items()
    )
    cases = "\n".join(
        f"      {name}) _values -w option {' '.join(_list_flags(name))}; _files ;;" for name in COMMANDS
    )
    return f"""#compdef rankscope
_rankscope() {{
  local -a commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    case $words[2] in
{cases}
    esac
  fi
}}
_rankscope "$@"
"""


def _fish() -> str:
    lines = ["complete -c rankscope -n __fish_use_subcommand -f"]
    for name, command in COMMANDS.items():
        meaning = _remove_quotes(command.meaning)
        lines.append(f"complete -c rankscope -n __fish_use_subcommand -a {name} -d '{meaning}'")
        condition = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c rankscope -n {condition} -l {flag[2:]}" for flag in _list_flags(name)]
    return "\n".join(lines) + "\n"


def _remove_quotes(text: str) -> str:
    return text.replace("'", "")
