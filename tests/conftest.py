"""One Hypothesis profile for all tests: kernels compile on first use, so no deadline."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("novikoff", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("novikoff")

# A shell that starts its job in the background has it ignore Ctrl-C, and some tests press that.
signal.signal(signal.SIGINT, signal.default_int_handler)
