"""Commands as Click runs them: of a function, each of whose parameters is an argument or an option
by its annotation, or all fields of the object that it takes (`options.typed`).

A command's module is imported when the command is called, or its help is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from types import NoneType
from typing import Any, Final, Literal, Required, TypedDict, Unpack, get_args, get_origin

import click

from rexmit.escaping import shown
from rexmit.values import dataclass

COMMON: Final = ("quiet", "verbose", "no_color")
"""Options of the program that may be typed behind each command."""


class Said(TypedDict, total=False):
    """What is said of an argument or an option beside its names, its type and its default."""

    help: Required[str]
    metavar: str
    min: float
    max: float
    show_default: bool
    is_eager: bool
    expose_value: bool
    callback: Callable[[Any], object]
    autocompletion: Callable[[str], list[str]]


class Parameter:
    """An argument or an option of a command."""

    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    show_default = True
    is_eager = False
    expose_value = True
    callback: Callable[[Any], object] | None = None
    autocompletion: Callable[[str], list[str]] | None = None

    def __init__(self, *names: str, **about: Unpack[Said]) -> None:
        self.names = names
        vars(self).update(about)


class Option(Parameter):
    """Of an option; its name is that of the parameter where none is given."""


class Argument(Parameter):
    """Of an argument."""


class _Number(click.ParamType[Any]):
    """A number within its bounds; what is wrong with one is said in plain words."""

    def __init__(self, kind: type, asked: Parameter) -> None:
        self.name, self.kind, self.least, self.most = kind.__name__, kind, asked.min, asked.max

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        wrong = self._wrong(value)
        if wrong is None:
            return self.kind(value)
        bounds = ""
        if self.least is not None:
            bounds = f"of at least {self.least}"
            if self.most is not None:
                bounds = f"from {self.least} to {self.most}"
            bounds = f"; give one {bounds}"
        return self.fail(f"{shown(str(value))} is {wrong}{bounds}", param, ctx)

    def _wrong(self, value: object) -> str | None:
        """What it is not, or beyond; None where it is right."""
        try:
            number = self.kind(value)
        except ValueError:
            return "no whole number" if self.kind is int else "no number"
        # NaN is on neither side of a bound.
        if self.least is not None and not number >= self.least:
            return f"less than {self.kind(self.least)}"
        if self.most is not None and not number <= self.most:
            return f"more than {self.kind(self.most)}"
        return None


class _Argument(click.Argument):
    """Its help has its type as well, its usage whether it is needed."""

    def __init__(self, name: str, label: str, **given: Any) -> None:  # noqa: ANN401 - as Click's
        super().__init__([name], **given)
        self.label = label

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002
        more = "" if self.nargs == 1 else "..."
        name = self.human_readable_name
        return f"{{{name}}}{more}" if self.required else f"[{name}]{more}"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:  # noqa: ARG002
        return f"{self.human_readable_name} {self.label}", self.help or ""

    def get_error_hint(self, ctx: click.Context | None) -> str:  # noqa: ARG002
        return f"'{self.human_readable_name}'"


class _Command(click.Command):
    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [one for one in self.get_params(ctx) if isinstance(one, click.Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([one.get_help_record(ctx) for one in arguments])


@dataclass(frozen=True)
class Listed:
    """A command that is not loaded: `MODULE:NAME` of its function, or of a group; what it does, in
    a line; the name of the examples in its module, if there are any.
    """

    where: str
    about: str
    examples: str = "EXAMPLES"
    context: Mapping[str, Any] | None = None

    def load(self, name: str) -> click.Command:
        """Imports its module."""
        place, _, attribute = self.where.partition(":")
        module = import_module(place)
        function = getattr(module, attribute)
        if isinstance(function, click.Command):
            function.name = name
            return function
        return _Command(
            name,
            callback=_called(function),
            params=list(_parameters(function)),
            help=function.__doc__,
            short_help=self.about,
            epilog=getattr(module, self.examples, None),
            context_settings=dict(self.context or {}),
        )


class Group(click.Group):
    """Commands, loaded when they are called, each with the common options."""

    def __init__(self, listed: Mapping[str, Listed], **about: Any) -> None:  # noqa: ANN401
        super().__init__(no_args_is_help=True, **about)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names, in the order of the help."""
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name in self.listed and cmd_name not in self.commands:
            self.commands[cmd_name] = self.listed[cmd_name].load(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.about) for name, one in self.listed.items()])

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as Click's
        """Runs a command. What is wrong with its words is said with these as they may be shown."""
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise click.UsageError(shown(error.format_message()), ctx=error.ctx) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:  # noqa: ANN401 - Click's
        """The command that these words begin with."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=self.listed, ctx=ctx
            ) from None
        if command is not None and not isinstance(command, Group):
            there = {one.name for one in command.params}
            common = [one for one in ctx.find_root().command.params if one.name in COMMON]
            command.params += [one for one in common if one.name not in there]
        return name, command, rest


def _called(function: Callable[..., object]) -> Callable[..., object]:
    """Called with lists, and None in place of an empty one."""

    @wraps(function)
    def call(**words: object) -> object:
        return function(
            **{
                name: (list(value) or None) if isinstance(value, tuple) else value
                for name, value in words.items()
            }
        )

    return call


def _parameters(function: Callable[..., object]) -> Iterator[click.Parameter]:
    """Arguments and options of a function, in its order."""
    for one in inspect.signature(function, eval_str=True).parameters.values():
        kind, asked = get_args(one.annotation)
        yield parameter(one.name, kind, asked, one.default)


def parameter(name: str, kind: Any, asked: Parameter, default: Any) -> click.Parameter:  # noqa: ANN401
    """An argument or an option of a type: bool, int, float, str, Path or words of a `Literal`, or a
    list of one of those but the first; or None.
    """
    (kind,) = [one for one in get_args(kind) if one is not NoneType] if _or_none(kind) else [kind]
    many = get_origin(kind) is list
    one = get_args(kind)[0] if many else kind
    words = get_args(one) if get_origin(one) is Literal else ()
    required = default is inspect.Parameter.empty
    label = "|".join(words) or _label(one, asked, many=many)
    given: dict[str, Any] = {
        "help": asked.help + _remarks(one, asked, None if required else default, required=required),
        "is_eager": asked.is_eager,
        "expose_value": asked.expose_value,
        "callback": _checked(asked.callback),
        "type": _type(one, asked, words),
    }
    if not words:
        given["shell_complete"] = _offered(asked.autocompletion)
    if not required and not (default is None and many):
        given["default"] = default
    label = f"<list[{label}]>" if many else f"<{label}>"
    if isinstance(asked, Argument):
        nargs = -1 if many else 1
        return _Argument(
            name, label, required=required, nargs=nargs, metavar=asked.metavar, **given
        )
    return click.Option(
        [name, *(asked.names or (f"--{name.replace('_', '-')}",))],
        # Of one that is said to be no flag Click lets the value be left out.
        is_flag=one is bool or None,
        multiple=many,
        show_default=False,
        metavar=asked.metavar or label,
        **given,
    )


def _or_none(kind: object) -> bool:
    return NoneType in get_args(kind)


def _type(kind: Any, asked: Parameter, words: Sequence[str]) -> Any:  # noqa: ANN401
    if words:
        return click.Choice(words)
    return _Number(kind, asked) if kind in (int, float) else kind


def _label(kind: type, asked: Parameter, *, many: bool) -> str:
    """What stands for a value of this type."""
    if many:
        return kind.__name__
    return f"{kind.__name__} range" if asked.min is not None else kind.__name__.lower()


def _remarks(kind: type, asked: Parameter, default: object, *, required: bool) -> str:
    """What stands behind the help of a parameter."""
    remarks = []
    if asked.show_default and default is not None and kind is not bool:
        remarks.append(f"default: {default}")
    if asked.min is not None:
        remarks.append(f"x>={asked.min}" if asked.max is None else f"{asked.min}<=x<={asked.max}")
    if required:
        remarks.append("required")
    return f"  [{'; '.join(remarks)}]" if remarks else ""


def _checked(callback: Callable[[Any], object] | None) -> Any:  # noqa: ANN401 - as Click calls it
    """Not called where words are only completed."""
    if callback is None:
        return None
    return lambda context, _, value: value if context.resilient_parsing else callback(value)


def _offered(names: Callable[[str], Sequence[str]] | None) -> Any:  # noqa: ANN401 - as Click calls it
    """What a shell offers: these names, else files."""

    def offer(_: object, __: object, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        offered = names(incomplete) if names is not None else ()
        return [CompletionItem(one) for one in offered] or [CompletionItem(incomplete, type="file")]

    return offer
