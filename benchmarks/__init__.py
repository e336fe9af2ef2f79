"""Benchmarks, one script per question; `python -m benchmarks.elementwise` runs one."""
