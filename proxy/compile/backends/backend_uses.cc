#include "proxy/compile/backends/backend_uses.h"

#include <utility>

namespace sluice::compile {

std::shared_ptr<const BackendUse> BackendUses::resolve(const BackendCatalog& backends,
                                                       const config::BackendObjectReference& ref,
                                                       const Holder& holder) {
  const config::ObjectRef& object = ref.object;
  std::shared_ptr<const BackendUse>& kept = uses_[Key(object.group, object.kind, object.nameSpace, object.name,
                                                      object.path, ref.port, holder.kind, holder.nameSpace)];
  if (kept == nullptr || !hold(backends, kept, holder)) {
    kept = std::make_shared<const BackendUse>(backends.resolve(ref, holder));
    held_.insert_or_assign(kept.get(), true);
  }
  return kept;
}

bool BackendUses::hold(const BackendCatalog& backends, const std::shared_ptr<const BackendUse>& use,
                       const Holder& holder) {
  const auto [held, isNew] = held_.try_emplace(use.get(), false);
  if (isNew) held->second = backends.resolve(use->target, holder) == *use;
  return held->second;
}

void BackendUses::sweep() {
  std::erase_if(uses_, [](const auto& each) { return each.second.use_count() == 1; });
  held_.clear();
}

}  // namespace sluice::compile
