"""Variational Monte Carlo with amplitudes in log space, right at nodes.

Operators, models, samplers, estimators and the loop around them: plain functions on configurations,
parameters and LogArrays. `python -m logspace` shows them at work.
"""

from .descent import Settings as Settings
from .descent import Step as Step
from .descent import Walkers as Walkers
from .descent import descend as descend
from .descent import descend_log_amplitude as descend_log_amplitude
from .descent import log_evaluate_widely as log_evaluate_widely
from .descent import log_sample_widely as log_sample_widely
from .descent import sample_widely as sample_widely
from .estimators import Estimate as Estimate
from .estimators import Evaluation as Evaluation
from .estimators import Forces as Forces
from .estimators import effective_sample_size as effective_sample_size
from .estimators import evaluate as evaluate
from .estimators import expect as expect
from .estimators import expect_and_grad as expect_and_grad
from .estimators import expect_forces_and_metric as expect_forces_and_metric
from .estimators import forces as forces
from .estimators import local_energy as local_energy
from .estimators import quantum_geometric_tensor as quantum_geometric_tensor
from .estimators import standard_error as standard_error
from .exact import FullSum as FullSum
from .exact import Sector as Sector
from .exact import exact_samples as exact_samples
from .exact import flip_parity as flip_parity
from .exact import full_energy as full_energy
from .exact import full_sum as full_sum
from .exact import lowest_state as lowest_state
from .exact import sector as sector
from .log_amplitude import LogEvaluation as LogEvaluation
from .log_amplitude import log_estimates as log_estimates
from .log_amplitude import log_evaluate as log_evaluate
from .log_amplitude import log_metropolis as log_metropolis
from .log_amplitude import log_sum_exp as log_sum_exp
from .models import DressedSpinWave as DressedSpinWave
from .models import ProductState as ProductState
from .operators import Connected as Connected
from .operators import HeisenbergRing as HeisenbergRing
from .operators import Operator as Operator
from .operators import TransverseFieldIsingRing as TransverseFieldIsingRing
from .operators import apply_operator as apply_operator
from .operators import connected_amplitudes as connected_amplitudes
from .optimise import stochastic_reconfiguration as stochastic_reconfiguration
from .sampler import Exchange as Exchange
from .sampler import Samples as Samples
from .sampler import blurred_density as blurred_density
from .sampler import born_density as born_density
from .sampler import flip_one as flip_one
from .sampler import metropolis as metropolis
from .sampler import random_configurations as random_configurations
from .sampler import residual_density as residual_density
from .sampler import sample as sample
from .sampler import start_chains as start_chains
