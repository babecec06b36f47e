// Uses of payload processors into the Chain that exchanges go through: each with its type, its Secrets and its own
// fault.
//
// Lives as long as one compilation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/catalog/catalog.h"
#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/processors/processor_memo.h"
#include "proxy/control/compile/references.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

/// What holds a list of uses.
struct UsesOf {
  Holder holder;
  std::string_view name;  // of the object
  processing::Scope scope;
  /// What it guards is spoken to without TLS, outside of the cluster.
  bool exposed = false;
  /// Where in the object the list is attached, if it has several such places: what uses of one name remember (budgets)
  /// they share only in one place. The same in every compilation for as long as nobody moves it.
  std::string place = {};
  /// They run before a route is matched, where only the phases of the request's head and body exist (E-97a).
  bool preRouting = false;
};

/// A use that can not run.
struct RefusedUse {
  std::string writtenIn;  // the object that it stands in: objectName()
  std::string use;        // its name; empty: all of what the object attaches
  Fault fault;
  bool open = false;  // it is left out; else what it guards answers 500
  /// Before the message, for whoever is told of what stands in another object.
  std::string origin = {};

  friend bool operator==(const RefusedUse&, const RefusedUse&) = default;
};

/// "kind.group namespace/name".
std::string objectName(const Holder& object, std::string_view name);

struct CompiledUses {
  std::vector<processing::Step> steps;
  std::vector<RefusedUse> refused;

  void append(CompiledUses more);
  /// Says no more of those that are left out: somebody else does.
  void forgetOpen();
  /// Of those that are not to be missed: what they guard answers 500.
  std::vector<Fault> closed() const { return faults(false); }
  /// Of those that are left out.
  std::vector<Fault> open() const { return faults(true); }
  std::vector<Fault> faults(bool open) const;

  /// The same processors, run in the same way.
  friend bool operator==(const CompiledUses& a, const CompiledUses& b);
};

/// The first one's reason, and the messages of all.
std::optional<Fault> joined(const std::vector<Fault>& faults);

class ProcessorCompiler {
 public:
  /// References outlive it.
  ProcessorCompiler(const config::Model& model, const config::Catalog& catalog, const processing::BuiltinTypes& types,
                    processing::SharedStates& states, ProcessorMemo& memo)
      : model_(model), catalog_(catalog), types_(types), states_(states), memo_(memo) {}

  CompiledUses compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const;
  /// Of the filters of a rule or share: pipelines are those of the holder's namespace.
  CompiledUses compile(const std::vector<config::ProcessorFilter>& filters, const UsesOf& of) const;
  /// A PayloadProcessor targets the object, or a section of it.
  bool concern(const config::ObjectMeta& target) const;
  /// Of PayloadProcessors that target the object, or this section of it ("": all of it), oldest first (P-28); `own`,
  /// which stand in the object itself, have their place among them by its age (E-95).
  CompiledUses targeting(const config::ObjectMeta& target, std::string_view section, const UsesOf& of,
                         CompiledUses own = {}) const;

 private:
  void add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of, const std::string& writtenIn,
           CompiledUses& result) const;
  /// With its name in what others are told of the faults.
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
  ProcessorMemo& memo_;
};

/// Null if there are no steps.
std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps);
/// The same steps, each made of the same processor, in the same order; of one that is null there are none.
bool same(const processing::Chain* a, const processing::Chain* b);
/// In the place of steps that can not run and are not to be missed, where nothing else refuses the request: 500.
processing::Step refusing(const Fault& fault, processing::Scope scope);

}  // namespace sluice::control
