"""Draw the figures of the tutorials: run the blocks of each page, and plot what they leave.

`python docs/tutorials/figures.py [NAME ...]`, with matplotlib and NetKet installed.
"""

import pathlib
import re
import sys
from typing import Any

import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def names_of(page: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in BLOCK.findall((HERE / page).read_text()):
        exec(compile(block, page, "exec"), names)
    return names


def quench(names: dict[str, Any], axes: Any) -> None:
    for name, colour in (("z", "C0"), ("x", "C1")):
        axes.plot(names["times"], names["exact"][name], color=colour, label=f"exact, {name}")
        axes.plot(names["times"], names["found"][name], "o", color=colour, ms=4, label="TDVP")
    axes.axhline(1.0, ls=":", color="grey", label="z, sampled from |psi|$^2$: frozen")
    axes.set(xlabel="t", ylabel="magnetisation per spin")


def excited_state(names: dict[str, Any], axes: Any) -> None:
    for (momentum, found), energy in zip(names["energies"].items(), names["exact"], strict=True):
        axes.semilogy(found - energy, label=f"momentum {momentum}")
    axes.set(xlabel="step", ylabel="energy above the exact one")


def hubbard(names: dict[str, Any], axes: Any) -> None:
    for name, (energies, variances, exact, _) in names["results"].items():
        axes.loglog(variances, energies - exact, ".-", label=name)
    axes.set(xlabel="variance of the energy", ylabel="energy above the exact one")


FIGURES = {"quench": quench, "excited-state": excited_state, "hubbard": hubbard}


def main(*chosen: str) -> None:
    (HERE / "figures").mkdir(exist_ok=True)
    for name in chosen or FIGURES:
        draw = FIGURES[name]
        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        draw(names_of(f"{name}.md"), axes)
        axes.legend(frameon=False)
        figure.savefig(HERE / "figures" / f"{name}.png", dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
