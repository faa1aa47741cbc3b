#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum {

using core::ContextGuard;
using detail::Access;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

void check_priority(const core::Context& context, int priority) {
  int least = 0;
  int greatest = 0;
  driver::call<&Api::cuCtxGetStreamPriorityRange>(&least, &greatest);
  if (priority > least || priority < greatest) {
    throw InvalidArgument(text("stream priority ", priority, ": device ", context.device, " has priorities from ",
                               greatest, " (first) to ", least, " (last)"));
  }
}

bool is_default_stream(CUstream handle) {
  return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

const core::Context& context_of_stream(CUstream handle) {
  if (is_default_stream(handle)) {
    if (const core::Context* current = core::current_context()) return *current;
    return core::primary_context(0);
  }
  CUcontext context = nullptr;
  driver::call<&Api::cuStreamGetCtx>(Doing{[&] { return text("wrapping stream ", handle); }}, handle, &context);
  return core::context_of(context);
}

CUstream create(const core::Context& context, const StreamOptions& options) {
  ContextGuard guard(context);
  if (options.priority) check_priority(context, *options.priority);
  CUstream handle = nullptr;
  driver::call<&Api::cuStreamCreateWithPriority>(
      Doing{[&] { return text("creating a stream on device ", context.device); }}, &handle,
      options.nonblocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT, options.priority.value_or(0));
  return handle;
}

}  // namespace

StreamResource::StreamResource(const core::Context& the_context, const StreamOptions& options)
    : context(the_context), ownership(Ownership::ours), handle(create(the_context, options)) {}

StreamResource::~StreamResource() {
  if (ownership == Ownership::foreign) return;
  if (ContextGuard guard(context, std::nothrow); guard.entered()) driver::release<&Api::cuStreamDestroy>(handle);
}

Stream Stream::from_handle(CUstream_st* handle) {
  return Access::make<Stream>(std::make_shared<StreamResource>(context_of_stream(handle), handle));
}

void Stream::sync() const {
  const StreamResource& stream = *Access::resource(*this);
  ContextGuard guard(stream.context);
  driver::call<&Api::cuStreamSynchronize>(Doing{[&] { return text("waiting for ", *this); }}, stream.handle);
}

void Stream::wait(const Event& event) const {
  const StreamResource& stream = *Access::resource(*this);
  const detail::EventResource& awaited = *Access::resource(event);
  ContextGuard guard(stream.context);
  driver::call<&Api::cuStreamWaitEvent>(Doing{[&] { return text("making ", *this, " wait for ", event); }},
                                        stream.handle, awaited.handle, static_cast<unsigned>(CU_EVENT_WAIT_DEFAULT));
}

void Stream::wait(const Stream& other) const {
  Access::resource(*this);  // refuse before the other stream is touched
  wait(other.record());
}

Event Stream::record(const Event& event) const {
  const StreamResource& stream = *Access::resource(*this);
  detail::EventResource& recorded = *Access::resource(event);
  ContextGuard guard(stream.context);
  driver::call<&Api::cuEventRecord>(Doing{[&] { return text("recording ", event, " on ", *this); }}, recorded.handle,
                                    stream.handle);
  recorded.recorded = true;
  return event;
}

Event Stream::record(const EventOptions& options) const {
  return record(
      Access::make<Event>(std::make_shared<detail::EventResource>(Access::resource(*this)->context, options)));
}

bool Stream::is_nonblocking() const {
  const StreamResource& stream = *Access::resource(*this);
  ContextGuard guard(stream.context);
  unsigned flags = 0;
  driver::call<&Api::cuStreamGetFlags>(Doing{[&] { return text("reading the flags of ", *this); }}, stream.handle,
                                       &flags);
  return (flags & CU_STREAM_NON_BLOCKING) != 0;
}

int Stream::priority() const {
  const StreamResource& stream = *Access::resource(*this);
  ContextGuard guard(stream.context);
  int priority = 0;
  driver::call<&Api::cuStreamGetPriority>(Doing{[&] { return text("reading the priority of ", *this); }}, stream.handle,
                                          &priority);
  return priority;
}

Device Stream::device() const { return Access::device(Access::resource(*this)->context.device); }

CUstream_st* Stream::handle() const { return Access::resource(*this)->handle; }

void Stream::close() { Access::close(*this); }

std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  if (!Access::is_open(stream)) return out << "a closed stream";
  const StreamResource& resource = *Access::resource(stream);
  if (is_default_stream(resource.handle)) return out << "the default stream of device " << resource.context.device;
  return out << "stream " << static_cast<const void*>(resource.handle) << " on device " << resource.context.device;
}

}  // namespace cuprum
