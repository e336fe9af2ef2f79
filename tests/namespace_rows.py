"""A call of every function of `jax.numpy`, written once for both namespaces.

Each row gets the namespace (`logspace.numpy` or `jax.numpy`) and the arguments, LogArrays or plain
arrays: `x`, `y` of shape (2, 3), `v`, `w` vectors of length 4, `p` positive of shape (2, 3), `q`
a square matrix, `i` plain indices, `m` a plain mask.
"""

from typing import Any

ARGUMENTS = {
    "x": [[1.5, -2.0, 0.0], [3.25, 4.0, -1.0]],
    "y": [[2.0, 0.5, -4.0], [1.0, 4.0, -0.25]],
    "p": [[0.5, 2.0, 1.0], [0.25, 4.0, 3.0]],
    "v": [1.0, -2.0, 0.0, 4.0],
    "w": [0.5, 2.0, 3.0, -1.0],
    "q": [[2.0, 1.0], [0.5, -3.0]],
}

ROWS: dict[str, Any] = {}


def _elementwise(names: str, argument: str) -> None:
    for name in names.split():
        ROWS[name] = lambda n, a, name=name: getattr(n, name)(a[argument])


def _binary(names: str, first: str, second: str) -> None:
    for name in names.split():
        ROWS[name] = lambda n, a, name=name: getattr(n, name)(a[first], a[second])


_elementwise(
    "abs absolute angle around arcsinh asinh arctan atan array asarray ceil conj conjugate copy cos"
    " cosh deg2rad degrees exp exp2 expm1 fabs fix fliplr flipud floor imag iscomplex isfinite"
    " isinf isnan isneginf isposinf isreal logical_not matrix_transpose nan_to_num negative"
    " positive rad2deg radians ravel real reciprocal rint round sign signbit"
    " sin sinc sinh sort_complex sqrt square tan tanh transpose trunc atleast_1d atleast_2d"
    " atleast_3d amax amin all any average cumsum cumprod nancumsum nancumprod nanargmax nanargmin"
    " nanmax nanmean nanmin nanprod nanstd nansum nanvar argmax argmin argsort max mean min prod"
    " ptp std sum var diagflat count_nonzero flatnonzero argwhere nonzero iscomplexobj isrealobj"
    " ndim shape size result_type isscalar iterable zeros_like ones_like empty_like median"
    " nanmedian trim_zeros ediff1d sort squeeze unwrap cbrt modf minmax",
    "x",
)
del ROWS["fix"]  # older JAX only
_elementwise("log log1p log2 log10 arccosh acosh frexp", "p")
_elementwise("arcsin asin arccos acos arctanh atanh", "h")
_elementwise("i0 spacing", "p")
_elementwise("diag tril triu trace diagonal rot90 tril_indices_from triu_indices_from", "q")
_elementwise("diag_indices_from cov corrcoef", "q")
_elementwise("unique unique_all unique_counts unique_inverse unique_values vander", "v")
_binary(
    "add subtract multiply divide true_divide maximum minimum fmax fmin equal not_equal less"
    " less_equal greater greater_equal arctan2 atan2 hypot logical_and logical_or logical_xor"
    " copysign heaviside isclose allclose array_equal array_equiv kron nextafter",
    "x",
    "y",
)
_binary("power float_power logaddexp logaddexp2", "p", "y")
_binary("floor_divide remainder mod fmod divmod", "x", "y")
_binary("dot inner outer vdot vecdot convolve correlate append cross_", "v", "w")
del ROWS["cross_"]
_binary("polyadd polysub polymul polydiv polyval setdiff1d setxor1d intersect1d union1d isin",
        "v", "w")  # fmt: skip
ROWS |= {
    "apply_along_axis": lambda n, a: n.apply_along_axis(lambda r: r * 2, 0, a["x"]),
    "apply_over_axes": lambda n, a: n.apply_over_axes(n.sum, a["x"], [0, 1]),
    "argpartition": lambda n, a: n.argpartition(a["v"], 1)[:1],
    "array_repr": lambda n, a: "3.25" in n.array_repr(a["x"]),
    "array_str": lambda n, a: "-2." in n.array_str(a["v"]),
    "array_split": lambda n, a: n.array_split(a["v"], 3),
    "astype": lambda n, a: n.astype(a["x"], "float32"),
    "bincount": lambda n, a: n.bincount(a["i"], weights=a["v"], length=4),
    "block": lambda n, a: n.block([[a["x"], a["y"]], [a["y"], a["x"]]]),
    "broadcast_arrays": lambda n, a: n.broadcast_arrays(a["x"], a["x"][0]),
    "broadcast_shapes": lambda n, a: n.broadcast_shapes((2, 1), (3,)),
    "broadcast_to": lambda n, a: n.broadcast_to(a["v"], (2, 4)),
    "can_cast": lambda n, a: n.can_cast("float32", "float64"),
    "choose": lambda n, a: n.choose(a["i"] % 2, [a["v"], a["w"]], mode="wrap"),
    "clip": lambda n, a: n.clip(a["x"], -1, a["y"]),
    "column_stack": lambda n, a: n.column_stack([a["v"], a["w"]]),
    "compress": lambda n, a: n.compress(a["m"], a["v"]),
    "concat": lambda n, a: n.concat([a["x"], a["y"]], axis=1),
    "concatenate": lambda n, a: n.concatenate([a["x"], a["y"]], axis=None),
    "cross": lambda n, a: n.cross(a["x"], a["y"]),
    "cumulative_prod": lambda n, a: n.cumulative_prod(a["v"], include_initial=True),
    "cumulative_sum": lambda n, a: n.cumulative_sum(a["x"], axis=1),
    "delete": lambda n, a: n.delete(a["v"], 1),
    "diff": lambda n, a: n.diff(a["x"], axis=0, prepend=a["x"][:1]),
    "digitize": lambda n, a: n.digitize(a["x"], a["p"][0][:1]),
    "dsplit": lambda n, a: n.dsplit(a["x"][None], 3),
    "dstack": lambda n, a: n.dstack([a["x"], a["y"]]),
    "einsum": lambda n, a: n.einsum("ij,kj->ik", a["x"], a["y"]),
    "expand_dims": lambda n, a: n.expand_dims(a["x"], (0, 3)),
    "extract": lambda n, a: n.extract(a["m"], a["v"]),
    "fill_diagonal": lambda n, a: n.fill_diagonal(a["q"], a["v"], inplace=False),
    "flip": lambda n, a: n.flip(a["x"], 1),
    "full_like": lambda n, a: n.full_like(a["x"], 2.5),
    "full": lambda n, a: n.full((2, 3), a["x"]),
    "gradient": lambda n, a: n.gradient(a["v"]),
    "histogram": lambda n, a: n.histogram(a["x"], bins=3),
    "histogram_bin_edges": lambda n, a: n.histogram_bin_edges(a["x"], bins=3),
    "hsplit": lambda n, a: n.hsplit(a["x"], 3),
    "hstack": lambda n, a: n.hstack([a["v"], a["w"]]),
    "insert": lambda n, a: n.insert(a["v"], 1, a["w"][0]),
    "interp": lambda n, a: n.interp(a["x"], a["t"], a["v"]),
    "ldexp": lambda n, a: n.ldexp(a["v"], a["i"]),
    "lexsort": lambda n, a: n.lexsort((a["v"],)),
    "linspace": lambda n, a: n.linspace(a["v"], a["w"], 3),
    "geomspace": lambda n, a: n.geomspace(a["p"], a["p"] * 3, 3),
    "logspace": lambda n, a: n.logspace(a["v"], a["w"], 3),
    "matmul": lambda n, a: n.matmul(a["x"], a["y"].T),
    "matvec": lambda n, a: n.matvec(a["x"], a["y"][0]),
    "meshgrid": lambda n, a: n.meshgrid(a["v"], a["w"][:2]),
    "moveaxis": lambda n, a: n.moveaxis(a["x"], 0, 1),
    "nanpercentile": lambda n, a: n.nanpercentile(a["x"], 30),
    "nanquantile": lambda n, a: n.nanquantile(a["x"], 0.3, axis=0),
    "pad": lambda n, a: n.pad(a["x"], ((1, 0), (0, 2)), constant_values=2.0),
    "partition": lambda n, a: n.partition(a["v"], 1)[1],
    "percentile": lambda n, a: n.percentile(a["x"], 30),
    "piecewise": lambda n, a: n.piecewise(a["v"], [a["m"]], [lambda z: 2 * z, 1.0]),
    "place": lambda n, a: n.place(a["v"], a["m"], a["w"], inplace=False),
    "poly": lambda n, a: n.poly(a["v"]),
    "polyder": lambda n, a: n.polyder(a["v"]),
    "polyint": lambda n, a: n.polyint(a["v"]),
    "put": lambda n, a: n.put(a["v"], a["i"], a["w"], inplace=False),
    "put_along_axis": lambda n, a: n.put_along_axis(a["v"], a["i"], a["w"], 0, inplace=False),
    "quantile": lambda n, a: n.quantile(a["x"], 0.3, axis=1),
    "repeat": lambda n, a: n.repeat(a["v"], a["i"]),
    "reshape": lambda n, a: n.reshape(a["x"], (3, -1)),
    "resize": lambda n, a: n.resize(a["x"], (4, 3)),
    "roll": lambda n, a: n.roll(a["x"], 1, axis=1),
    "rollaxis": lambda n, a: n.rollaxis(a["x"], 1),
    "searchsorted": lambda n, a: n.searchsorted(n.sort(a["v"]), a["w"]),
    "select": lambda n, a: n.select([a["m"], ~a["m"]], [a["v"], a["w"]]),
    "split": lambda n, a: n.split(a["v"], 2),
    "stack": lambda n, a: n.stack([a["x"], a["y"]], axis=1),
    "swapaxes": lambda n, a: n.swapaxes(a["x"], 0, 1),
    "take": lambda n, a: n.take(a["v"], a["i"]),
    "take_along_axis": lambda n, a: n.take_along_axis(a["v"], a["i"], 0),
    "tensordot": lambda n, a: n.tensordot(a["x"], a["y"], axes=[[1], [1]]),
    "tile": lambda n, a: n.tile(a["x"], (2, 1)),
    "top_k": lambda n, a: n.top_k(a["v"], 2),
    "trapezoid": lambda n, a: n.trapezoid(a["v"]),
    "unstack": lambda n, a: n.unstack(a["x"]),
    "vecmat": lambda n, a: n.vecmat(a["x"][:, 0], a["y"]),
    "vectorize": lambda n, a: n.vectorize(lambda u, z: u * z + 1)(a["x"], a["y"]),
    "vsplit": lambda n, a: n.vsplit(a["x"], 2),
    "vstack": lambda n, a: n.vstack([a["v"], a["w"]]),
    "where": lambda n, a: n.where(a["m"], a["v"], a["w"]),
    "einsum_path": lambda n, a: n.einsum_path("ij,kj->ik", a["x"], a["y"])[0],
    "frompyfunc": lambda n, a: n.frompyfunc(lambda u, z: u * z, 2, 1, identity=1)(a["x"], a["y"]),
    "permute_dims": lambda n, a: n.permute_dims(a["x"], (1, 0)),
    "polyfit": lambda n, a: n.polyfit(a["t"], a["v"], 1),
    "pow": lambda n, a: n.pow(a["x"], 3),
    "roots": lambda n, a: n.roots(a["v"][:2]),
    "histogram2d": lambda n, a: n.histogram2d(a["v"], a["w"], bins=2),
    "histogramdd": lambda n, a: n.histogramdd(a["x"], bins=2),
    "ix_": lambda n, a: n.ix_(a["i"]),
}

#: Further calls: options, and the parts of a ufunc.
MORE: dict[str, Any] = {
    "sum initial": lambda n, a: n.sum(a["x"], axis=0, initial=2.0, where=a["x"] > 0),
    "sum keepdims": lambda n, a: n.sum(a["x"], -1, keepdims=True),
    "add.reduce": lambda n, a: n.add.reduce(a["x"], axis=1),
    "add.accumulate": lambda n, a: n.add.accumulate(a["v"]),
    "add.at": lambda n, a: n.add.at(a["v"], a["i"], a["w"], inplace=False),
    "multiply.outer": lambda n, a: n.multiply.outer(a["v"], a["w"]),
    "multiply.reduce": lambda n, a: n.multiply.reduce(a["x"], axis=None),
    "where of one": lambda n, a: n.where(a["x"]),
    "where scalars": lambda n, a: n.where(a["m"], a["v"], 0),
    "pad reflect": lambda n, a: n.pad(a["v"], 2, mode="reflect"),
    "pad edge": lambda n, a: n.pad(a["v"], 2, mode="edge"),
    "array of several": lambda n, a: n.array([a["v"], a["w"]]),
    "asarray dtype": lambda n, a: n.asarray(a["v"], dtype="float32"),
    "split at": lambda n, a: n.split(a["v"], a["i"][:1]),
    "take fill": lambda n, a: n.take(a["v"], a["i"] + 3, mode="fill", fill_value=7.0),
    "unique size": lambda n, a: n.unique(a["v"], size=3),
    "delete many": lambda n, a: n.delete(a["x"], a["i"][:2], axis=1),
    "mean of complex": lambda n, a: n.mean(a["x"] * 1j),
    "einsum three": lambda n, a: n.einsum("ij,kj,il->kl", a["x"], a["y"], a["x"]),
    "einsum trace": lambda n, a: n.einsum("ii", a["q"]),
    "size axis": lambda n, a: n.size(a["x"], 1),
    "size axes": lambda n, a: n.size(a["x"], (0, -1)),
    "result_type with": lambda n, a: n.result_type(a["x"], 1j),
    "zeros_like shape": lambda n, a: n.zeros_like(a["x"], shape=(4,), dtype=complex),
    "apply_along_axis sum": lambda n, a: n.apply_along_axis(n.sum, 1, a["x"]),
    "norm": lambda n, a: n.linalg.norm(a["x"]),
    "norm axis": lambda n, a: n.linalg.norm(a["x"], axis=1),
    "norm ord": lambda n, a: n.linalg.norm(a["x"], 1, axis=0),
    "norm inf": lambda n, a: n.linalg.norm(a["x"], 3, axis=0, keepdims=True),
    "norm matrix": lambda n, a: n.linalg.norm(a["x"], "fro"),
    "norm spectral": lambda n, a: n.linalg.norm(a["x"], 2),
    "norm nuclear": lambda n, a: n.linalg.matrix_norm(a["x"], ord="nuc"),
    "linalg.det": lambda n, a: n.linalg.det(a["q"]),
    "linalg.slogdet": lambda n, a: n.linalg.slogdet(a["q"]),
    "linalg.inv": lambda n, a: n.linalg.inv(a["q"]),
    "linalg.solve": lambda n, a: n.linalg.solve(a["q"], a["x"]),
    "linalg.inverse power": lambda n, a: n.linalg.matrix_power(a["q"], -2),
    "linalg.cross": lambda n, a: n.linalg.cross(a["x"], a["y"]),
    "linalg.diagonal": lambda n, a: n.linalg.diagonal(a["x"]),
    "linalg.matmul": lambda n, a: n.linalg.matmul(a["x"], a["y"].T),
    "linalg.matrix_norm": lambda n, a: n.linalg.matrix_norm(a["x"]),
    "linalg.matrix_power": lambda n, a: n.linalg.matrix_power(a["q"], 3),
    "linalg.matrix_transpose": lambda n, a: n.linalg.matrix_transpose(a["x"]),
    "linalg.multi_dot": lambda n, a: n.linalg.multi_dot([a["x"], a["y"].T, a["q"]]),
    "linalg.outer": lambda n, a: n.linalg.outer(a["v"], a["w"]),
    "linalg.tensordot": lambda n, a: n.linalg.tensordot(a["x"], a["y"].T, axes=1),
    "linalg.trace": lambda n, a: n.linalg.trace(a["q"]),
    "linalg.vecdot": lambda n, a: n.linalg.vecdot(a["x"], a["y"]),
    "linalg.vector_norm": lambda n, a: n.linalg.vector_norm(a["x"], ord=1),
}
