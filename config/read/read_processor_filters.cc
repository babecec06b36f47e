// Reads filters of routes that attach payload processors: by reference to a pipeline, or with uses in the route itself,
// which no API server accepts.
#include "config/read/object_readers.h"
#include "config/read/processor_readers.h"

namespace sluice::config {
namespace {

bool isPipeline(const ObjectRef& ref) {
  return ref.kind == PayloadProcessingPipeline::kKind && (ref.group == kOwnGroup || ref.group == kGatewayGroup);
}

void noteUnsupported(const FieldReader& filter, std::string message, std::vector<UnsupportedField>& unsupported) {
  unsupported.push_back(UnsupportedField{filter.path(), filter.position(), std::move(message), true});
}

}  // namespace

void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                      std::vector<UnsupportedField>& unsupported) {
  FieldReader reader = filter.map(field);
  if (!filter.has(field)) return;
  ObjectRef ref = readObjectRef(reader, {"", "", true}, false);
  reader.finish();
  if (isPipeline(ref)) {
    filters.processors.emplace_back(std::move(ref));
  } else {
    noteUnsupported(filter, "filter ExtensionRef is not supported", unsupported);
  }
}

void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                     std::vector<UnsupportedField>& /*unsupported*/) {
  FieldReader reader = filter.map(field);
  if (!filter.has(field)) return;
  ObjectRef ref = readObjectRef(reader, {kGatewayGroup, PayloadProcessingPipeline::kKind}, false);
  if (!isPipeline(ref)) reader.error("kind", "must be that of a PayloadProcessingPipeline");
  reader.finish();
  filters.processors.emplace_back(std::move(ref));
}

void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters,
                          std::vector<UnsupportedField>& /*unsupported*/) {
  const std::size_t errors = filter.context().errors();
  std::vector<ProcessorUse> uses = readProcessorUses(filter, field);
  if (uses.empty() && filter.has(field) && filter.context().errors() == errors) {
    filter.error(field, "must have at least one item");
  }
  filters.processors.emplace_back(std::move(uses));
}

}  // namespace sluice::config
