#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <ostream>

#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;
using detail::ContextResource;
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

}  // namespace

ContextResource::ContextResource(int device, const ContextOptions& options)
    : context(core::create_context(device, flags_of(options))), ownership(Ownership::ours) {}

ContextResource::~ContextResource() {
  if (ownership == Ownership::ours) core::destroy_context(context);
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

Context context_handle(const ContextRecord& context) {
  std::shared_ptr<ContextResource> resource = context.owner.lock();
  if (!resource) resource = std::make_shared<ContextResource>(context);
  return Access::make<cuprum::Context>(std::move(resource));
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

CUctx_st* Context::handle() const { return Access::resource(*this)->context.handle; }

bool Context::is_green() const {
  Access::resource(*this);
  return false;
}

Device Context::device() const { return Access::device(Access::resource(*this)->context.device); }

Stream Context::create_stream(const StreamOptions& options) const {
  core::ContextGuard guard(Access::resource(*this)->context);
  return Access::make<Stream>(std::make_shared<detail::StreamResource>(guard.context(), options));
}

void Context::close() {
  if (!Access::is_open(*this)) return;
  const core::ContextRecord& closing = Access::resource(*this)->context;
  if (core::current_context() == &closing) {
    throw InvalidArgument(text("closing ", *this,
                               ": it is current on this thread; make another one current before, for example with "
                               "Device::set_current()"));
  }
  Access::close(*this);
}

const void* Context::identity() const noexcept {
  return Access::is_open(*this) ? static_cast<const void*>(&Access::resource(*this)->context) : nullptr;
}

bool operator==(const Context& a, const Context& b) noexcept { return a.identity() == b.identity(); }

std::ostream& operator<<(std::ostream& out, const Context& context) {
  if (!Access::is_open(context)) return out << "a closed context";
  const core::ContextRecord& known = Access::resource(context)->context;
  return out << "context " << static_cast<const void*>(known.handle) << " of device " << known.device;
}

}  // namespace cuprum::inline CUPRUM_ABI
