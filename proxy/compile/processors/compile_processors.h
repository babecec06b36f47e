// Compiles uses of payload processors into the Chain that exchanges run. Each use has its type, its Secrets and its own
// fault.
//
// The object lives as long as one compilation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/catalog/catalog.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/destinations/destination_catalog.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/processors/compiled_uses.h"
#include "proxy/compile/processors/processor_cache.h"
#include "proxy/compile/processors/step_numbers.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"

namespace sluice::compile {

/// The sources from which uses are compiled.
struct ProcessorSources {
  const config::Model& model;
  const config::Catalog& catalog;
  const processing::BuiltinTypes& types;
  const DestinationCatalog& destinations;  // for the requests that processors send
  const TrafficPolicies& traffic;          // for the connections of these
};

class ProcessorCompiler {
 public:
  /// All references must outlive it.
  ProcessorCompiler(const ProcessorSources& sources, processing::SharedStates& states, ProcessorCache& cache,
                    StepNumbers& numbers, AskedServers& servers)
      : sources_(sources),
        model_(sources.model),
        processors_(sources.model),
        extensions_(sources.model),
        states_(states),
        cache_(cache),
        numbers_(numbers),
        servers_(servers) {}

  const config::Model& model() const { return model_; }

  CompiledUses compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const;
  /// Compiles the filters of a rule or weighted backend. Pipelines are looked up in the holder's namespace.
  CompiledUses compile(const std::vector<config::ProcessorFilter>& filters, const UsesOf& of) const;
  /// Returns true if a PayloadProcessor or an extension policy targets the object or a section of it.
  bool concern(const config::ObjectMeta& target) const;
  /// Compiles the PayloadProcessors that target the object or this section of it, oldest first. `own` are the uses in
  /// the object itself. They are placed among the others by the object's age.
  CompiledUses targeting(const config::ObjectMeta& target, const config::PolicySection& section, const UsesOf& of,
                         CompiledUses own = {}) const;

  /// Compiles the extension policy that takes effect for the object or this section of it; nullopt if there is none.
  std::optional<CompiledUses> extending(const config::ObjectMeta& target, std::string_view section,
                                        const UsesOf& of) const;

 private:
  void add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of, const std::string& writtenIn,
           CompiledUses& result) const;
  using Uses = std::vector<config::ProcessorUse>;
  /// Adds one use of a list, with the uses of the list that stand in for it.
  void addUse(const config::ProcessorUse& use, const Uses& list, const UsesOf& of, const std::string& writtenIn,
              CompiledUses& result) const;
  CompiledUses compile(const config::PayloadProcessor& processor, const UsesOf& of) const;
  /// Compiles the uses of a PayloadProcessor or an extension policy, and puts the object's name into `origin` of their
  /// faults.
  template <typename Object>
  CompiledUses attached(const Object& object, const UsesOf& its) const;
  struct RefusedStep {
    Fault fault;
    bool open;
    RefusedPlace place;
    base::ObjectNames secrets = {};
  };
  /// Returns the steps of a use, one for each of its phases.
  std::variant<std::vector<processing::Step>, RefusedStep> steps(const config::ProcessorUse& use,
                                                                 const UsesOf& of) const;
  /// Returns the health record of the server that the processor calls; null if it calls none.
  std::shared_ptr<const processing::ServerHealth> healthOf(const processing::Processor& processor,
                                                           const config::ProcessorUse& use, const UsesOf& of) const;
  processing::Made make(const config::ProcessorUse& use, const UsesOf& of, const config::Admission& admission,
                        const processing::BuiltinType& type, processing::Phase phase) const;
  /// Adds a use whose exposure depends on the matched rule.
  void addByRule(const config::ProcessorUse& use, const Uses& list, const UsesOf& of, const std::string& writtenIn,
                 CompiledUses& result) const;

  const ProcessorSources sources_;
  const config::Model& model_;  // the model in sources_
  const AttachedPolicies<config::PayloadProcessor> processors_;
  const AttachedPolicies<config::ExtensionPolicy> extensions_;
  processing::SharedStates& states_;
  ProcessorCache& cache_;
  StepNumbers& numbers_;
  AskedServers& servers_;  // all uses that are compiled to steps which call a server
};

/// Returns a step that answers 500. It replaces steps that cannot run and fail closed, where nothing else refuses the
/// requests. `object` is that whose requests it refuses, as events name it.
processing::Step refusing(const Fault& fault, processing::Scope scope, std::string object);
/// Returns the first such step of a chain, which runs before all others; nullptr if there is none. `chain` may be null.
const processing::Step* refusingStep(const processing::Chain* chain);

}  // namespace sluice::compile
