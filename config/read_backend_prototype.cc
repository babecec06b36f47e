#include "config/backend_readers.h"
#include "config/object_readers.h"

namespace sluice::config {

Backend readPrototypeBackend(FieldReader& root, ObjectMeta meta) {
  return readDestinationBackend(root, std::move(meta), kPrototypeGroup, "Backend", {.strict = true});
}

Backend readPrototypeDestination(FieldReader& root, ObjectMeta meta) {
  return readDestinationBackend(root, std::move(meta), kPrototypeGroup, "XBackendDestination", {.strict = true});
}

}  // namespace sluice::config
