"""Which of the cache's kernels is meant."""

from __future__ import annotations

import re

from rexmit.errors import UserError, argument, closest
from rexmit.kernels import checksums, recipe, source
from rexmit.kernels.cache import kernels
from rexmit.kernels.kernel import QEMU, UML, Kernel


def find(spec: str | None = None) -> Kernel:
    """The kernel that `spec` means.

    None: the newest 6.12 of Debian's with HZ 250 and no patches of the user's. `6.1`, `6.1@1000`:
    likewise of that series (where there is none of Debian's, the only other one);
    `6.12+NAME`, `6.12@1000+NAME+NAME`: the same with these patches, in this order. Anything else is
    the beginning of a name or hash that only one kernel has; images go by that alone.

    Raises UserError, which lists what there is and how to build what was asked for; also for a
    kernel whose files are not those that were built, which is found out by reading them.
    """
    kernel = _meant(spec)
    if fault := checksums.fault(kernel):
        what = "Build it again"
        if kernel.engine == QEMU:
            what = f"Remove {kernel.folder} and add it again"
        raise UserError(
            f"kernel {kernel.name} is {fault}",
            [f"{what}: {kernel.build_command}", f"It lies in {kernel.folder}"],
        )
    return kernel


def _meant(spec: str | None) -> Kernel:
    present = kernels()
    wanted = spec or recipe.DEFAULT_SERIES
    plain, *patches = wanted.split("+")
    series, _, hz_text = plain.partition("@")
    if recipe.is_series(series) and re.fullmatch("[0-9]{0,6}", hz_text):
        hz = int(hz_text or recipe.DEFAULT_HZ)
        built = [k for k in present if k.engine == UML]
        alike = [k for k in built if (k.series, list(k.patches)) == (series, patches)]
        meant = [k for k in alike if k.hz == hz]
        usable = [k for k in meant if k.current]
        chosen = [k for k in usable if k.source.startswith("debian ")]
        if not chosen and spec is not None:
            chosen = usable
            if len(usable) > 1:
                raise UserError(f"kernel {wanted} is ambiguous", _listing(usable))
        if chosen:
            return max(chosen, key=lambda k: k.built)
        if patches and not meant:
            _check_patches(wanted, series, patches, present)
        oldest = recipe.patched_series()[0]
        if recipe.numbers(series) < recipe.numbers(oldest):
            raise UserError(
                f"there is no kernel {wanted}, and rexmit builds none that is older than {oldest}",
                ["An image of one runs: rexmit kernel add FILE", *_listing(present)],
            )
        command = " ".join(
            [
                f"rexmit kernel build {series if is_debians(series) else 'FOLDER|TARBALL'}",
                *([f"--hz {hz}"] if hz_text else []),
                *(
                    f"--{'config' if name in recipe.fragments() else 'patch'} {name}"
                    for name in patches
                ),
            ]
        )
        why = "was built with other options or patches" if meant else "is not built"
        build = f"Build it{'' if is_debians(series) else ' from its source'}: {command}"
        others = [k for k in alike if k.current and k.hz != hz]
        other = "+".join([f"{series}@{others[0].hz}", *patches]) if len(others) == 1 else ""
        hint = [f"Did you mean {argument('kernel', other)}?"] if other else []
        raise UserError(f"kernel {wanted} {why}", [*hint, build, *_listing(present)])
    matches = [k for k in present if k.name == wanted] or [
        k for k in present if k.name.startswith(wanted) or k.hash.startswith(wanted)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"kernel {wanted} is ambiguous", _listing(matches))
    # Stacks of the model are called so.
    near = closest(wanted.removeprefix("linux-"), [k.series for k in present if k.engine == UML])
    raise UserError(
        f"there is no kernel {wanted}",
        [
            *([f"Did you mean {near}?"] if near else []),
            *_listing(present),
            "Build one: rexmit kernel build 6.1|6.12|FOLDER|TARBALL",
            "or add an image: rexmit kernel add FILE",
        ],
    )


def is_debians(series: str) -> bool:
    """Whether Debian has the source of this series."""
    return series in recipe.patched_series() or source.debian(series).exists()


def default() -> Kernel | None:
    """The kernel that is used where none is named, if it is built."""
    try:
        return find(None)
    except UserError:
        return None


def _check_patches(wanted: str, series: str, names: list[str], present: list[Kernel]) -> None:
    """Raise UserError for a patch that is neither ours nor in any kernel."""
    patches_of = recipe.series_for(series)
    known = {*recipe.optional_patches(patches_of), *recipe.fragments()}
    known |= {*(name for k in present for name in k.patches)}
    for name in names:
        if name not in known:
            raise UserError(
                f"kernel {wanted}: there is no patch {name or '(empty)'}",
                recipe.optional_hint(name, patches_of),
            )


def _listing(built: list[Kernel]) -> list[str]:
    if not built:
        return ["No kernel is built."]
    return ["There are:", *(f"  {kernel.name}" for kernel in built)]
