// How the handle classes hold what they stand for.
#pragma once

#include <cuprum/detail/export.hpp>
#include <memory>

namespace cuprum::inline CUPRUM_ABI::detail {

/// What all copies of one handle share: the resource, or nothing once it was closed. Defined in the library.
template <typename Resource>
struct Closable;

template <typename Resource>
using Shared = std::shared_ptr<Closable<Resource>>;

/// The library's own way into the handle classes.
struct Access;

struct BufferResource;
struct ContextResource;
struct EventResource;
struct KernelResource;
struct LinkerResource;
struct ObjectCodeResource;
class PoolMemory;
struct ProgramResource;
struct StreamResource;

}  // namespace cuprum::inline CUPRUM_ABI::detail
