"""What no loss detection makes, by packets written by hand."""

from __future__ import annotations

import pytest
from tests.real.evidence import Case
from tests.real.packets import ACK, FIN, SYN
from tests.real.prompted import TooBig, name, wrong
from tests.real.script import CLIENT, MSS, NS, SERVER, Script

FLOW = (*SERVER, *CLIENT)


def cut(at: float, length: int = 800) -> Case:
    """A segment that was sent at 100 ms, or its first part, sent again."""
    return Script().handshake().data(100, 1).data(at, 1, length).case()


def test_a_part_right_after_a_message_is_the_answer_to_it() -> None:
    told = [TooBig(102 * NS, FLOW)]
    assert name(cut(102.5), told) == "path-mtu"
    assert wrong("path-mtu", cut(102.5), told) is None
    assert name(cut(102.5, MSS), told) is None
    assert name(cut(300), told) is None
    assert name(cut(102.5), [TooBig(102 * NS, (*CLIENT, *SERVER))]) is None
    assert wrong("path-mtu", cut(102.5), []) is not None


@pytest.mark.parametrize("taken", [1, 101])
def test_data_of_a_syn_are_sent_again_where_they_were_not_acknowledged(taken: int) -> None:
    script = Script()
    script._server(0, 0, SYN, 100, "")
    script._client(40, 0, taken, SYN | ACK, "")
    assert name(script.data(40.1, 1, 100).case(), []) == ("fast-open" if taken == 1 else None)


def test_a_fin_answers_what_came_right_before_it() -> None:
    def closing(at: float, flags: int) -> Case:
        script = Script().handshake().data(100, 1, 0, fin=True)
        script._client(120, 1, 1, flags, "")
        script.other += int(bool(flags & FIN))
        return script.data(at, 1, 0, fin=True).case()

    assert name(closing(120.1, ACK | FIN), []) == "fin-again"
    assert name(closing(320, ACK | FIN), []) is None
    assert name(closing(120.1, ACK), []) is None
