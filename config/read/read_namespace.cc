#include "config/read/object_readers.h"

namespace sluice::config {

Namespace readNamespace(FieldReader& root, ObjectMeta meta) {
  root.ignore("spec");
  return Namespace{std::move(meta)};
}

}  // namespace sluice::config
