// A ProcessorCache keeps the processors of the last compilation. A processor stays the same object if nothing changed
// in its use, nor in the Secrets and grants that it read. What awaits something is made again when that may have come.
//
// It belongs to the loading thread.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/base/cache.h"
#include "proxy/processing/factory.h"

namespace sluice::compile {

/// A processor and everything it was made from.
struct MadeProcessor {
  /// A Secret that the type looked up while it made the processor, and the result.
  struct Lookup {
    std::string nameSpace;
    std::string name;
    std::string key;
    processing::FoundSecret answer;
  };
  /// A target that it looked up.
  struct TargetFound {
    content::Value backendRef;
    bool http2 = false;
    processing::FoundBackend answer;
  };
  content::Value config;
  content::Value engine;  // null if the use has none
  std::uint64_t mostContext = 0;
  std::vector<Lookup> lookups;
  std::vector<TargetFound> targets;
  processing::Made made;
};

/// The key is owner, name, type, phase, phases, preAuth, exposed; a round is one compilation.
using ProcessorCache =
    base::Cache<std::tuple<std::string, std::string, std::string, processing::Phase, std::uint8_t, bool, bool>,
                MadeProcessor>;

/// Returns the processor that `type` makes of `use`; the kept one if nothing changed.
processing::Made makeProcessor(const processing::BuiltinType& type, const processing::Use& use, ProcessorCache& cache);

/// A use that awaits something of the environment.
struct AwaitingUse {
  std::string name;  // its owner and its own name
  processing::LoadState state = processing::LoadState::kDegraded;
  std::string why;
  std::shared_ptr<const processing::Awaited> awaited;

  /// Returns true if both await the same thing. What has come and was of no use is awaited anew.
  friend bool operator==(const AwaitingUse&, const AwaitingUse&) = default;
};

/// Returns the uses of the compilation that has ended which await something, in an order that depends on them alone.
std::vector<AwaitingUse> awaitingUses(const ProcessorCache& cache);

}  // namespace sluice::compile
