#include <cuprum/detail/record.hpp>
#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/base/deferred.hpp"
#include "core/base/release_in.hpp"
#include "core/base/same_object.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/device_resources.hpp"
#include "core/stream/host_calls.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::EventResource;
using detail::Kept;
using detail::Ownership;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

void check_priority(const core::ContextRecord& context, int priority) {
  int least = 0;
  int greatest = 0;
  driver::call<&Api::cuCtxGetStreamPriorityRange>(&least, &greatest);
  if (priority > least || priority < greatest) {
    throw InvalidArgument(text("stream priority ", priority, ": device ", context.device, " has priorities from ",
                               greatest, " (first) to ", least, " (last)"));
  }
}

CUstream create_in(CUgreenCtx green, const core::ContextRecord& context, const StreamOptions& options) {
  if (!options.nonblocking) {
    throw InvalidArgument(
        text("creating a stream in a green context of device ", context.device,
             ": streams of green contexts must be non-blocking; leave StreamOptions::nonblocking true"));
  }
  CUstream handle = nullptr;
  driver::call<&Api::cuGreenCtxStreamCreate>(
      Doing{[&] { return text("creating a stream in a green context of device ", context.device); }}, &handle, green,
      static_cast<unsigned>(CU_STREAM_NON_BLOCKING), options.priority.value_or(0));
  return handle;
}

CUstream create(const core::ContextRecord& context, const StreamOptions& options) {
  if (options.priority) check_priority(context, *options.priority);
  if (const CUgreenCtx green = context.green.load(std::memory_order_relaxed)) return create_in(green, context, options);
  CUstream handle = nullptr;
  driver::call<&Api::cuStreamCreateWithPriority>(
      Doing{[&] { return text("creating a stream on device ", context.device); }}, &handle,
      options.nonblocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT, options.priority.value_or(0));
  return handle;
}

// A green context shares events with the primary context, and so with the other green ones.
bool share_events(const core::ContextRecord& a, const core::ContextRecord& b) {
  if (&a == &b) return true;
  return a.device == b.device && (a.green.load(std::memory_order_relaxed) || b.green.load(std::memory_order_relaxed));
}

void check_recordable(const EventResource& event, const core::ContextRecord& context, const Stream& stream) {
  if (event.ownership == Ownership::ours && !share_events(event.context, context)) [[unlikely]] {
    throw WrongState(text("recording an event on ", stream, ": the event belongs to another context, of device ",
                          event.context.device, "; make one with record() of this stream"));
  }
  if (event.options.ipc_enabled && event.recorded) [[unlikely]] {
    throw WrongState(text("recording an event on ", stream,
                          ": the event is shared between processes and was recorded when it was made; make "
                          "another with record({.ipc_enabled = true})"));
  }
}

void record_on(const StreamResource& queue, const Kept<EventResource>& recorded, const Event& event,
               const Stream& stream) {
  const CUresult result = core::queue_call(queue, [&](const core::ContextRecord& context) {
    check_recordable(*recorded, context, stream);
    return driver::try_call<&Api::cuEventRecord>(recorded->handle, queue.handle);
  });
  if (result != CUDA_SUCCESS) [[unlikely]] {
    driver::detail::raise(result, driver::detail::index_of_cuEventRecord, text("recording ", event, " on ", stream));
  }
  recorded->recorded.store(true, std::memory_order_relaxed);
}

// What keeps the context that a stream is in; nothing for contexts that aren't ours.
std::shared_ptr<const void> keeper(const core::ContextChoice& context) {
  return context.is_fixed() ? context.resolve().owner.lock() : nullptr;
}

std::shared_ptr<const void> both(std::shared_ptr<const void> first, std::shared_ptr<const void> second) {
  if (!first || !second) return first ? first : second;
  return std::make_shared<const std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(std::move(first),
                                                                                                     std::move(second));
}

}  // namespace

StreamResource::StreamResource(const core::ContextRecord& the_context, const StreamOptions& options)
    : ownership(Ownership::ours),
      handle(create(the_context, options)),
      context_(the_context),
      parent_(the_context.owner.lock()) {}

StreamResource::StreamResource(const core::ContextChoice& the_context, CUstream the_handle,
                               std::shared_ptr<const void> owner)
    : ownership(Ownership::foreign),
      handle(the_handle),
      context_(the_context),
      parent_(both(std::move(owner), keeper(the_context))) {}

StreamResource::~StreamResource() {
  // Destroying needs no current context: a stream knows its own.
  if (ownership == Ownership::ours && !core::is_left_to_driver(handle))
    core::release_in<&Api::cuStreamDestroy>(context_.resolve(), handle);
}

Stream Stream::from_handle(CUstream_st* handle, std::shared_ptr<const void> owner) {
  if (core::is_default_stream(handle) && !owner) return core::default_stream(handle);
  const core::Queue queue = core::foreign_queue(handle);
  return Access::make<Stream, StreamResource>(queue.context, queue.handle, std::move(owner));
}

Stream Stream::legacy_default() { return core::default_stream(CU_STREAM_LEGACY); }

Stream Stream::per_thread_default() { return core::default_stream(CU_STREAM_PER_THREAD); }

Stream default_stream() { return core::default_stream(core::usual_default_stream()); }

void Stream::sync() const {
  const Kept<StreamResource> stream = Access::keep(*this);
  core::DestroyDeferred deferred;
  ContextGuard guard(stream->context());
  driver::call<&Api::cuStreamSynchronize>(Doing{[&] { return text("waiting for ", *this); }}, stream->handle);
}

bool Stream::is_done() const {
  const Kept<StreamResource> stream = Access::keep(*this);
  ContextGuard guard(stream->context());
  const CUresult state = driver::try_call<&Api::cuStreamQuery>(stream->handle);
  if (state == CUDA_SUCCESS) return true;
  if (state == CUDA_ERROR_NOT_READY) return false;
  driver::detail::raise(state, driver::detail::index_of_cuStreamQuery, text("asking whether ", *this, " is done"));
}

void Stream::wait(const Event& event) const {
  const Kept<StreamResource> stream = Access::keep(*this);
  const Kept<EventResource> awaited = Access::keep(event);
  core::queue_work<&Api::cuStreamWaitEvent>(*stream, Doing{[&] { return text("making ", *this, " wait for ", event); }},
                                            stream->handle, awaited->handle,
                                            static_cast<unsigned>(CU_EVENT_WAIT_DEFAULT));
}

void Stream::wait(const Stream& other) const {
  const Kept<StreamResource> stream = Access::keep(*this);  // refuse before the other stream is touched
  wait(other.record());
}

Event Stream::record(const Event& event) const {
  const Kept<StreamResource> stream = Access::keep(*this);
  record_on(*stream, Access::keep(event), event, *this);
  return event;
}

bool detail::record_unless_shared(const Stream& stream, const Event& event) {
  const Kept<EventResource> recorded = Access::keep(event);
  if (recorded->options.ipc_enabled) return false;
  record_on(*Access::keep(stream), recorded, event, stream);
  return true;
}

Event Stream::record(const EventOptions& options) const {
  const Kept<StreamResource> stream = Access::keep(*this);
  ContextGuard guard(stream->context());
  Event event = Access::make<Event, EventResource>(guard.context(), options);
  record_on(*stream, Access::keep(event), event, *this);
  return event;
}

void Stream::host_call(std::function<void()> function) const {
  const Kept<StreamResource> stream = Access::keep(*this);
  if (!function) throw InvalidArgument(text("a host call on ", *this, ": the function is empty"));
  if (core::is_something_captured() && core::captured_graph(*stream)) [[unlikely]]
    throw WrongState(text("a host call on ", *this, ": it is being captured; GraphBuilder::callback adds a function"));
  ContextGuard guard(stream->context());
  core::queue_host_call(stream->handle, std::move(function),
                        [this] { return text("queueing a host call on ", *this); });
}

void Stream::keep(std::shared_ptr<const void> owner) const {
  const Kept<StreamResource> stream = Access::keep(*this);
  if (!owner) return;
  ContextGuard guard(stream->context());
  bool is_kept = false;
  core::keep_if_captured(*stream, [&] {
    is_kept = true;
    return core::Owners{owner};
  });
  if (is_kept) return;
  core::queue_host_call(
      stream->handle, [owner = std::move(owner)] {}, [this] { return text("keeping what work on ", *this, " uses"); });
}

bool Stream::is_nonblocking() const {
  const Kept<StreamResource> stream = Access::keep(*this);
  ContextGuard guard(stream->context());
  unsigned flags = 0;
  driver::call<&Api::cuStreamGetFlags>(Doing{[&] { return text("reading the flags of ", *this); }}, stream->handle,
                                       &flags);
  return (flags & CU_STREAM_NON_BLOCKING) != 0;
}

int Stream::priority() const {
  const Kept<StreamResource> stream = Access::keep(*this);
  ContextGuard guard(stream->context());
  int priority = 0;
  driver::call<&Api::cuStreamGetPriority>(Doing{[&] { return text("reading the priority of ", *this); }},
                                          stream->handle, &priority);
  return priority;
}

unsigned long long Stream::id() const {
  const Kept<StreamResource> stream = Access::keep(*this);
  ContextGuard guard(stream->context());
  unsigned long long id = 0;
  driver::call<&Api::cuStreamGetId>(Doing{[&] { return text("reading the number of ", *this); }}, stream->handle, &id);
  return id;
}

Device Stream::device() const { return Access::device(Access::keep(*this)->context().resolve().device); }

Context Stream::context() const { return core::context_handle(Access::keep(*this)->context().resolve()); }

DeviceResources Stream::resources() const {
  return core::resources_of(
      detail::make_kept<detail::ContextResource>(detail::ContextResource{Access::keep(*this)->context().resolve()}));
}

CUstream_st* Stream::handle() const noexcept {
  return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void Stream::close() {
  if (const detail::SharedState* state = shared_.get(); state && state->is_permanent()) {
    shared_.replace(core::closed_stream(reinterpret_cast<CUstream>(state->kept_handle())));
  } else {
    Access::close(*this);
  }
}

std::uint64_t Stream::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const Stream& a, const Stream& b) noexcept { return core::are_same(a.shared_.get(), b.shared_.get()); }

std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  const Kept<StreamResource> resource = Access::try_keep(stream);
  if (!resource) return out << Access::state_in_words(stream);
  if (resource->handle == CU_STREAM_LEGACY) {
    out << "the legacy default stream";
  } else if (resource->handle == CU_STREAM_PER_THREAD) {
    out << "the default stream of the thread";
  } else {
    out << "stream " << static_cast<const void*>(resource->handle);
  }
  if (const std::optional<int> device = resource->context().device()) out << " on device " << *device;
  return out;
}

}  // namespace cuprum::inline CUPRUM_ABI
