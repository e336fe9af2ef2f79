"""What does a step of VMC cost, beside NetKet's own state, on states without nodes?"""

from typing import Any

import jax

from ._timing import Candidate, Options, Question, compare, main_of


def _states(options: Options, size: int) -> tuple[Any, dict[str, Any]]:
    import netket as nk

    import logspace.netket as lnk

    lattice = nk.graph.Square(options.size(size, 3))
    space = nk.hilbert.Spin(0.5, lattice.n_nodes)
    operator = nk.operator.IsingJax(space, lattice, h=1.0, J=-1.0)
    model = nk.models.RBM(alpha=2, param_dtype=float)
    sampler = nk.sampler.MetropolisLocal(space, n_chains=16, sweep_size=lattice.n_nodes)
    samples = options.size(1024, 32)
    theirs = nk.vqs.MCState(sampler, model, n_samples=samples, seed=0)
    inner = {"params": {"model": theirs.parameters}}
    wrapped = lnk.models.from_log_psi(model)

    def mine(coverage: float) -> Any:
        return lnk.MCState(
            sampler, wrapped, n_samples=samples, variables=inner, node_coverage=coverage
        )

    return operator, {
        "logspace": mine(0.0),
        "logspace, coverage 0.1": mine(0.1),
        "netket": theirs,
    }


def _gradient(state: Any, operator: Any) -> Any:
    def step() -> Any:
        state.reset()
        return jax.tree.leaves(state.expect_and_grad(operator)[1])

    return step


def _min_sr(state: Any, operator: Any, ours: bool) -> Any:
    import contextlib
    import io

    import netket as nk
    import optax

    import logspace.netket as lnk

    kind = lnk.VMC_SR if ours else nk.driver.VMC_SR
    with contextlib.redirect_stdout(io.StringIO()):
        driver = kind(
            operator,
            optax.sgd(0.01),
            diag_shift=0.01,
            variational_state=state,
            use_ntk=True,
            on_the_fly=False,
        )

    def step() -> Any:
        state.reset()
        return jax.tree.leaves(driver.compute_loss_and_update()[1])

    return step


def body(options: Options) -> list[Question]:
    questions = []
    operator, states = _states(options, 6)
    sites = operator.hilbert.size
    for name, job in (("energy and gradient", _gradient), ("minSR", _min_sr)):
        candidates = []
        for kind, state in states.items():
            extra = () if job is _gradient else (kind != "netket",)
            candidates.append(Candidate(kind, job(state, operator, *extra), eager=True))
        questions.append(
            compare(f"one step, {name}, RBM on {sites} spins", candidates, options, {"netket": 1.1})
        )
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
