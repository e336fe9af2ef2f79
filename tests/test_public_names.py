"""The public surface: what is there, and nothing else."""

import inspect
import subprocess
import sys

import logspace as ls

PUBLIC = {
    "Log", "LogArray", "MaterialiseError", "abs2", "exp", "from_linear", "from_log", "full",
    "full_like", "grad", "hessian", "jacobian", "jvp", "log", "ones", "ones_like", "quaxify",
    "value_and_grad", "vjp", "zeros", "zeros_like",
    "Explanation", "explain", "inverse_pair", "logify",
}  # fmt: skip


def test_public_names() -> None:
    names = {name for name in vars(ls) if not name.startswith("_")}
    assert PUBLIC <= names
    assert {n for n in names - PUBLIC if not inspect.ismodule(getattr(ls, n))} == set()
    assert isinstance(ls.__version__, str)


def test_public_names_have_docstrings() -> None:
    for name in PUBLIC:
        assert (getattr(ls, name).__doc__ or "").strip(), name
    for kind in (ls.LogArray, ls.Log):
        undocumented = [
            name
            for name, value in vars(kind).items()
            if not name.startswith("_") and callable(value) and not value.__doc__
        ]
        assert set(undocumented) <= {"aval", "materialise"}


def test_import_is_quiet_and_small() -> None:
    program = (
        "import sys, warnings; warnings.simplefilter('error'); import logspace;"
        "heavy = {'netket', 'optax', 'matplotlib', 'flax', 'scipy.stats', 'hypothesis', 'mpmath'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (out.returncode, out.stdout.strip(), out.stderr) == (0, "[]", "")


def test_importing_changes_nothing_in_jax() -> None:
    program = (
        "import jax, jax.numpy as jnp; before = dict(vars(jnp)), dict(vars(jax.nn));"
        "x64 = jax.config.jax_enable_x64; import logspace, logspace.numpy, logspace.lax;"
        "assert before == (dict(vars(jnp)), dict(vars(jax.nn)));"
        "assert x64 == jax.config.jax_enable_x64"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
