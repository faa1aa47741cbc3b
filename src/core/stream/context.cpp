#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/stream/device_resources.hpp"
#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;
using detail::ContextResource;
using detail::OwnedContext;
using support::text;

namespace {

unsigned flags_of(const ContextOptions& options) {
  unsigned flags = options.sync_memory_operations ? CU_CTX_SYNC_MEMOPS : 0;
  switch (options.scheduling) {
    case ContextScheduling::automatic: return flags | CU_CTX_SCHED_AUTO;
    case ContextScheduling::spin: return flags | CU_CTX_SCHED_SPIN;
    case ContextScheduling::yield: return flags | CU_CTX_SCHED_YIELD;
    case ContextScheduling::blocking_sync: return flags | CU_CTX_SCHED_BLOCKING_SYNC;
  }
  throw InvalidArgument(text("creating a context: there is no scheduling ", static_cast<int>(options.scheduling)));
}

std::vector<CUdevResource> green_resources(int device, const ContextOptions& options) {
  if (options.scheduling != ContextScheduling::automatic || options.sync_memory_operations) {
    throw InvalidArgument(text("creating a green context on device ", device,
                               ": scheduling and sync_memory_operations are those of the primary context, and can't "
                               "be given together with resources"));
  }
  return core::checked_resources(device, options.resources);
}

}  // namespace

OwnedContext::OwnedContext(int device, const ContextOptions& options)
    : context(options.resources.empty() ? core::create_context(device, flags_of(options))
                                        : core::create_green_context(device, green_resources(device, options))) {}

OwnedContext::~OwnedContext() { core::destroy_context(context); }

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

Context context_handle(const ContextRecord& context) {
  return Access::make<cuprum::Context, ContextResource>(ContextResource{context});
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

CUctx_st* Context::handle() const noexcept {
  const auto context = Access::try_keep(*this);
  return context ? context->context.handle : nullptr;
}

bool Context::is_green() const { return core::green_context_of(Access::keep(*this)->context) != nullptr; }

DeviceResources Context::resources() const { return core::resources_of(Access::keep(*this)); }

Device Context::device() const { return Access::device(Access::keep(*this)->context.device); }

Stream Context::create_stream(const StreamOptions& options) const {
  const auto context = Access::keep(*this);
  core::ContextGuard guard(context->context);
  return Access::make<Stream, detail::StreamResource>(guard.context(), options);
}

void Context::close() {
  const auto closing = Access::try_keep(*this);
  if (!closing) return;
  if (core::current_context() == &closing->context) {
    throw WrongState(text("closing ", *this,
                          ": not while it is current on this thread; make another one current before, for example with "
                          "Device::set_current()"));
  }
  Access::close(*this);
}

std::uint64_t Context::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const Context& a, const Context& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const Context& context) {
  const auto kept = Access::try_keep(context);
  if (!kept) return out << Access::state_in_words(context);
  return out << "context " << static_cast<const void*>(kept->context.handle) << " of device " << kept->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI
