#include "core/stream/attachment.hpp"

#include <algorithm>

#include "core/base/deferred.hpp"
#include "core/stream/graph_changes.hpp"
#include "driver/release.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;

struct AttachedOwners : Deferred {
  explicit AttachedOwners(Owners the_owners) : owners(std::move(the_owners)) {}
  Owners owners;
};

void CUDA_CB on_last_reference(void* attached) { defer(static_cast<AttachedOwners*>(attached)); }

CUuserObject make_user_object(const Owners& owners) {
  auto attached = std::make_unique<AttachedOwners>(owners);
  CUuserObject object = nullptr;
  driver::call<&Api::cuUserObjectCreate>(Doing{[] { return "making a graph keep what a node uses"; }}, &object,
                                         static_cast<void*>(attached.get()), static_cast<CUhostFn>(on_last_reference),
                                         1u, static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  static_cast<void>(attached.release());  // on_last_reference has it now
  return object;
}

}  // namespace

PendingAttachment::PendingAttachment(CUgraph graph, Owners owners) : graph_(graph) {
  destroy_deferred();
  const bool is_empty = std::none_of(owners.begin(), owners.end(), [](const auto& owner) { return owner != nullptr; });
  if (is_empty) return;
  const CUuserObject object = make_user_object(owners);
  try {
    const GraphChange change;
    driver::call<&Api::cuGraphRetainUserObject>(Doing{[] { return "making a graph keep what a node uses"; }}, graph,
                                                object, 1u, static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE));
  } catch (...) {
    driver::release<&Api::cuUserObjectRelease>(object, 1u);
    destroy_deferred();
    throw;
  }
  attachment_ = {object, std::move(owners)};
}

PendingAttachment::~PendingAttachment() { detach(graph_, attachment_); }

void detach(CUgraph graph, GraphAttachment& attachment) noexcept {
  if (attachment.object) {
    const GraphChange change;
    driver::release<&Api::cuGraphReleaseUserObject>(graph, attachment.object, 1u);
  }
  attachment = {};
  destroy_deferred();
}

}  // namespace cuprum::core
