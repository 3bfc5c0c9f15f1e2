"""Rust under Python (crates/python). Private: use what the package offers."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypedDict, Unpack, final

# A capture that is no file: `open()` gives an object whose `read(size)` gives at most so many
# bytes, none at the end; `str()` of it is its name. What they raise is what is wrong with it.
_Object = Any

class _Writable(Protocol):
    """What takes bytes, and says how many."""

    def write(self, data: bytes, /) -> int: ...

@final
class Packet:
    """One TCP packet; numbers are as on the wire."""

    @property
    def time_ns(self) -> int:
        """Time stamp, nanoseconds."""
    @property
    def src(self) -> str:
        """Source address as text."""
    @property
    def dst(self) -> str:
        """Destination address as text."""
    @property
    def sport(self) -> int:
        """Source port."""
    @property
    def dport(self) -> int:
        """Destination port."""
    @property
    def seq(self) -> int:
        """Sequence number."""
    @property
    def ack(self) -> int:
        """Acknowledgement number; without meaning unless the flag ACK is set."""
    @property
    def flags(self) -> int:
        """The flags' bits, FIN lowest (RFC 9293 section 3.1)."""
    @property
    def payload_len(self) -> int:
        """Payload by the IP header's length, bytes."""
    @property
    def window(self) -> int:
        """The window field, not scaled."""
    @property
    def window_scale(self) -> int | None:
        """The shift of later windows that a SYN offers, as sent; None where it offers none."""
    @property
    def mss(self) -> int | None:
        """The largest segment that a SYN offers, bytes; None where it offers none."""
    @property
    def sack_permitted(self) -> bool:
        """Whether a SYN permits selective acknowledgements."""
    @property
    def timestamps(self) -> tuple[int, int] | None:
        """Value and echo of the timestamps; None without the option."""
    @property
    def sack(self) -> list[tuple[int, int]]:
        """Start and end of each SACK block."""
    @property
    def comment(self) -> str | None:
        """The packet's comment in the capture."""

@final
class StackPage:
    """A stack of the model: every setting with its source."""

    @property
    def name(self) -> str:
        """The stack's name."""
    @property
    def about(self) -> str:
        """What it is, in a line."""
    @property
    def settings(self) -> list[StackSetting]:
        """Its settings, in order."""

@final
class StackSetting:
    """A setting of a stack."""

    @property
    def name(self) -> str:
        """The name, as in `stack.min_rto`."""
    @property
    def value(self) -> str:
        """The value as text."""
    @property
    def source(self) -> str:
        """Where the value comes from."""
    @property
    def about(self) -> str:
        """What it sets."""
    @property
    def allowed(self) -> str:
        """What may stand there."""

def unpack_limit() -> int:
    """How many times as many bytes may come out of packed captures."""

def set_unpack_limit(times: int) -> None:
    """From here on so many times as many bytes may come out of packed captures."""

def table_size(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """The rows of a Parquet file, and bytes that they take in memory: all, and those of its largest
    group. Raises ValueError for a file that no table of ours is like.
    """

def version() -> str:
    """The version of rexmit."""

def stream_uniform(seed: int, name: str, index: int, count: int) -> list[float]:
    """The first `count` numbers of a random stream, uniform in [0, 1).

    Seed and index are of 64 bits, without sign; OverflowError otherwise.
    """

def student_tails(t: float, freedom: float) -> float:
    """How probable `t` or more is, to either side, by Student's t; `freedom` is in degrees.

    Raises ValueError unless that is positive.
    """

def student_quantile(share: float, freedom: float) -> float:
    """The value below which a share of Student's t lies. Its relative error is 1e-12 up to a
    thousand degrees of freedom, and grows with them to 1e-7. Raises ValueError unless the share is
    between 0 and 1 and `freedom` positive.
    """

def binomial_quantile(share: float, n: float, probability: float) -> float:
    """The number of `n` cases, each of this probability, that a share of times is not exceeded,
    continued between whole numbers by the incomplete beta function; 0 where no case at all is more
    probable than the share. Its relative error is 1e-12 up to 10,000 cases, 1e-7 from a variance of
    30,000 on. Raises ValueError for what no distribution has.
    """

def stream_u64(seed: int, name: str, index: int, count: int) -> list[int]:
    """The first `count` numbers of a random stream, 64 bits each."""

def toml_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line, from 1, of every table, key and entry of a list in a valid TOML document, by path.

    Parts of keys are text, places in lists numbers from 0.
    """

def loss_pattern(text: str) -> str:
    """The text of a loss pattern, read and written again; `none` where it drops nothing.

    Raises ValueError with what is wrong, where, and what should stand there.
    """

def read_pcapng(path: str | os.PathLike[str]) -> list[Packet]:
    """The TCP packets of a pcapng file with link type RAW, in the file's order.

    Other packets are left out. Raises OSError when the file cannot be read or is no whole capture,
    ValueError for another link type.
    """

def check_filter(text: str) -> None:
    """Raises ValueError, with libpcap's message, for an expression that does not compile for any
    usual link type, and ImportError where libpcap is not installed.
    """

def find_frames(
    captures: Sequence[str | os.PathLike[str] | _Object],
    wanted: Mapping[str, Sequence[Any]],
    *,
    filter: str | None = None,  # noqa: A002 - libpcap's word
    report: Callable[[int], object] | None = None,
) -> tuple[
    list[tuple[int, int]],
    tuple[list[int | None], list[int | None], list[int | None]],
]:
    """The frames of retransmissions, in captures that can be read again.

    `wanted` has columns: `flow`, `time_ns`, `seq_start` of the retransmission; `since_ns`, before
    which packets are of another connection; `heard_by_ns`, up to which an acknowledgement must have
    passed to have triggered it, or None. Returns the files in the order in which they begin, with
    their numbers of packets, and for each retransmission its frame, that of the copy before it and
    that of the acknowledgement; frames are counted from 1, file after file in that order.

    `report` is called with the packets read since it was called before. Raises OSError where
    captures cannot be read, ValueError for a filter that does not compile.
    """

def copy_commented(
    captures: Sequence[tuple[str | os.PathLike[str] | _Object, int]],
    comments: Sequence[tuple[int, Sequence[str]]],
    out: _Writable,
    *,
    without: str,
    filter: str | None = None,  # noqa: A002 - libpcap's word
    report: Callable[[int], object] | None = None,
) -> tuple[int, int, list[str]]:
    """Copies captures, of each so many packets, into one pcapng stream with comments.

    `comments` are of frames, counted from 1, in their order; earlier comments that begin with
    `without` are left out. Returns the packets that were written, the comments that found no room,
    and sentences on files. Raises OSError for a capture that cannot be read or has changed, and
    what `out` raises.
    """

def read_flows(
    paths: Sequence[str | os.PathLike[str]], flows: Sequence[tuple[str, str, int, int]]
) -> list[list[Packet]]:
    """Of each connection (two ends, as in `10.0.0.1:80`, and times in ns from and to, both
    included) the packets, in order of time, out of captures of any kind that are read as one.

    Raises OSError for what cannot be read, ValueError for a text that is no address with a port.
    """

def stack_names() -> list[str]:
    """The stacks of the model."""

def whatif_settings(words: list[str]) -> list[str]:
    """The settings that words of a what-if name, `default` and `grid` among them, each once.

    Raises ValueError for a setting that there is not.
    """

def emulations(words: list[str]) -> list[str]:
    """The pages of the emulated senders that words choose: a stack as tables call it, a page of
    one, `unc-2007` for the four of the study, each left out with `no-` before it; all without any.

    Raises ValueError for a name that there is not, and where none is left.
    """

def stack_pages() -> list[StackPage]:
    """The pages of the model's stacks: every setting with its source."""

def check_stack(
    name: str, changes: dict[str, str], sysctls: dict[str, str]
) -> list[tuple[str, str]]:
    """Every setting of a stack and its value as text, with sysctls and then changes put over its
    own.

    Raises ValueError for a stack, setting or value that there is not, and for values that do not go
    together.
    """

def check_setting(name: str, value: str) -> None:
    """Whether a setting of stacks can have a value, whatever the others are.

    Raises ValueError where there is no such setting, or the text is no value of it.
    """

def run_model(
    plan: str, share: str | os.PathLike[str] | None = None
) -> tuple[str, dict[str, Batch]]:
    """What the model tells of a plan: the events that are no rows, a JSON object a line, and the
    tables of a run by name, with the columns that an engine tells.

    Captures go into the folder `captures` of `share`. A cell that cannot be run is an event too;
    raises ValueError for a text that is no plan.
    """

def make_corpus(
    request: Mapping[str, Any], report: Callable[[int, int, list[int]], None]
) -> tuple[int, int, list[int], dict[str, list[Batch]]]:
    """Make captures of the model and tables of their truth, of what `rexmit_validate.synth.make`
    says.

    `report` is called now and then with connections, retransmissions and the packets of each
    capture so far; these are returned, and of each table the rows without what is `known`. Raises
    ValueError for a mix or stack that cannot be, OSError when a file cannot be written, and
    whatever `report` raises.
    """

def kind_names() -> list[tuple[str, str]]:
    """The kinds that `rewrite_captures` knows: names, and what they are in a line."""

def rewrite_captures(request: Mapping[str, Any]) -> Batch:
    """Rewrite the captures of one part of a corpus; `rexmit_validate.synth.kinds` says what of.

    For each row of the truth the columns with the times at which the new captures show it. Raises
    OSError for a file that cannot be read or written, ValueError for a kind or point that there is
    not, a link that is neither Ethernet nor raw IP, and a row that its capture does not show.
    """

_Column = tuple[str, str, str, str | None, bool, bool]

def aligned(steps: Sequence[Any], times: Sequence[int]) -> list[int]:
    """Times of a point's clock by the first point's, in nanoseconds; `steps` as `Points.stretches`
    has them for the point."""

def places() -> list[tuple[str, list[tuple[str, list[str], list[_Column]]]]]:
    """Every table by the place where it is kept (`run`, `trace`, `truth`, `kernel-truth`), as
    crates/schema declares it: its name, the columns that its rows are sorted by, and its columns;
    of each the name, the kind (`text`, `integer`, `number`, `boolean`), the meaning, the unit,
    whether it may be null, and whether it is `known`: not told by an engine, but by whoever asks
    for the rows.
    """

def owners() -> list[str]:
    """The words of owners of time, in order."""

def mechanisms() -> list[str]:
    """The words of mechanisms, in order."""

@final
class Batch:
    """Rows of one table, which whatever speaks Arrow takes without a copy: `polars.DataFrame(it)`.

    Text is a string view, `integer` an int64, `number` a float64.
    """

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The capsules `arrow_schema` and `arrow_array` of the Arrow PyCapsule interface."""

@final
class RunRows:
    """Rows that an engine tells as events, as tables of a run."""

    def __init__(self) -> None: ...
    def add(self, kind: str, event: str) -> None:
        """Add the row of an event of this type, a JSON object; fields that no column has are left
        out. Raises ValueError with what is wrong with it."""
    def tables(self) -> dict[str, Batch]:
        """The tables by name, with the columns that an engine tells. No rows are left then."""

@final
class Samples:
    """Samples of the packets of captures, by which captures of the same packets are known.

    With a `limit` only so many packets of each capture are looked at; with a `filter`, in libpcap's
    language, those that pass it, also where they are followed.
    """

    def __init__(
        self,
        captures: Sequence[str | os.PathLike[str] | _Object],
        *,
        limit: int | None = None,
        filter: str | None = None,  # noqa: A002 - libpcap's word
    ) -> None: ...
    def read(self) -> int | None:
        """Reads on: packets read so far; None when all are. ValueError for what is no capture."""
    def in_common(self) -> list[tuple[int, int]]:
        """Pairs of captures that have packets in common."""
    def unlike(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Further pairs that are of two points, by their clocks; `pairs` are of two points each."""
    def overlap(self, one: int, other: int) -> tuple[int, int]:
        """Of two captures the packets of both samples, and how many the smaller one has."""
    def apart(self, one: int, other: int) -> tuple[int, int, bool] | None:
        """What the other's clock shows more at packets of both: least and most, nanoseconds; and
        whether any of these has the same addresses and ports in both.
        """

class Points:
    """The packets of several points, followed from one to the next.

    `groups` are of each point the numbers of its captures in `samples`.
    """

    def __init__(
        self, samples: Samples, groups: Sequence[Sequence[int]], names: Sequence[str]
    ) -> None: ...
    def next_batch(self) -> dict[str, Batch] | None:
        """The next rows of `legs` and `followed` of `places` of `points`; none when there are no
        more."""
    def progress(self) -> int:
        """TCP packets followed so far."""
    def clocks(self) -> list[dict[str, Any]]:
        """Of each point its packets, and how its clock stands to the first point's."""
    def failures(self) -> dict[str, Any]:
        """Connections that could not be followed: `failed`, `failed_packets` and `failures` as
        `Trace.summary` has them."""
    def stretches(self) -> list[list[Any]]:
        """Of each point what `aligned` needs to tell its times by the first point's clock."""

class _Readable(Protocol):
    def read(self, size: int, /) -> object:
        """At most so many bytes, or another object with a buffer; none at the end."""

class _Asked(TypedDict, total=False):
    """What an analysis is asked for; what is None, or left out, is as usual."""

    whatif: bool | list[str] | None
    most_connections: int | None
    idle_s: float | None
    linger_s: float | None
    uncalibrated: bool | None
    timeline: bool | None
    names: bool | None
    stacks: list[str] | None
    key: tuple[int, int, int] | None

def most_groups(**asked: Unpack[_Asked]) -> int:
    """How many groups the connections of a capture can be divided into for `read_part`.

    It depends on `most_connections`: few are not divided.
    """

def read_part(
    source: str | os.PathLike[str] | _Readable,
    name: str,
    out: str | os.PathLike[str],
    *,
    groups: int,
    keep_broken: bool = False,
    report: Callable[[int, float], object] | None = None,
    **asked: Unpack[_Asked],
) -> dict[str, Any]:
    """Read one file of a capture and write its packets, by groups of connections, into the folder
    `out`, which is there when it is whole and takes the place of one that is there already.

    The first step of an analysis in parts; each file is read once, in any order and anywhere.
    `source` is a path or an object with `read(size)`, which gives at most `size` bytes, none at the
    end. `name` is the file's name for warnings. `groups`, `key` and `most_connections` are the same
    for all files. By `key`, three words of 64 bits drawn by chance, connections are spread over
    groups; who sends packets must not know it. Without one a fixed one is taken. `report` hears now
    and then how many packets were read and what the capture's clock says, in seconds; what it
    raises ends the work.

    Gives `name`, `packets`, `tcp_packets` of them, `bytes` on the wire, `first_ns` and `last_ns`
    (None without packets), `error`, which says why the file was not read to its end (the packets
    before are there; None mostly), and `warnings` as sentences, `error` among them.

    Raises ValueError for what is no capture, OSError for a file that cannot be opened or a source
    that fails while it is read: nothing is written then. With `keep_broken` the packets that came
    before a source failed with OSError are the part, if there are any.
    """

def analyse_part(
    parts: Sequence[str | os.PathLike[str]],
    group: int,
    out: str | os.PathLike[str],
    *,
    report: Callable[[int, float], object] | None = None,
    **asked: Unpack[_Asked],
) -> dict[str, Any]:
    """Analyse one group of the connections of a capture, and write its rows into the folder `out`,
    which is there when it is whole and takes the place of one that is there already.

    The second step. `parts` are the folders of all files, in the order in which `Trace` would be
    given the files. Settings are those of `Trace`. `report` is as in `read_part`, with the group's
    packets. Gives `group`, `tcp_packets`, `connections`, `rows` and `pieces`; or `full` alone, and
    nothing is written, where several groups together have more than `most_connections` at a time:
    which of them make room for others, one group does not know. Raises OSError for a file that
    cannot be read, ValueError for what is of another version, cut off or broken, or does not go
    together.
    """

def judge_parts(
    parts: Sequence[str | os.PathLike[str]],
    rows: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    **asked: Unpack[_Asked],
) -> dict[str, Any]:
    """Judge the rows that wait for what other connections of their host say, and write them into
    the folder `out`, as `analyse_part` does.

    The third step, the one that is not divided; it reads only what it must. `parts` and settings
    are as in `analyse_part`, `rows` what that wrote of each group, in any order. Gives what
    `Trace.summary` gives, and `pieces`: the bytes of each piece that there is to merge; or `full`,
    as `analyse_part`.
    Raises OSError for a file that cannot be read, ValueError for what is of another version, cut
    off or broken, of other files or settings, where a group is missing, and when nothing could be
    read at all.
    """

@final
class MergeParts:
    """The rows of all groups, as `Trace` gives them from the same files with the same settings.

    The fourth step. `rows` are the folders of all groups in the order of the groups, `judged` what
    `judge_parts` wrote. With `pieces` only those from one number on to before another, from 0 on:
    the rows of all pieces one after the other are all rows in their order. Raises OSError for a
    file that cannot be read, ValueError for what is of another version, cut off or broken, or does
    not go together.
    """

    def __init__(
        self,
        rows: Sequence[str | os.PathLike[str]],
        judged: str | os.PathLike[str],
        *,
        pieces: tuple[int, int] | None = None,
    ) -> None: ...
    def next_batch(self) -> dict[str, Batch] | None:
        """As `Trace.next_batch`."""

class Trace:
    """The analysis of captures, at work on threads of its own.

    `captures` are the files of one capture, `-` is standard input; or objects that read one from
    elsewhere. `jobs` is the number of threads;
    results do not depend on it. `whatif` are the settings to replay, such as `k=2,min_rto=100ms`,
    `default` and `grid`; the default ones unless given, none if False. `uncalibrated` leaves rows
    as the emulations judge them: their confidences are no probabilities. With `timeline` the rows
    of `account` are the stretches of each direction in order, not sums. `stacks` are the
    emulations that take part, as in `emulations`. Without `names` requests have no names of servers
    and no paths. With `stretch_s` rows come out in bounded time:
    by the capture's clock connections that are over end so often, and `wait_s` is how long rows
    then wait for what other connections of their hosts show. `fault` is for tests: the analysis of
    connections with this port fails at this packet of theirs. Raises OSError for a file that cannot
    be opened, ValueError for a setting or an emulation that there is not.
    """

    def __init__(
        self,
        captures: Sequence[str | os.PathLike[str] | _Object],
        *,
        jobs: int | None = None,
        stretch_s: float | None = None,
        wait_s: float | None = None,
        filter: str | None = None,  # noqa: A002 - libpcap's word
        fault: tuple[int, int] | None = None,
        **asked: Unpack[_Asked],
    ) -> None: ...
    def next_batch(
        self, within_s: float | None = None, *, tables: Sequence[str] | None = None
    ) -> dict[str, Batch] | None:
        """The next rows of every table of `places` of `trace`, or of these `tables`; none when
        there are no more. With `within_s` it waits no longer than that, and gives the rows that
        there are, or no tables. Where no table is named (`[]`), columns and rows that no page is
        made of are left out of all.

        Raises ValueError when nothing can be read at all; what cannot be read to its end gives its
        rows, and a warning in `summary`.
        """
    def progress(self) -> tuple[int, int, float]:
        """Bytes of the files and packets read so far, and the capture's clock in seconds."""
    def stop(self, now: bool) -> None:
        """Ends the reading of pipes: once nothing waits in them, or `now`. What was read is worked
        through, and its rows still come.
        """
    def so_far(self) -> dict[str, Any]:
        """What was counted until now, as in `summary`, with no warnings of files."""
    def summary(self) -> dict[str, Any]:
        """What was counted; ValueError before the last batch.

        `packets` in the capture, `tcp_packets` and `connections` of them, `bytes` on the wire,
        `skipped` packets by reason, connections `evicted` to make room and `evicted_openings` of
        them that had only begun, `strays` that fit no connection, `stray_blocks` of SACK that fit
        none, `stray_resets` without one, connections `failed` and left out, `failed_packets` at
        which they did and that came of them later, `failures` of them by name (start in seconds,
        address and port of client and of server, defect), `lookups` of names by DNS over UDP (who
        asked whom for which name or None, start and wait in seconds, questions, whether all were
        answered),
        `steps_back` of the clock, `first_s` and `last_s`, `warnings` as sentences, the `settings`
        that were replayed, the pages of the emulated `stacks`, and of each of `files` its packets
        with the earliest and the latest time stamp in nanoseconds (None without packets).
        `interface_drops` and `system_drops` are packets that the captures' own statistics (pcapng)
        say were lost before they could be written.
        """
