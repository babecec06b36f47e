#include "proxy/compile/processors/processor_support.h"

#include <utility>

namespace sluice::compile {

config::ProcessorSupport supportOf(const processing::BuiltinTypes& types) {
  config::ProcessorSupport support;
  for (const processing::BuiltinType& type : types) {
    if (!type.engine.empty()) support.engines.push_back(type.engine);
    if (type.type.empty()) continue;
    config::BuiltinProcessor builtin{type.type, {}, type.preAuth, type.schema, type.spans};
    for (const processing::Phase phase : type.phases) builtin.phases.push_back(processing::phaseName(phase));
    support.types.push_back(std::move(builtin));
  }
  return support;
}

}  // namespace sluice::compile
