"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no failure: no test is about how long it takes
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
