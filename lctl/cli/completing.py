"""`lctl completion`: the script that makes a shell complete commands, options and runs."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
      bash   eval "$(lctl completion bash)"                     in ~/.bashrc
      zsh    eval "$(lctl completion zsh)"                      in ~/.zshrc
      fish   lctl completion fish > ~/.config/fish/completions/lctl.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

    from lctl.cli.application import lctl

    kinds: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    kind = kinds[shell]
    # Not `source()`: for bash that starts a bash to ask its version, which need not be here.
    script = kind(lctl, {}, "lctl", "_LCTL_COMPLETE")
    click.echo(script.source_template % script.source_vars())
