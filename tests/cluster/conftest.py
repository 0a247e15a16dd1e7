"""A cluster of several nodes on this machine; without Ray these tests are skipped for a person, and fail in CI."""

import os

import pytest

# As small as Ray lets it be.
STORE = 80_000_000

# A node that is gone is to be noticed soon.
HEALTH = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}


def needed_ray():
    """Ray, or the end of the test."""
    try:
        import ray
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("Ray is not installed: pip install '.[test]'", pytrace=False)
        pytest.skip("Ray is not installed")
    return ray


class Nodes:
    """A cluster whose nodes come and go; the head does no work."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.nodes = []

    @property
    def address(self):
        return self.cluster.address

    def have(self, number):
        """So many nodes, with a processor each."""
        while len(self.nodes) < number:
            self.nodes.append(self.cluster.add_node(num_cpus=1, object_store_memory=STORE))
        while len(self.nodes) > number:
            self.remove()
        self.cluster.wait_for_nodes()

    def remove(self):
        """Take a node away without notice."""
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)


@pytest.fixture(scope="module")
def nodes():
    ray = needed_ray()
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "_system_config": HEALTH}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        yield Nodes(cluster)
    finally:
        ray.shutdown()
        cluster.shutdown()
