"""Variational Monte Carlo with amplitudes in log space, right at nodes.

Operators, models, samplers, estimators and the loop around them are plain functions on configurations,
parameters and LogArrays; `python -m logspace` shows them at work.
"""
