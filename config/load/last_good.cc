#include "config/load/last_good.h"

#include <utility>
#include <vector>

#include "config/read/object_kinds.h"

namespace sluice::config {

void keepLastGood(Model& model, const Model& previous) {
  std::vector<Rejected> without;
  for (Rejected& refused : model.rejected) {
    if (findObjectKind(refused.group, refused.kind)->keep(refused, previous, model)) {
      refused.remains.reset();
      model.kept.push_back(std::move(refused));
    } else {
      without.push_back(std::move(refused));
    }
  }
  model.rejected = std::move(without);
}

}  // namespace sluice::config
