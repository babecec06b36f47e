// Makes the Chain that exchanges run from the steps of compiled uses, and compares two chains.
//
// These are pure functions.
#pragma once

#include <memory>
#include <vector>

#include "proxy/processing/chain.h"

namespace sluice::compile {

/// Returns null if there are no steps.
std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps);
/// Returns a chain of the steps and, behind them, those of another chain, which may be null.
std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps,
                                                 const std::shared_ptr<const processing::Chain>& next);
/// Returns true if both have the same steps in the same order, each with the same processor. A null chain has no steps.
bool same(const processing::Chain* a, const processing::Chain* b);
bool sameStep(const processing::Step& a, const processing::Step& b);
bool sameSteps(const std::vector<processing::Step>& a, const std::vector<processing::Step>& b);

}  // namespace sluice::compile
