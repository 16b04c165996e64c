"""The part of the command line that one invocation needs.

Typer builds every command of an application, with the types of all its options, before it looks at the first argument:
that takes longer than most commands themselves.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import typer
from typer.main import get_command_name
from typer.models import CommandInfo, TyperInfo


def needed_for(app: typer.Typer, arguments: Sequence[str]) -> typer.Typer:
    """Return the application with only the command that the arguments begin with, and the groups that lead to it.

    Where they name none (an option, a mistake, nothing at all), all commands are kept, to be listed or suggested.
    """
    if not arguments:
        return app
    commands = [each for each in app.registered_commands if _command_name(each) == arguments[0]]
    groups = [each for each in app.registered_groups if each.name == arguments[0]]
    if not commands and not groups:
        return app
    needed = copy.copy(app)
    needed.registered_commands = commands
    needed.registered_groups = [_group_needed_for(group, arguments[1:]) for group in groups]
    return needed


def _group_needed_for(group: TyperInfo, arguments: Sequence[str]) -> TyperInfo:
    if group.typer_instance is None:
        return group
    needed = copy.copy(group)
    needed.typer_instance = needed_for(group.typer_instance, arguments)
    return needed


def _command_name(command: CommandInfo) -> str:
    if command.name is not None:
        return command.name
    assert command.callback is not None
    return get_command_name(command.callback.__name__)
