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
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/processors/processor_cache.h"
#include "proxy/compile/processors/step_numbers.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"

namespace sluice::compile {

/// States whether requests with these uses go to destinations outside the cluster without TLS.
enum class Exposure : std::uint8_t {
  kNone,
  kSome,
  kByRule  // it depends on the rule that a request matches
};

/// The object that contains a list of uses.
struct UsesOf {
  Holder holder;
  std::string_view name;  // the object's name
  processing::Scope scope;
  Exposure exposure = Exposure::kNone;
  /// Identifies the list in the object, if the object has several lists. Uses with the same name share their state
  /// (such as budgets) only within one place. The place stays the same in every compilation as long as the list is not
  /// moved.
  std::string place = {};
  /// The object that refers to the Secrets, if that is not the holder. This is a pipeline of the holder's namespace,
  /// whose uses run for the holder.
  std::optional<Holder> writer = std::nullopt;
  /// True if they run before a route is matched. Only the phases of the request's head and body exist there.
  bool preRouting = false;
};

/// A use that cannot run.
struct RefusedUse {
  std::string writtenIn;  // objectName() of the object in which it is written
  std::string use;        // the name of the use; empty for all uses that the object attaches
  Fault fault;
  bool open = false;  // true: it is left out; false: its requests are answered with 500
  /// The prefix of its message in conditions of other objects.
  std::string origin = {};
  base::ObjectNames secrets = {};  // the Secrets that it names; it may run once it can read them

  /// Returns the fault for conditions of other objects. It only sums up the conditions of the object in which the use
  /// is written.
  Fault named() const;

  friend bool operator==(const RefusedUse&, const RefusedUse&) = default;
};

/// A use that is refused for exposed requests, where the rule decides whether a request is exposed; see
/// shielded_rule.h.
struct ShieldedUse {
  processing::Step step;
  RefusedUse refused;  // the use in its refused form, for exposed requests

  friend bool operator==(const ShieldedUse& a, const ShieldedUse& b) {
    return sameStep(a.step, b.step) && a.refused == b.refused;
  }
};

/// Returns "kind namespace/name" of an objectName(), as events name objects.
std::string eventObject(std::string_view objectName);
/// Returns "kind.group namespace/name".
std::string objectName(const Holder& object, std::string_view name);

struct CompiledUses {
  std::vector<processing::Step> steps;
  std::vector<RefusedUse> refused;
  std::vector<ShieldedUse> shielded;  // only with Exposure::kByRule

  void append(CompiledUses more);
  /// Removes the refused uses that fail open, because other conditions report them.
  void forgetOpen();
  /// Returns the faults of uses that fail closed. Their requests are answered with 500.
  std::vector<Fault> closed() const { return faults(false); }
  /// Returns the faults of uses that fail open and are left out.
  std::vector<Fault> open() const { return faults(true); }
  std::vector<Fault> faults(bool open) const;

  /// Returns true if both run the same processors in the same way.
  friend bool operator==(const CompiledUses& a, const CompiledUses& b);
};

/// The sources from which uses are compiled.
struct ProcessorSources {
  const config::Model& model;
  const config::Catalog& catalog;
  const processing::BuiltinTypes& types;
  const DestinationCatalog& destinations;  // for the requests that processors send
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
  CompiledUses compile(const config::PayloadProcessor& processor, const UsesOf& of) const;
  /// Compiles the uses of a PayloadProcessor or an extension policy, and puts the object's name into `origin` of their
  /// faults.
  template <typename Object>
  CompiledUses attached(const Object& object, const UsesOf& its) const;
  struct RefusedStep {
    Fault fault;
    bool open;
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
  void addByRule(const config::ProcessorUse& use, const UsesOf& of, const std::string& writtenIn,
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
