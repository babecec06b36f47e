// A ProcessorCache keeps the processors of the last compilation. A processor stays the same object if its use and the
// Secrets and grants that it read have not changed. A processor that waits for something is made again when that may
// exist.
//
// The cache belongs to the loading thread.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/base/cache.h"
#include "proxy/content/packed_value.h"
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
  /// A target that the type looked up, and the result.
  struct TargetFound {
    content::Value backendRef;
    bool http2 = false;
    processing::FoundBackend answer;
  };
  content::PackedValue config;
  content::PackedValue engine;  // null if the use has no engine
  std::uint64_t mostContext = 0;
  std::uint64_t mostScript = 0;
  processing::WorkBounds work;
  std::vector<Lookup> lookups;
  std::vector<TargetFound> targets;
  processing::Made made;
};

/// The key consists of owner, name, type, phase, phases, preAuth and exposed. A round is one compilation.
using ProcessorCache =
    base::Cache<std::tuple<std::string, std::string, std::string, processing::Phase, std::uint8_t, bool, bool>,
                MadeProcessor>;

/// Returns the processor that `type` makes from `use`, or the kept one if nothing has changed.
processing::Made makeProcessor(const processing::BuiltinType& type, const processing::Use& use, ProcessorCache& cache);

/// A use that waits for something outside of the configuration.
struct AwaitingUse {
  std::string name;  // the names of its owner and of the use
  processing::LoadState state = processing::LoadState::kDegraded;
  std::string why;
  std::shared_ptr<const processing::Awaited> awaited;

  /// Returns true if both wait for the same thing. If it came and was unusable, the use waits again, and the two are
  /// different.
  friend bool operator==(const AwaitingUse&, const AwaitingUse&) = default;
};

/// Returns the uses that wait for something at the end of a compilation. Their order depends on nothing else.
std::vector<AwaitingUse> awaitingUses(const ProcessorCache& cache);

}  // namespace sluice::compile
