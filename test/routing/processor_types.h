// A type of payload processor that does nothing, for tests of how uses are compiled.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::routing::test {

class Nothing final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }
};

/// Made of a Secret if its config names one; refused if it is exposed and has one.
inline processing::Made makeNothing(const processing::Use& use) {
  if (const content::Value* secret = use.config.find("secret")) {
    const content::Value* nameSpace = use.config.find("namespace");
    auto found = use.secrets.find(nameSpace != nullptr ? nameSpace->text : "", secret->text, "");
    if (!found.bytes) return {nullptr, found.refusal};
    if (use.exposed) return {nullptr, {"InsecureCredential", "no TLS"}};
  }
  return {std::make_shared<const Nothing>(), {}};
}

inline processing::BuiltinTypes processorTypes() {
  return {{"sluice.dev/Test:v1",
           {processing::Phase::kRequestHeaders, processing::Phase::kBackendRequest},
           true,
           "{}",
           makeNothing}};
}

}  // namespace sluice::routing::test
