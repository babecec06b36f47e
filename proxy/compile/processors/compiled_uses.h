// The uses of payload processors after they are compiled: the steps of those that run, and the faults of the others.
//
// These are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/object_names.h"
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/processing/chain.h"

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

/// Where a use would run that cannot run.
struct RefusedPlace {
  std::uint8_t phases = 0;  // a bit each; none if they are not known
  bool preAuth = false;
  std::int32_t priority = 0;
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

}  // namespace sluice::compile
