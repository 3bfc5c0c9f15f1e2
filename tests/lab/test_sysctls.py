"""The model's stacks have the defaults of the kernels that bear their names."""

from __future__ import annotations

from tests.lab.conftest import Lab

from rexmit import _core

DEFAULTS = 'cd /proc/sys/net/ipv4; for name in tcp_*; do echo "$name=$(cat $name)"; done'

# What a kernel makes of the guest's little memory; the lab sets what an ordinary machine has.
BY_MEMORY = {"tcp_rmem", "tcp_wmem"}


def settings(stack: str, sysctls: dict[str, str]) -> list[tuple[str, str]] | None:
    """The stack's settings after the sysctls; None where the model does not know one of them."""
    try:
        return _core.check_stack(stack, {}, sysctls)
    except ValueError as error:
        if "does not know" not in str(error):
            raise
        return None


def test_a_kernel_with_its_own_defaults_is_the_stack_of_its_name(each: Lab) -> None:
    stack = f"linux-{each.kernel}"
    plain = settings(stack, {})
    lines = [line.partition("=") for line in each.sh(DEFAULTS).ok().lines]
    after = {name: settings(stack, {f"net.ipv4.{name}": value}) for name, _, value in lines}
    known = {name for name, found in after.items() if found is not None}
    assert len(known) > 45
    assert {name for name in known if after[name] != plain} <= BY_MEMORY
