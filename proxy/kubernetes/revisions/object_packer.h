// Packs the objects of a revision on a thread of its own, because it takes longer than the main thread may keep probes
// and signals waiting.
//
// Lives on the main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "proxy/kubernetes/revisions/revised_objects.h"
#include "proxy/net/worker.h"

namespace sluice::kubernetes {

class ObjectPacker {
 public:
  /// `main` outlives it.
  explicit ObjectPacker(net::Worker& main) : main_(main) {}
  /// Waits until it has packed.
  ~ObjectPacker();
  ObjectPacker(const ObjectPacker&) = delete;
  ObjectPacker& operator=(const ObjectPacker&) = delete;

  /// Calls `done` with the result of packObjects() in a later Turn, unless the loop has ended. One at a time.
  void pack(std::shared_ptr<const RevisedObjects> objects, std::function<void(std::string)> done);

 private:
  net::Worker& main_;
  std::thread thread_;
};

}  // namespace sluice::kubernetes
