"""What can be pickled and copied that is of a device or of memory, besides what test_ipc.py sends to other processes."""

import copy
import pickle

import pytest

from cuprum import DeviceProperties, LegacyPinnedMemoryResource, VirtualMemoryResource

WAYS = [lambda each: pickle.loads(pickle.dumps(each)), copy.copy, copy.deepcopy]


@pytest.mark.parametrize("another", WAYS)
def test_properties_are_those_of_the_device_again(device, another):
    there = another(device.properties)
    assert isinstance(there, DeviceProperties)
    assert there.multiprocessor_count == device.properties.multiprocessor_count


@pytest.mark.parametrize("another", WAYS)
def test_a_legacy_pinned_resource_is_one_again(device, another):
    with another(LegacyPinnedMemoryResource()).allocate(4) as buffer:
        assert buffer.is_host_accessible


@pytest.mark.parametrize("another", WAYS)
def test_a_virtual_memory_resource_has_its_device_and_its_options_again(device, another):
    resource = VirtualMemoryResource(device, {"granularity": "minimum", "handle_type": None})
    there = another(resource)
    assert there is not resource
    assert (there.device, there.config) == (resource.device, resource.config)
    with there.allocate(4096) as buffer:
        assert buffer.memory_resource is there


def test_virtual_memory_of_a_numa_node_says_why_it_can_not_be_pickled(device):
    if not device.properties.host_numa_virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory of the host's NUMA nodes")
    resource = VirtualMemoryResource(device, {"location_type": "host_numa"})
    with pytest.raises(TypeError, match="can't be pickled: which one it is depends on the device"):
        pickle.dumps(resource)
