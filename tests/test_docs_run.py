"""Every Python block of the README and the docs runs, and prints what it says."""

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def _with_marks(page: pathlib.Path) -> object:
    # a tutorial takes a minute
    marks = pytest.mark.full if "tutorials" in page.parts else ()
    return pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


# of quantax 0.4.0, on import under JAX 0.12.1
@pytest.mark.filterwarnings("ignore:jax.sharding.SingleDeviceSharding:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The `forward_chunk`:UserWarning")
@pytest.mark.parametrize("page", [_with_marks(page) for page in PAGES])
def test_blocks_run(page: pathlib.Path) -> None:
    """Blocks of one page share their names, in order; those with `>>>` are doctests."""
    for library in ("netket", "quantax"):
        if re.search(rf"^(>>> )?import .*\b{library}\b", page.read_text(), re.MULTILINE):
            pytest.importorskip(library)
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCK.findall(page.read_text())):
        where = f"{page.name}, block {number + 1}"
        if block.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, where, str(page), 0)
            report: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            result = runner.run(test, out=report.append, clear_globs=False)
            assert not result.failed, "".join(report)
            names = test.globs
        else:
            exec(compile(block, where, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    missing = [t for t in LINK.findall(page.read_text()) if not (page.parent / t).exists()]
    assert not missing


def test_there_is_a_readme_command_for_the_tests_and_for_the_main_job() -> None:
    text = (ROOT / "README.md").read_text()
    for marker, command in (("the test command", "pytest"), ("the main job", "-m logspace")):
        block = re.search(rf"<!-- {marker} -->\n```bash\n(.*?)```\n<!-- end -->", text, re.DOTALL)
        assert block and command in block.group(1)


def test_the_table_of_primitives_is_that_of_the_ledger() -> None:
    path = ROOT / "docs/reference/write.py"
    names: dict[str, object] = {"__name__": "write", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    page = names["rows_of_page"]()  # type: ignore[operator]
    for name, row in names["table"]().items():  # type: ignore[operator]
        assert page.get(name) == row, f"run docs/reference/write.py: {name} has changed"
