"""A LaunchConfig as cuda.bindings passes it to the driver."""

from __future__ import annotations

from typing import Any

from cuprum import LaunchConfig
from cuprum._cuda_utils import _binding


def _to_native_launch_config(config: LaunchConfig) -> Any:
    """The CUlaunchConfig of `config`. Its grid counts blocks, that of a LaunchConfig with clusters counts clusters."""
    driver = _binding("driver")
    native = driver.CUlaunchConfig()
    grid = [count * size for count, size in zip(config.grid, config.cluster or (1, 1, 1))]
    native.gridDimX, native.gridDimY, native.gridDimZ = grid
    native.blockDimX, native.blockDimY, native.blockDimZ = config.block
    native.sharedMemBytes = config.shmem_size
    native.attrs = _attributes(config, driver)
    native.numAttrs = len(native.attrs)
    return native


def _attributes(config: LaunchConfig, driver: Any) -> list[Any]:
    ids = driver.CUlaunchAttributeID
    attributes = []
    if config.cluster:
        cluster = _attribute(driver, ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        dimension = cluster.value.clusterDim
        dimension.x, dimension.y, dimension.z = config.cluster
        attributes.append(cluster)
    if config.is_cooperative:
        cooperative = _attribute(driver, ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        cooperative.value.cooperative = 1
        attributes.append(cooperative)
    if config.programmatic_stream_serialization:
        early = _attribute(driver, ids.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        early.value.programmaticStreamSerializationAllowed = 1
        attributes.append(early)
    return attributes


def _attribute(driver: Any, number: Any) -> Any:
    attribute = driver.CUlaunchAttribute()
    attribute.id = number
    return attribute
