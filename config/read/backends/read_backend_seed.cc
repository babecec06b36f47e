#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {

Backend readBackendSeed(FieldReader& root, ObjectMeta meta) {
  return readDestinationBackend(root, std::move(meta), {.first = true});
}

}  // namespace sluice::config
