#include "proxy/compile/processors/processor_support.h"

#include <utility>

namespace sluice::compile {

config::ProcessorSupport supportOf(const processing::BuiltinTypes& types) {
  config::ProcessorSupport support;
  for (const processing::BuiltinType& type : types) {
    config::BuiltinProcessor builtin{type.type, {}, type.preAuth, type.schema, type.spans};
    for (const processing::Phase phase : type.phases) builtin.phases.push_back(processing::phaseName(phase));
    support.types.push_back(std::move(builtin));
    if (type.engine == config::engineName(config::ProcessorEngine::kExtProc)) {
      support.engines.push_back(config::ProcessorEngine::kExtProc);
    }
  }
  return support;
}

}  // namespace sluice::compile
