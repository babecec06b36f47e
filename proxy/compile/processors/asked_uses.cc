#include "proxy/compile/processors/asked_uses.h"

#include <utility>

namespace sluice::compile {

FoundUses findUses(const ProcessorCompiler& processors, const config::ObjectMeta& route, const UsesQuestion& question) {
  FoundUses found{processors.compile(*question.filters, question.of), {}};
  found.refusedFilters = found.uses.refused;
  if (!question.rule) return found;
  found.uses = processors.targeting(route, {*question.rule}, question.of, std::move(found.uses));
  return found;
}

}  // namespace sluice::compile
