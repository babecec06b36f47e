// A BackendMemo keeps the BackendPlans of the last compilation: one that did not change stays the same object, so that
// what was made of it stays too.
//
// It belongs to the loading thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proxy/base/memo.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Its key is name and identity; a round is one compilation.
using BackendMemo = base::Memo<std::pair<std::string, std::string>, std::shared_ptr<const routing::BackendPlan>>;

/// Returns `plan`, or the one before that says the same.
std::shared_ptr<const routing::BackendPlan> sharedPlan(std::shared_ptr<const routing::BackendPlan> plan,
                                                       BackendMemo& memo);

}  // namespace sluice::control
