"""One Hypothesis profile for all tests: kernels compile on first use, so no deadline."""

from hypothesis import HealthCheck, settings

settings.register_profile("novikoff", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("novikoff")
