// A ProcessorMemo keeps the processors of the last compilation: one of whose use nothing changed, nor anything in the
// Secrets and grants that it looked at, stays the same object.
//
// It belongs to the loading thread.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "proxy/base/memo.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

/// A processor, and what it was made of.
struct MadeProcessor {
  /// A question that the type asked while it made the processor, and what it was told.
  struct Lookup {
    std::string nameSpace;
    std::string name;
    std::string key;
    processing::FoundSecret answer;
  };
  content::Value config;
  std::vector<Lookup> lookups;
  processing::Made made;
};

/// Its key is owner, name, type, phase, preAuth, exposed; a round is one compilation.
using ProcessorMemo =
    base::Memo<std::tuple<std::string, std::string, std::string, processing::Phase, bool, bool>, MadeProcessor>;

/// Returns what `type` makes of `use`, or has made of the same before.
processing::Made makeProcessor(const processing::BuiltinType& type, const processing::Use& use, ProcessorMemo& memo);

}  // namespace sluice::control
