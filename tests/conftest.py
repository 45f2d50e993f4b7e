"""What all tests share: no CI of anybody's, and one connection for those of models."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No test looks at a clock: how long an example takes tells how busy the machine is.
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
# What the suite imports are some 300,000 objects that stay; a collector that goes through them again and again finds
# nothing, and took a sixteenth of the time.
gc.set_threshold(20_000, 20, 50)
collect_ignore = ["broken"]  # damaged corpus files, which the plugin would play
# Else this suite, run by GitHub, would write into the summary of its own job.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def litellm_session() -> Iterator[None]:
    """litellm opens a connection for each server and closes none; here all of them share one that is closed."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true"}
    import httpx
    import litellm

    with warnings.catch_warnings():  # its first call makes types that pydantic warns of
        warnings.simplefilter("ignore")
        litellm.completion(model="openai/x", messages=[{"role": "user", "content": "x"}], mock_response="x")
    with httpx.Client() as session:
        litellm.client_session = session
        yield
    litellm.client_session = None
