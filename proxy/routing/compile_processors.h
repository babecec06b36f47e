// Uses of payload processors into the Chain that exchanges go through: each with its type, its Secrets and its own
// fault.
//
// Lives as long as one compilation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/model.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"
#include "proxy/routing/fault.h"
#include "proxy/routing/references.h"

namespace sluice::routing {

/// What holds a list of uses.
struct UsesOf {
  Holder holder;
  std::string_view name;  // of the object
  processing::Scope scope;
  /// What it guards is spoken to without TLS, outside of the cluster.
  bool exposed = false;
};

struct CompiledUses {
  std::shared_ptr<const processing::Chain> chain;  // null if there are no steps
  /// Of uses that can not run and are not to be missed: what they guard answers 500.
  std::vector<Fault> closed;
  /// Of those that are left out because they fail open.
  std::vector<Fault> open;
};

class ProcessorCompiler {
 public:
  /// References outlive it.
  ProcessorCompiler(const config::Model& model, const processing::BuiltinTypes& types, processing::SharedStates& states)
      : model_(model), types_(types), states_(states) {}

  CompiledUses compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const;

 private:
  Resolved<processing::Step> step(const config::ProcessorUse& use, const UsesOf& of) const;

  const config::Model& model_;
  const processing::BuiltinTypes& types_;
  processing::SharedStates& states_;
};

}  // namespace sluice::routing
