#include "proxy/kubernetes/revisions/object_packer.h"

#include <utility>

namespace sluice::kubernetes {

ObjectPacker::~ObjectPacker() {
  if (thread_.joinable()) thread_.join();
}

void ObjectPacker::pack(std::shared_ptr<const RevisedObjects> objects, std::function<void(std::string)> done) {
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, objects = std::move(objects), done = std::move(done)] {
    main_.post([data = packObjects(objects->texts), done] { done(data); });
  });
}

}  // namespace sluice::kubernetes
