// How graphs keep what their nodes use.
//
// A CUuserObject is counted by the driver: a graph has references to it, which clones, executable graphs and launches
// get too, and when the last of them is gone the driver calls us. So for each node there is one such object with what
// its parameters refer to; other parameters mean another object. The driver calls on a thread of its own, so that what
// is to be released waits for one of ours (see deferred.hpp).
#pragma once

#include <cuprum/driver.hpp>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::core {

/// Whoever keeps something, in an order that the kind of node decides. Empty ones stand for what is not kept.
using Owners = std::vector<std::shared_ptr<const void>>;

/// What a graph keeps for one of its nodes.
struct GraphAttachment {
  CUuserObject object = nullptr;  ///< null when there is nothing to keep
  Owners owners = {};
};

/// Makes a graph keep something, and takes it back at the end of the scope unless commit() was called: so that there is
/// no moment at which a node is there and what it uses is not kept.
class PendingAttachment {
 public:
  PendingAttachment(CUgraph graph, Owners owners);
  ~PendingAttachment();
  PendingAttachment(const PendingAttachment&) = delete;
  PendingAttachment& operator=(const PendingAttachment&) = delete;

  GraphAttachment commit() noexcept { return std::exchange(attachment_, {}); }

 private:
  CUgraph graph_;
  GraphAttachment attachment_;
};

/// The graph keeps it no more. Clones, executable graphs and launches do.
void detach(CUgraph graph, GraphAttachment& attachment) noexcept;

/// What nodes of an executable graph were given by updates. The driver attaches nothing to executable graphs; so this
/// is attached to the definition while the executable graph is made of it, and found there by both.
struct UpdatedOperands {
  std::unordered_map<CUgraphNode, Owners> current = {};
  std::vector<Owners> replaced = {};  ///< which earlier launches may still use
};

}  // namespace cuprum::core
