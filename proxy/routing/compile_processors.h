// Uses of payload processors into the Chain that exchanges go through: each with its type, its Secrets and its own
// fault.
//
// Lives as long as one compilation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/catalog.h"
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
  std::vector<processing::Step> steps;
  /// Of uses that can not run and are not to be missed: what they guard answers 500.
  std::vector<Fault> closed;
  /// Of those that are left out because they fail open.
  std::vector<Fault> open;
};

class ProcessorCompiler {
 public:
  /// References outlive it.
  ProcessorCompiler(const config::Model& model, const config::Catalog& catalog, const processing::BuiltinTypes& types,
                    processing::SharedStates& states)
      : model_(model), catalog_(catalog), types_(types), states_(states) {}

  CompiledUses compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const;
  /// Of the filters of a rule or share: pipelines are those of the holder's namespace.
  CompiledUses compile(const std::vector<config::ProcessorFilter>& filters, const UsesOf& of) const;
  /// A PayloadProcessor targets the object, or a section of it.
  bool concern(std::string_view kind, const config::ObjectMeta& target) const;
  /// Of PayloadProcessors that target the object, or this section of it ("": all of it), oldest first (P-28); `own`,
  /// which stand in the object itself, have their place among them by its age (E-95).
  CompiledUses targeting(std::string_view kind, const config::ObjectMeta& target, std::string_view section,
                         const UsesOf& of, CompiledUses own = {}) const;

 private:
  void add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of, CompiledUses& result) const;
  /// With its name in the faults.
  CompiledUses compile(const config::PayloadProcessor& processor, const UsesOf& of) const;
  struct Refused {
    Fault fault;
    bool open;
  };
  std::variant<processing::Step, Refused> step(const config::ProcessorUse& use, const UsesOf& of) const;

  const config::Model& model_;
  const config::Catalog& catalog_;
  const processing::BuiltinTypes& types_;
  processing::SharedStates& states_;
};

/// Null if there are no steps.
std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps);
/// In the place of steps that can not run and are not to be missed, where nothing else refuses the request: 500.
processing::Step refusing(const Fault& fault, processing::Scope scope);

}  // namespace sluice::routing
