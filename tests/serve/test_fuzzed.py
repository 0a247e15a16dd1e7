"""The API against its own description: whatever is sent, nothing breaks, and answers are what was described."""

import tempfile

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from novikoff.serve.api import ROUTES
from tests.draws import draws
from tests.serve.listening import listening

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def address():
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, _):
        yield address


@pytest.fixture(scope="module")
def description(address):
    return schemathesis.openapi.from_url(f"{address}openapi.json")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_service_answers_as_it_is_described_and_never_fails(route, description, address):
    operation = description[route.path][route.method]

    @settings(max_examples=draws(8), deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def described(case):
        call(case)

    @settings(max_examples=draws(8), deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def not_described(case):
        call(case)

    def call(case):
        if route.method != "PUT" and route.of_a_model:
            case.path_parameters["model"] = "fuzzed"
            httpx.put(f"{address}v1/models/fuzzed", json={}).raise_for_status()
        case.call_and_validate(checks=CHECKS)

    described()
    if route.takes is not None or route.query:
        not_described()
