// What steps are offered that ask nobody.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "proxy/processing/services.h"

namespace sluice::test {

class NoServices final : public processing::Services {
 public:
  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest&, const processing::Place&) override {
    ADD_FAILURE() << "there is nobody to call";
    return nullptr;
  }
  processing::WorkerStates& workerStates() override { return states_; }

 private:
  processing::WorkerStates states_;
};

}  // namespace sluice::test
