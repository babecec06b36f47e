#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {

Backend readPrototypeBackend(FieldReader& root, ObjectMeta meta) {
  return readDestinationBackend(root, std::move(meta), {.strict = true});
}

}  // namespace sluice::config
