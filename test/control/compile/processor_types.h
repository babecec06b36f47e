// A type of payload processor that does nothing, for tests of how uses are compiled.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::control::test {

class Nothing final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }
};

/// It wants bodies in that way.
class Reading final : public processing::PreAuthProcessor {
 public:
  explicit Reading(processing::BodyMode mode) : body_{.mode = mode} {}
  processing::BodyInterest body() const override { return body_; }
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }

 private:
  const processing::BodyInterest body_;
};

template <processing::BodyMode mode>
processing::Made makeReading(const processing::Use& /*use*/) {
  return {std::make_shared<const Reading>(mode), {}};
}

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
           makeNothing},
          {"sluice.dev/Inspects:v1",
           {processing::Phase::kRequestBody},
           true,
           "{}",
           makeReading<processing::BodyMode::kInspected>},
          {"sluice.dev/Streams:v1",
           {processing::Phase::kRequestBody},
           true,
           "{}",
           makeReading<processing::BodyMode::kStreamed>}};
}

}  // namespace sluice::control::test
